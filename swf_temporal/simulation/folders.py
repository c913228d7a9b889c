"""The directory that a function of a simulation is given."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from swf_temporal.functions.containers.folders import read_files, write_files
from swf_temporal.runtime.host import CallFolder
from swf_temporal.simulation.variables import VariableStore


def wants_folder(function: Callable[..., Any]) -> bool:
    """Tell whether *function* takes a directory after its arguments."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [one for one in parameters if one.kind in positional and one.default is inspect.Parameter.empty]
    return len(needed) > 1


@contextmanager
def folder_for(call: CallFolder, variables: VariableStore) -> Iterator[Path]:
    """Yield a directory with the files of *call*. What stands under `out` in the end becomes variables.

    That holds for a function that fails, too, but not for one that was cancelled.
    """
    with TemporaryDirectory(prefix="function-") as name:
        folder = Path(name)
        write_files(folder, call, {file.of: variables.read(file.of) for file in call.files})
        try:
            yield folder
        except Exception:
            _keep(folder, call, variables)
            raise
        _keep(folder, call, variables)


def _keep(folder: Path, call: CallFolder, variables: VariableStore) -> None:
    for of, variable in read_files(folder, call).items():
        variables.write(of, variable)
