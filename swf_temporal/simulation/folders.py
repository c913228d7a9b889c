"""The directory that a function is given: variables that became files, and files that become variables."""

import inspect
import io
import json
import tarfile
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from swf_temporal.errors import CallFailed
from swf_temporal.runtime.host import CallFile, CallFolder
from swf_temporal.runtime.variables import JSON_TYPE, Variable, VariableRef
from swf_temporal.simulation.variables import VariableStore

_PACKED = "application/gzip"
_BYTES = "application/octet-stream"
_TEXT = "text/plain; charset=utf-8"


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

    That holds for a function that fails, too.
    """
    with TemporaryDirectory(prefix="function-") as name:
        folder = Path(name)
        for file in call.files:
            _write(folder / file.name, file, variables.read(file.of))
        for scope in call.owners:
            (folder / "out" / scope).mkdir(parents=True)
        try:
            yield folder
        finally:
            for scope, owner in call.owners.items():
                for path in sorted((folder / "out" / scope).iterdir()):
                    variables.write(VariableRef(scope, owner, path.name), _read(path))


def _write(path: Path, file: CallFile, variable: Variable | None) -> None:
    if path.name != file.name:
        message = f"a file cannot have the name {file.name!r}, which leads out of its directory"
        raise CallFailed(message, code="direktiv.internal.error", retryable=False)
    content = b"" if variable is None else variable.content
    try:
        if file.form in ("tar", "tar.gz"):
            path.mkdir()
            if content:
                with tarfile.open(fileobj=io.BytesIO(content)) as archive:
                    archive.extractall(path, filter="data")
        else:
            path.write_bytes(b64decode(content, validate=True) if file.form == "base64" else content)
    except (OSError, ValueError, tarfile.TarError) as error:
        message = f"the variable {file.of.key!r} cannot be a file of the form {file.form or 'plain'!r}: {error}"
        raise CallFailed(message, code="direktiv.internal.error", retryable=False) from None


def _read(path: Path) -> Variable:
    if path.is_dir():
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            archive.add(path, arcname=".")
        return Variable(packed.getvalue(), _PACKED)
    content = path.read_bytes()
    try:
        json.loads(content)
    except (ValueError, RecursionError):
        return Variable(content, _TEXT if _is_text(content) else _BYTES)
    return Variable(content, JSON_TYPE)


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True
