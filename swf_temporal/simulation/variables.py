"""The variables of a simulation: in memory, shared by all its instances."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from swf_temporal.base.errors import UsageError
from swf_temporal.base.strict_json import json_of, read_written, write_json
from swf_temporal.functions.containers.folders import read_files, write_files
from swf_temporal.languages.port import Definition
from swf_temporal.runtime.host import CallFolder
from swf_temporal.runtime.namespace_files import read_file
from swf_temporal.runtime.variables import JSON_TYPE, SCOPES, Variable, VariableRef

_BYTES = "application/octet-stream"


class VariableStore:
    """Holds variables in memory: values by their keys. A value that is neither JSON nor text is bytes."""

    def __init__(self, given: Mapping[str, Any], definitions: Iterable[Definition], folder: Path | None = None) -> None:
        """Hold the *given* variables; files are read from *folder*.

        Raises UsageError for an unknown scope, and for values that are not JSON.
        """
        self._folders = [] if folder is None else [folder]
        unknown = next((scope for scope in given if scope not in SCOPES), None)
        if unknown is not None:
            raise UsageError(f"variables have no scope {unknown!r}", f"they have {', '.join(SCOPES)}")
        definitions = list(definitions)
        self._known = [one.id for one in definitions]
        self._called: dict[str, str] = {}
        """The caller's names of the workflows with variables, by their ids."""
        self._held: dict[VariableRef, Variable] = {}
        self._hold("namespace", "", given.get("namespace", {}))
        self._hold("instance", definitions[0].id, given.get("instance", {}))
        for called, values in given.get("workflow", {}).items():
            owner = self._meant(called)
            self._called[owner] = called
            self._hold("workflow", owner, values)

    def read(self, of: VariableRef) -> Variable | None:
        """Return the value of a variable, or the content of a file in the namespace."""
        return read_file(of.key, self._folders) if of.scope == "file" else self._held.get(of)

    def write(self, of: VariableRef, value: Variable | None) -> None:
        """Set a variable to *value*; None deletes it."""
        if value is None:
            self._held.pop(of, None)
        else:
            self._held[of] = value

    def as_given(self, instance: str) -> dict[str, Any]:
        """Return the variables in the form in which they are given; in the scope `instance`, those of *instance*."""
        contents: dict[str, Any] = {"namespace": {}, "workflow": {called: {} for called in self._called.values()}}
        contents["instance"] = {}
        for of, variable in self._held.items():
            if of.scope == "workflow":
                contents["workflow"].setdefault(self._called.get(of.owner, of.owner), {})[of.key] = _value(variable)
            elif of.scope == "namespace" or (of.scope == "instance" and of.owner == instance):
                contents[of.scope][of.key] = _value(variable)
        return contents

    def _hold(self, scope: Any, owner: str, values: Mapping[str, Any]) -> None:
        for key, value in values.items():
            self._held[VariableRef(scope, owner, key)] = _variable(key, value)

    def _meant(self, called: str) -> str:
        """Return the id of the workflow *called* so: its path may lack the slash and the suffix."""
        slashed = called if called.startswith("/") else f"/{called}"
        meant = (called, slashed, f"{slashed}.yaml", f"{slashed}.yml")
        return next((name for name in meant if name in self._known), called)


def _variable(key: str, value: Any) -> Variable:
    if isinstance(value, bytes):
        return Variable(value, _BYTES)
    try:
        return Variable(write_json(json_of(value)).encode())
    except ValueError as error:
        raise UsageError(f"the variable {key!r} is neither JSON nor bytes: {error}") from None


def _value(variable: Variable) -> Any:
    if variable.mime_type == JSON_TYPE:
        return read_written(variable.content)
    if variable.mime_type.startswith("text/"):
        return variable.content.decode(errors="replace")
    try:
        return variable.content if variable.mime_type == _BYTES else read_written(variable.content)
    except ValueError:
        return variable.content


def wants_folder(function: Callable[..., Any]) -> bool:
    """Return whether *function* takes a directory after its arguments."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [one for one in parameters if one.kind in positional and one.default is inspect.Parameter.empty]
    return len(needed) > 1


@contextmanager
def folder_for(call: CallFolder, variables: VariableStore) -> Iterator[Path]:
    """Yield a directory with the files of *call*. In the end, the files in `out` become variables.

    They do so if the function fails, too, but not if it was cancelled.
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
