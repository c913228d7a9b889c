"""The development server, started by us."""

import shlex
from pathlib import Path

import pytest

from swf_temporal.errors import UsageError
from swf_temporal.temporal.server import find_program, local_server

pytestmark = pytest.mark.temporal


def failing(folder: Path, times: int) -> str:
    """Return the path of a server program that ends at once so many times, and is the real one after that."""
    count, program = folder / "count", folder / "temporal"
    count.write_text("")
    script = f"""#!/bin/sh
printf x >> {shlex.quote(str(count))}
if [ "$(wc -c < {shlex.quote(str(count))})" -le {times} ]; then echo "bind: address already in use" >&2; exit 1; fi
exec {shlex.quote(str(find_program()))} "$@"
"""
    program.write_text(script)
    program.chmod(0o755)
    return str(program)


async def test_one_that_ends_as_it_starts_is_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program may have taken a port that it had chosen for itself."""
    program = failing(tmp_path, 2)
    monkeypatch.setattr("swf_temporal.temporal.server.find_program", lambda: program)
    async with local_server() as server:
        assert await server.client.service_client.check_health()


async def test_one_that_never_starts_is_told_with_what_it_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After three times there is another reason."""
    program = failing(tmp_path, 9)
    monkeypatch.setattr("swf_temporal.temporal.server.find_program", lambda: program)
    with pytest.raises(UsageError, match="the Temporal server ended as it started: bind: address already in use"):
        async with local_server():
            pass
    assert (tmp_path / "count").read_text() == "xxx"
