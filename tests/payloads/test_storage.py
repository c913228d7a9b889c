"""The storage driver: objects are named after what they hold, written whole, and checked when they are read."""

import asyncio
import os
import stat
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.converter import StorageDriverClaim, StorageDriverRetrieveContext, StorageDriverStoreContext
from temporalio.exceptions import ApplicationError

from swf_temporal.base.errors import PayloadUnavailable, UsageError
from swf_temporal.settings.payloads import StorageSettings
from swf_temporal.temporal.payloads import storage
from swf_temporal.temporal.payloads.storage import Folder, ObjectStorage, RemoteFolder, folder_at, storage_of
from tests.processes import ending_with_us

PAYLOAD = Payload(metadata={"encoding": b"json/plain", "other": b"x"}, data=b'"' + b"x" * 200_000 + b'"')


@pytest.fixture(params=["file", "memory"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"file://{tmp_path}/objects" if request.param == "file" else f"memory://{uuid4()}/objects"


class Counting:
    """A folder that counts what is asked of it, and has things go wrong."""

    def __init__(self, folder: Folder, *errors: Exception) -> None:
        self.folder = folder
        self.errors = list(errors)
        self.reads = self.writes = 0

    def read(self, name: str) -> bytes:
        self.reads += 1
        if self.errors:
            raise self.errors.pop(0)
        return self.folder.read(name)

    def write(self, name: str, data: bytes) -> None:
        self.writes += 1
        if self.errors:
            raise self.errors.pop(0)
        self.folder.write(name, data)

    def age(self, name: str) -> float | None:
        return self.folder.age(name)


async def stored(driver: ObjectStorage, payload: Payload = PAYLOAD) -> StorageDriverClaim:
    [claim] = await driver.store(StorageDriverStoreContext(), [payload])
    return claim


async def read(driver: ObjectStorage, claim: StorageDriverClaim) -> Payload:
    [payload] = await driver.retrieve(StorageDriverRetrieveContext(), [claim])
    return payload


async def test_the_same_payload_is_one_object_that_is_written_once(url: str) -> None:
    """Neither the same driver nor another one, which reads it, writes it again; another payload is another object."""
    folder = Counting(folder_at(url, {}))
    first, second = ObjectStorage(StorageSettings(url=url), folder), ObjectStorage(StorageSettings(url=url), folder)
    claims = [await stored(first), await stored(first), await stored(second)]
    assert folder.writes == 1
    assert len({claim.claim_data["sha256"] for claim in claims}) == 1
    assert await read(ObjectStorage(StorageSettings(url=url)), claims[0]) == PAYLOAD
    assert await stored(first, Payload(data=b"other")) not in claims
    assert folder.writes == 2


async def test_an_object_is_checked_and_kept_alive(tmp_path: Path) -> None:
    """A rule that deletes old objects counts from the last use that stored it; one that was changed is refused."""
    url = f"file://{tmp_path}"
    claim = await stored(ObjectStorage(StorageSettings(url=url)))
    path = tmp_path / claim.claim_data["sha256"][:2] / claim.claim_data["sha256"]
    os.utime(path, (time.time() - 100_000,) * 2)
    await stored(ObjectStorage(StorageSettings(url=url)))
    assert time.time() - path.stat().st_mtime < 1000
    assert await read(ObjectStorage(StorageSettings(url=url)), claim) == PAYLOAD
    path.write_bytes(path.read_bytes()[:-1] + b"y")
    with pytest.raises(PayloadUnavailable, match="was changed: its SHA-256 differs from its name"):
        await read(ObjectStorage(StorageSettings(url=url)), claim)
    (tmp_path / "secret").write_bytes(b"")
    with pytest.raises(PayloadUnavailable, match="has no SHA-256"):
        await read(ObjectStorage(StorageSettings(url=url)), StorageDriverClaim({"sha256": "../secret"}))


async def test_what_was_read_or_written_is_kept_in_memory_up_to_a_size(url: str) -> None:
    for cache_bytes, reads in ((1_000_000, 1), (1000, 2)):
        claim = await stored(ObjectStorage(StorageSettings(url=url)))
        folder = Counting(folder_at(url, {}))
        driver = ObjectStorage(StorageSettings(url=url, cache_bytes=cache_bytes), folder)
        assert await read(driver, claim) == await read(driver, claim) == PAYLOAD
        assert folder.reads == reads


async def test_a_missing_object_is_named_with_its_place(url: str) -> None:
    driver = ObjectStorage(StorageSettings(url=url))
    digest = "ab" * 32
    with pytest.raises(PayloadUnavailable) as failed:
        await read(driver, StorageDriverClaim({"sha256": digest, "size": "7"}))
    assert failed.value.message == f"the object ab/{digest} cannot be read in {url}: it does not exist"
    assert failed.value.hint is not None
    assert "the same storage" in failed.value.hint


async def test_what_may_pass_is_tried_again_and_what_may_not_is_told(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that does not answer is asked four times, one that refuses once."""
    monkeypatch.setattr(storage, "_PAUSE", 0.01)
    folder = Counting(folder_at(url, {}), ConnectionError("reset"), TimeoutError())
    await stored(ObjectStorage(StorageSettings(url=url), folder))
    assert folder.writes == 3
    down = Counting(folder_at(url, {}), *[ConnectionError("reset")] * 4)
    with pytest.raises(PayloadUnavailable, match=r"cannot be written in .*: ConnectionError: reset"):
        await stored(ObjectStorage(StorageSettings(url=url), down), Payload(data=b"another"))
    assert down.writes == 4
    refusing = Counting(folder_at(url, {}), PermissionError("AccessDenied"))
    with pytest.raises(PayloadUnavailable, match=r"permission denied \(AccessDenied\)"):
        await stored(ObjectStorage(StorageSettings(url=url), refusing), Payload(data=b"a third"))
    assert refusing.writes == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
async def test_a_folder_without_the_right_to_write(tmp_path: Path) -> None:
    os.chmod(tmp_path, stat.S_IRUSR | stat.S_IXUSR)  # noqa: PTH101 - one call
    with pytest.raises(PayloadUnavailable, match="permission denied"):
        await stored(ObjectStorage(StorageSettings(url=f"file://{tmp_path}")))


async def test_more_than_a_payload_may_hold_is_refused_for_good(url: str) -> None:
    driver = ObjectStorage(StorageSettings(url=url, threshold=50_000, max_bytes=100_000))
    with pytest.raises(ApplicationError) as failed:
        await stored(driver)
    assert failed.value.type == "PayloadsTooLarge"
    assert failed.value.non_retryable


async def test_nobody_sees_half_of_a_file(tmp_path: Path) -> None:
    folder = folder_at(f"file://{tmp_path}", {})
    data = [bytes([number]) * 500_000 for number in range(2)]
    folder.write("ab/object", data[0])

    def write() -> None:
        for number in range(40):
            folder.write("ab/object", data[number % 2])

    writing = asyncio.create_task(asyncio.to_thread(write))
    while not writing.done():
        assert await asyncio.to_thread(folder.read, "ab/object") in data
    await writing

    assert [path.name for path in (tmp_path / "ab").iterdir()] == ["object"]


def test_places_that_cannot_be_reached_are_told() -> None:
    with pytest.raises(UsageError, match="payloads cannot be stored in nowhere://x"):
        storage_of(StorageSettings(url="nowhere://x"))
    with pytest.raises(UsageError, match="pip install gcsfs"):
        storage_of(StorageSettings(url="gs://bucket/prefix"))
    assert isinstance(folder_at("memory://x", {}), RemoteFolder)


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
                time.sleep(0.001)
            writer.kill()
        for path in objects(tmp_path):
            if path not in seen:
                assert sha256(path.read_bytes()).hexdigest() == path.name
        for path in objects(tmp_path):
            path.unlink()


def objects(folder: Path) -> list[Path]:
    return [path for path in folder.glob("??/*") if path.is_file() and not path.name.startswith(".")]
