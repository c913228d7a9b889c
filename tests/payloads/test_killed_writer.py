"""A process that is killed while it stores large payloads leaves whole objects, or none."""

import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path

from tests.processes import ending_with_us

WRITER = """
import asyncio, sys
from temporalio.api.common.v1 import Payload
from temporalio.converter import StorageDriverStoreContext
from swf_temporal.settings.payloads import StorageSettings
from swf_temporal.temporal.payloads.storage import ObjectStorage

async def main():
    driver = ObjectStorage(StorageSettings(url=f"file://{sys.argv[1]}"))
    for number in range(100_000):
        await driver.store(StorageDriverStoreContext(), [Payload(data=number.to_bytes(4) * 2_000_000)])

asyncio.run(main())
"""


def test_a_writer_that_is_killed_leaves_whole_objects(tmp_path: Path) -> None:
    """Each object has the SHA-256 that is its name, however often a writer was killed; what was begun is no object."""
    for _ in range(3):
        seen = set(objects(tmp_path))
        command = [*ending_with_us(), sys.executable, "-c", WRITER, str(tmp_path)]
        with subprocess.Popen(command) as writer:
            end = time.monotonic() + 60
            # In the midst of an object: its file is there, and has no name yet.
            while not (set(objects(tmp_path)) - seen and list(tmp_path.rglob(".*.partial"))):
                assert time.monotonic() < end
                assert writer.poll() is None
            writer.kill()
        for path in objects(tmp_path):
            if path not in seen:
                assert sha256(path.read_bytes()).hexdigest() == path.name
        for path in objects(tmp_path):
            path.unlink()


def objects(folder: Path) -> list[Path]:
    return [path for path in folder.glob("??/*") if path.is_file() and not path.name.startswith(".")]
