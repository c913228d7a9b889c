"""The `temporal` program reads encrypted and stored payloads by the codec server, as commands of two processes."""

import asyncio
import base64
import os
import subprocess
import sys
from pathlib import Path

import pytest

from swf_temporal.settings.payloads import PayloadSettings
from swf_temporal.temporal.converter import converter_of
from swf_temporal.temporal.server import find_program
from tests.processes import ending_with_us
from tests.temporal.building import inject
from tests.temporal.conftest import Bench, define, outcome, with_converter

TOKEN = "0123456789abcdef"  # noqa: S105 - of this test
CONFIG = """
storage: {url: 'file://FOLDER/objects', threshold: 2KiB}
encryption: {key: a, keys: {a: env:CODEC_SERVER_KEY}}
codecServer: {token: env:CODEC_SERVER_TOKEN}
"""


async def test_the_program_of_temporal_shows_what_is_encrypted(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An input, a stored input, and one that the program has sent: shown with the token, and not without."""
    (tmp_path / "swf.yaml").write_text(CONFIG.replace("FOLDER", str(tmp_path)))
    monkeypatch.setenv("SWF_CONFIG", str(tmp_path / "swf.yaml"))
    monkeypatch.setenv("CODEC_SERVER_KEY", base64.b64encode(bytes([7] * 32)).decode())
    monkeypatch.setenv("CODEC_SERVER_TOKEN", TOKEN)
    hidden = with_converter(bench, converter_of(PayloadSettings.read()))
    definition = define(inject("a", {"done": True}), id="shown")
    noise = os.urandom(3000).hex()

    command = [*ending_with_us(), sys.executable, "-m", "swf_temporal.cli", "codec-server", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:  # noqa: ASYNC220 - it is read in threads
        assert server.stdout is not None
        assert server.stderr is not None
        try:
            url = (await asyncio.to_thread(server.stdout.readline)).strip()

            async def temporal(*arguments: str, token: str = TOKEN) -> str:
                address = bench.client.service_client.config.target_host
                codec = ["--codec-endpoint", url, "--codec-auth", f"Bearer {token}"]
                program = [find_program() or "temporal", "workflow", *arguments, "--address", address, *codec]
                ran = await asyncio.to_thread(
                    subprocess.run, [*program, "--command-timeout", "5s"], capture_output=True, text=True, check=False
                )
                return ran.stdout + ran.stderr

            async with hidden.worker(definition) as worker:
                for card, more in (("4111", {}), ("4222", {"noise": noise})):
                    handle = await worker.start({"card": card, **more})
                    await outcome(handle)
                    history = await temporal("show", "--detailed", "--workflow-id", handle.id)
                    assert f"input[0].card: {card}" in history.replace("\x1b", "")
                    assert (noise in history) == bool(more)
                assert "4222" not in await temporal("show", "--detailed", "--workflow-id", handle.id, token="wrong")  # noqa: S106 - as above
                start = ["--type", "shown", "--task-queue", worker.queue, "--workflow-id", "by-the-program"]
                await temporal("start", *start, "--input", '{"card": "4333"}')
                output = await outcome(hidden.handle("by-the-program"))
        finally:
            server.terminate()
        log = await asyncio.to_thread(server.stderr.read)
    assert output == {"card": "4333", "done": True}
    history = (await bench.handle("by-the-program").fetch_history()).to_json()
    assert base64.b64encode(b'{"card"').decode()[:8] not in history
    assert "decoded 1 payload of default for token" in log
    assert "the token is wrong" in log
    assert not any(word in log for word in ("4111", "4222", "4333", TOKEN))
    assert server.returncode == 143
