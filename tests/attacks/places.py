"""What is attacked: gateways, open or with a key, with a large instance and a large form, and a served function."""

import asyncio
import sys
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from swf_temporal import Client, load
from tests.attacks.gateway import Target, attacked
from tests.cli.conftest import COMMAND, Place
from tests.processes import ending_with_us

_KEY: Final = "a-key-of-16-chars"
_OTHER_KEY: Final = "another-key-of-22-chars"
_TENANTS: Final = """\
tenants: {own: {workflows: ['*'], keys: ['env:SWF_TEST_KEY']}, other: {workflows: ['*'], keys: ['env:SWF_OTHER_KEY']}}
"""
_KEYS: Final = {"SWF_TEST_KEY": _KEY, "SWF_OTHER_KEY": _OTHER_KEY}


def _cookie(key: str) -> str:
    """Return what a browser sends once a person has logged in."""
    return f"cookie: swf-console=secret.{urlsafe_b64encode(key.encode()).decode()}"


KEY, COOKIE = f"x-api-key: {_KEY}", _cookie(_KEY)
"""What those who attack are known by, with the requests of programs and of browsers."""
TURNING: Final = """\
id: turning
specVersion: "0.8"
version: "1.0"
states:
  - {name: Rest, type: sleep, duration: PT0.5S, transition: Turn}
  - {name: Turn, type: inject, data: {}, transition: Rest}
"""
_FIELDS: Final = ", ".join(f"f{number}: {{$ref: '#/$defs/one'}}" for number in range(200))
_CHOICES: Final = ", ".join(f"number {number}" for number in range(5_000))
FORM: Final = f"""\
id: form
specVersion: "0.8"
version: "1.0"
dataInputSchema: {{schema: {{type: object, properties: {{{_FIELDS}}}, $defs: {{one: {{enum: [{_CHOICES}]}}}}}}}}
states: [{{name: Only, type: inject, data: {{}}, end: true}}]
"""
"""A form with as many fields as there may be, each with thousands of choices."""
_FUNCTION: Final = "def answer(given):\n    return given\n"
_ROWS: Final = 14_000


class Attacked(NamedTuple):
    """A process, and how others than those who attack it ask: for a path, with a header."""

    target: Target
    path: str = "/livez"
    header: str = "accept: */*"
    instance: str = ""
    """The id of a large instance."""


@asynccontextmanager
async def open_gateway(temporal: str, files: int | None) -> AsyncIterator[Attacked]:
    with attacked(temporal, "", "--console", files=files) as target:
        yield Attacked(target)


@asynccontextmanager
async def bare_server(files: int) -> AsyncIterator[Attacked]:
    """Serve what does nothing, with so many open files."""
    limited = ["sh", "-c", f'ulimit -n {files}; exec "$@"', "-", sys.executable, "-m", "tests.attacks.bare"]
    process = await asyncio.create_subprocess_exec(*ending_with_us(), *limited, stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout is not None
        yield Attacked(Target("127.0.0.1", int(await process.stdout.readline()), process.pid))
    finally:
        process.kill()
        await process.wait()


@asynccontextmanager
async def gateway_with_rate(temporal: str, files: int | None) -> AsyncIterator[Attacked]:
    configuration = f"gateway:\n  rate: 500/s\n  {_TENANTS}"
    with attacked(temporal, configuration, files=files, **_KEYS) as target:
        yield Attacked(target, "/workflows", f"x-api-key: {_OTHER_KEY}")


@asynccontextmanager
async def large_instance(temporal: str, files: int | None = None) -> AsyncIterator[Attacked]:
    row = {"tags": ["a", "b"], "n": {"x": 1.5, "y": None}, "text": "x" * 20}
    data = {"rows": [{"id": number, "name": f"row {number}", **row} for number in range(_ROWS)]}
    with TemporaryDirectory() as folder:
        place = Place(Path(folder))
        place.write("definitions/turning.yaml", TURNING)
        configuration = f"gateway:\n  console: true\n  sonataflowApi: true\n  {_TENANTS}"
        with (
            place.running("worker", "definitions", "--address", temporal) as worker,
            attacked(temporal, configuration, definitions=[TURNING, FORM], files=files, **_KEYS) as target,
        ):
            await asyncio.to_thread(worker.until, "working for")
            client = await Client.connect(temporal)
            instance = await client.start(load(TURNING), data)
            try:
                yield Attacked(target, "/console/definitions", _cookie(_OTHER_KEY), instance.id)
            finally:
                await instance.terminate("enough")


@asynccontextmanager
async def served_function(_: str, files: int | None) -> AsyncIterator[Attacked]:
    with TemporaryDirectory() as folder:
        place = Place(Path(folder))
        place.write("served.py", _FUNCTION)
        limit = "" if files is None else f"ulimit -n {files}; "
        limited = ["sh", "-c", f'{limit}exec "$@" 2>log', "-"]
        words = ["serve-function", "served.py:answer", "--port", "0"]
        with place.running(*words, command=[*limited, *COMMAND], stream="stdout") as function:
            url = urlsplit(function.until("http://").strip())
            yield Attacked(Target(url.hostname or "", url.port or 0, function.process.pid, place.folder / "log"), "/")
