"""Large instances, whose pages are watched or drawn by many."""

import asyncio
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from swf_temporal import Client, load
from tests.attacks.gateway import Target, attacked
from tests.cli.conftest import Place

_KEY: Final = "a-key-of-16-chars"
_TENANT: Final = "{workflows: ['*'], keys: ['env:SWF_TEST_KEY'], operations: [read]}"
_CONFIGURATION: Final = f"gateway: {{console: true, tenants: {{readers: {_TENANT}}}}}"
COOKIE: Final = f"swf-console=secret.{urlsafe_b64encode(_KEY.encode()).decode()}"
"""What a browser sends once a person has logged in."""
TURNING: Final = """\
id: turning
specVersion: "0.8"
version: "1.0"
states:
  - {name: Rest, type: sleep, duration: PT0.5S, transition: Turn}
  - {name: Turn, type: inject, data: {}, transition: Rest}
"""
_ROWS: Final = 14_000


class Watched(NamedTuple):
    target: Target
    path: str


@asynccontextmanager
async def large_instance(temporal: str) -> AsyncIterator[Watched]:
    row = {"tags": ["a", "b"], "n": {"x": 1.5, "y": None}, "text": "x" * 20}
    data = {"rows": [{"id": number, "name": f"row {number}", **row} for number in range(_ROWS)]}
    with TemporaryDirectory() as folder:
        place = Place(Path(folder))
        place.write("definitions/turning.yaml", TURNING)
        with (
            place.running("worker", "definitions", "--address", temporal) as worker,
            attacked(temporal, _CONFIGURATION, definition=TURNING, SWF_TEST_KEY=_KEY) as target,
        ):
            await asyncio.to_thread(worker.until, "working for")
            client = await Client.connect(temporal)
            instance = await client.start(load(TURNING), data)
            try:
                yield Watched(target, f"/console/instances/{instance.id}")
            finally:
                await instance.terminate("enough")
