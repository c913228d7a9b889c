"""Runs the examples with secrets configured, and looks for these in all that is kept and printed."""

import asyncio
import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from google.protobuf.json_format import MessageToDict

from swf_temporal.functions.secrets import is_strong
from swf_temporal.temporal.connecting import Server
from tests.leaks.corpus import KEY, PASSWORD, PIN, SECRETS, Leak
from tests.leaks.finding import Found, texts
from tests.leaks.places import HEADER
from tests.processes import ending_with_us

EXAMPLES: Final = Path(__file__).parents[2] / "examples"
NAMES: Final = tuple(sorted(path.parent.name for path in EXAMPLES.glob("*/input.json")))
_LIMIT: Final = 120


async def find_in_examples(server: Server, folder: Path, names: Iterable[str]) -> list[Found]:
    return [await _find(server, folder, name) for name in names]


async def _find(server: Server, folder: Path, name: str) -> Found:
    own = EXAMPLES / name / "secrets.json"
    secrets = json.loads(own.read_text(encoding="utf-8")) if own.exists() else {}
    before = {one.run_id async for one in server.client.list_workflows()}
    printed = await asyncio.wait_for(_run(server, folder, name), _LIMIT)
    kept: dict[str, list[str]] = {"output": [printed], "history": [], "description": []}
    begun = [one async for one in server.client.list_workflows() if one.run_id not in before]
    assert begun, f"the example {name} was to start an instance"
    for one in begun:
        handle = server.client.get_workflow_handle(one.id, run_id=one.run_id)
        kept["history"] += texts(json.loads((await handle.fetch_history()).to_json()))
        kept["description"] += texts(MessageToDict((await handle.describe()).raw_description))
    looked_for = {KEY, PASSWORD, str(PIN), HEADER, *_strong(secrets)}
    leaked = [place for place, found in kept.items() if any(one in text for one in looked_for for text in found)]
    return Found(Leak(f"the example {name}"), leaked, altered=False)


async def _run(server: Server, folder: Path, name: str) -> str:
    (folder / "secrets.json").write_text(json.dumps(SECRETS), encoding="utf-8")
    (folder / "config.yaml").write_text(f"calls: {{headers: {{X-Api-Key: '{HEADER}'}}}}\n", encoding="utf-8")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("TEMPORAL_", "SWF_"))}
    environment = {
        **kept,
        "TEMPORAL_ADDRESS": server.client.service_client.config.target_host,
        "HOME": str(folder),
        "NO_COLOR": "1",
        "SWF_SECRETS_FILE": str(folder / "secrets.json"),
        "SWF_SECRET_KEY": KEY,
        "SWF_CONFIG": str(folder / "config.yaml"),
    }
    process = await asyncio.create_subprocess_exec(
        *ending_with_us(), sys.executable, str(EXAMPLES / "run.py"), name,
        env=environment, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    printed, _ = await process.communicate()
    if process.returncode:
        raise AssertionError(f"the example {name} failed: {printed.decode()}")
    return printed.decode()


def _strong(secrets: dict[str, dict[str, str]]) -> Sequence[str]:
    """Return the secrets of an example that no other text has by chance."""
    return [text for one in secrets.values() for text in one.values() if is_strong(text)]
