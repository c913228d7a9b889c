"""Definitions that are read again when their files change, by a process that serves them until it is stopped."""

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Callable, Container, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final, TypeAlias

from swf_temporal.base.errors import InvalidDefinition, SwfError, UsageError
from swf_temporal.base.files import is_folder
from swf_temporal.base.stopping import beside
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.sdk.live import stamps_of
from swf_temporal.text.resources import UNREADABLE

_log = logging.getLogger("swf")

INTERVAL: Final = 5.0
"""Seconds between two looks at the files."""

Read: TypeAlias = Callable[[Container[Path]], Catalogue]
"""Reads the definitions; the files that it is given held some before. Raises InvalidDefinition and UsageError."""


class RereadCatalogue(Catalogue):
    """The definitions at some paths as they were when all of them could run: one change takes effect as a whole."""

    def __init__(self, paths: Iterable[Path], read: Read) -> None:
        """Read them for the first time. Raises InvalidDefinition and UsageError."""
        super().__init__()
        self._read = read
        self._folders = {path if is_folder(path) else path.parent for path in paths}
        self._stamps = self._stamped()
        self.share(read(()))
        self._trouble: str | None = None

    async def refresh(self, *, anyway: bool = False) -> None:
        """Read the definitions again if a file has changed, or *anyway*.

        Where one of them cannot run, all before are served until a file changes. So they are while anything cannot be
        read, which is not gone for that: `unreadable` says what, and it is tried again each time.
        """
        try:
            stamps = await beside(self._stamped)
            if stamps == self._stamps and not anyway:
                if self.unreadable is not None:
                    self._recover()
                return
            found = await beside(self._again)
        except Exception as error:  # noqa: BLE001 - whatever it is must not end the looking
            known, self._trouble = self._trouble, " ".join(_text_of(error).split())
            if self._trouble != known or anyway:
                _log.error("definitions cannot be read again, and the previous ones are served: %s", self._trouble)
            if isinstance(error, InvalidDefinition) and all(one.code != UNREADABLE for one in error.problems):
                self.unreadable, self._stamps = None, stamps
            else:
                self.unreadable = self._trouble
            return
        self._recover()
        self._stamps = stamps
        before = self._texts()
        self.share(found)
        after = self._texts()
        for id_, version in sorted(after.keys() | before.keys(), key=str):
            if before.get((id_, version)) != after.get((id_, version)):
                what = "serving" if (id_, version) in after else "no longer serving"
                _log.info("%s %s %s", what, id_, version or "")

    def _again(self) -> Catalogue:
        for folder in self._folders:
            if not is_folder(folder):
                raise UsageError(f"{folder} is not a folder")
        return self._read({Path(one.source.name) for one in self})

    def _recover(self) -> None:
        if self._trouble is not None:
            _log.info("the definitions can be read again")
        self.unreadable = self._trouble = None

    def _stamped(self) -> Sequence[object]:
        return [stamp for folder in sorted(self._folders) for stamp in stamps_of(folder)]

    @property
    def where(self) -> str:
        """The folders that are looked at."""
        return ", ".join(str(one) for one in sorted(self._folders))

    def _texts(self) -> dict[tuple[str, str | None], str]:
        return {(one.id, one.version): one.digest for one in self}


def _text_of(error: Exception) -> str:
    return str(error) if isinstance(error, SwfError) else f"{type(error).__name__}: {error}"


@asynccontextmanager
async def reread(catalogue: RereadCatalogue) -> AsyncIterator[None]:
    """Keep *catalogue* up to date for as long as the context lasts: every few seconds, and at once on SIGHUP."""
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()
    hangup: signal.Signals | None = getattr(signal, "SIGHUP", None)  # not on Windows

    async def follow() -> None:
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(asked.wait(), INTERVAL)
            anyway = asked.is_set()
            asked.clear()
            await catalogue.refresh(anyway=anyway)

    if hangup is not None:
        loop.add_signal_handler(hangup, asked.set)
    following = asyncio.create_task(follow())
    try:
        yield
    finally:
        if hangup is not None:
            loop.remove_signal_handler(hangup)
        following.cancel()
        await asyncio.wait([following])
