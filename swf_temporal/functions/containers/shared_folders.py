"""The directory of one attempt at a call, in the folder that the worker shares with the function."""

import asyncio
import logging
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from swf_temporal.base.errors import permanent_failure
from swf_temporal.functions.call import Call
from swf_temporal.functions.containers.folders import read_files, write_files
from swf_temporal.runtime.host import CallFolder
from swf_temporal.runtime.variables import Variable, VariableRef, VariableStore
from swf_temporal.settings.forms import SharedFolder

_log = logging.getLogger("swf")


@dataclass(frozen=True, slots=True)
class CallDirectory:
    path: Path
    """As the worker sees it."""
    in_container: str
    given: CallFolder
    variables: VariableStore
    write_id: str

    async def keep(self) -> None:
        """Let what the function left there become variables: once, however often the call is attempted.

        Raises PayloadTooLarge and StoreUnavailable.
        """
        left = await asyncio.to_thread(read_files, self.path, self.given)
        if left:
            await self.variables.write_variables(left, self.write_id)


@asynccontextmanager
async def call_directory(
    shared: SharedFolder, action_id: str, call: Call, given: CallFolder, variables: VariableStore
) -> AsyncIterator[CallDirectory]:
    """Yield a directory with the files that *call* is *given*; it is there for as long as the context lasts.

    What former attempts left whose worker was lost goes as well. Raises CallFailed and StoreUnavailable.
    """
    name = f"{action_id}-{call.attempt}"
    found = {file.of: await variables.read_variable(file.of) for file in given.files}
    path = Path(shared.worker, name)
    making = asyncio.ensure_future(asyncio.to_thread(_make, path, action_id, given, found))
    try:
        await asyncio.shield(making)
        yield CallDirectory(path, f"{shared.container.rstrip('/')}/{name}", given, variables, action_id)
    finally:
        await asyncio.wait([making])  # what is cancelled runs on in its thread
        await asyncio.to_thread(_remove, path)


def _make(path: Path, action_id: str, given: CallFolder, found: Mapping[VariableRef, Variable | None]) -> None:
    for former in path.parent.glob(f"{action_id}-*"):
        _remove(former)
    try:
        path.mkdir()
        path.chmod(0o777)  # the container may run as another user
    except OSError as error:
        message = f"the shared folder {path.parent} cannot be used: {error.strerror}; see 'sharedFolder'"
        raise permanent_failure("NoSharedFolder", message) from None
    write_files(path, given, found)


def _remove(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)
    if path.exists():
        _log.warning("the directory %s of a call cannot be removed: it holds what another user may not delete", path)
