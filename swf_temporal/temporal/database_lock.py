"""A lock on a server's database: one server at a time may use it, and the next is told which one does."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from swf_temporal.base.errors import UsageError
from swf_temporal.base.strict_json import read_json, write_json

_HINT = "stop that one, or name another database with --db"
_PATIENCE = 8.0
"""Seconds within which the server of a process that was killed ends."""
_PAUSE = 0.1

if sys.platform == "win32":
    import msvcrt

    _BEYOND = 1 << 20

    def _lock(file: int) -> None:
        os.lseek(file, _BEYOND, os.SEEK_SET)  # what is locked there cannot be read, and who holds it is to be told
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def prepare(database: Path) -> None:
    """Make the folder of *database*, which is not for version control if it is our own. Raises UsageError."""
    if database.is_dir():
        raise UsageError(f"{database} is a folder", "--db names a file in one")
    try:
        database.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"the folder {database.parent} cannot be made: {error.strerror}", "see --db") from None
    ignoring = database.parent / ".gitignore"
    if database.parent.name == ".swf" and not ignoring.exists():
        with suppress(OSError):  # the server needs the folder, not this
            ignoring.write_text("*\n", encoding="utf-8")


def refuse_held(database: Path) -> None:
    """Raise UsageError if *database* is in use, before anything is made for it."""
    if _file(database).exists():
        with held(database, None):
            pass


@contextmanager
def held(database: Path, address: str | None) -> Iterator[int]:
    """Keep *database* for the server at *address* as long as the context lasts; yields the lock's file.

    A server that inherits it keeps the lock until it has ended, whatever became of us. The system lets go of the lock
    of a process that was killed. Raises UsageError, saying which process has the database, if one does.
    """
    with _writing(database):
        file = os.open(_file(database), os.O_RDWR | os.O_CREAT, 0o644)
    try:
        _take(file, database)
        if address is not None:
            since = datetime.now().astimezone().isoformat(" ", "seconds")
            with _writing(database):
                os.lseek(file, 0, os.SEEK_SET)
                record = write_json({"pid": os.getpid(), "address": address, "since": since})
                os.ftruncate(file, os.write(file, record.encode()))
        yield file
    finally:
        os.close(file)


@contextmanager
def _writing(database: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"{_file(database)} cannot be written: {error.strerror}", "see --db") from None


def _take(file: int, database: Path) -> None:
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            _lock(file)
        except (BlockingIOError, PermissionError):
            holder = _holder(file)
            if _is_alive(holder) or time.monotonic() > end:
                raise UsageError(f"{database} is in use{_by_whom(holder)}", _HINT) from None
            time.sleep(_PAUSE)
        except OSError:
            return  # a file system without locks
        else:
            return


def _file(database: Path) -> Path:
    real = database.resolve()  # whichever links lead to it
    return real.with_name(f"{real.name}.lock")


def _holder(file: int) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        os.lseek(file, 0, os.SEEK_SET)
        found = read_json(os.read(file, 1024))
        if isinstance(found, dict):
            return found
    return {}


def _by_whom(holder: dict[str, Any]) -> str:
    if not {"pid", "address", "since"} <= holder.keys():
        return " by another server"
    return f" by process {holder['pid']}, whose server is at {holder['address']} since {holder['since']}"


def _is_alive(holder: dict[str, Any]) -> bool:
    pid = holder.get("pid")
    if sys.platform == "win32" or not isinstance(pid, int):
        return True  # it has the lock, and nothing more can be known
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
