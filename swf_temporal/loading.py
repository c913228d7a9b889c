"""How does a definition become a workflow that can run, or a list of everything that is wrong with it?"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from swf_temporal.dialects.reading import read
from swf_temporal.errors import InvalidDefinition, Position, Problem, Severity, UsageError
from swf_temporal.model.workflow import Source, Workflow
from swf_temporal.validation.validate import validate

_ENDINGS = (".json", ".yaml", ".yml")
_OF_ABSENCE = {
    "action-call", "empty-list", "event-definition", "function-operation", "num-completed", "run-before",
    "schedule", "switch-conditions",
}  # fmt: skip
"""The codes of problems that consist in something not being there."""
_STATES = re.compile(r"""(?:^|[{,])[ \t\r\n]*["']?states["']?[ \t]*:[ \t]*(?:\[|#|\r?$)""", re.MULTILINE)
"""A key named states, with a list under it."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What is to be said about a definition, and the workflow if nothing stands in its way."""

    workflow: Workflow | None
    problems: tuple[Problem, ...]

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that keep the definition from running."""
        return tuple(problem for problem in self.problems if problem.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The problems that do not."""
        return tuple(problem for problem in self.problems if problem.severity is Severity.WARNING)


def check(text: str, *, name: str = "<definition>", folder: Path | None = None) -> Checked:
    """Return what is to be said about the definition in *text*, in the order in which it stands there.

    Problems call the text *name*. What it names by a relative URI is looked for in *folder*.
    """
    reading = read(Source(text, name), folder)
    workflow, problems = reading.workflow, list(reading.problems)
    if workflow is not None:
        found = validate(workflow)
        problems += _of_what_is_left(found) if _stops(problems) else found
    if _stops(problems):
        workflow = None
    if workflow is not None and reading.bundled is not None:
        # What travels with a run must not depend on files that lie beside the definition.
        workflow = workflow.model_copy(update={"source": Source(reading.bundled, name)})
    problems.sort(key=lambda problem: (problem.position.line, problem.position.column, problem.code))
    return Checked(workflow, tuple(problems))


def check_file(path: str | os.PathLike[str]) -> Checked:
    """Return what is to be said about the definition in the file at *path*. Raises UsageError."""
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"this is not text in UTF-8: byte {error.start} is 0x{error.object[error.start]:02X}"
        return Checked(None, (Problem("encoding", message, Position(), file=str(path)),))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    return check(text, name=str(path), folder=path.parent)


def load(definition: str | os.PathLike[str] | Mapping[str, Any], *, name: str | None = None) -> Workflow:
    """Return the workflow that *definition* describes: a file, a text in YAML or JSON, or an object.

    A text is a file if it is one line, is not an object, and names a file or ends like one. Loading the same
    text again costs almost nothing. Raises InvalidDefinition with every problem, warnings too, if one of them
    is an error, and UsageError if there is no such file.
    """
    if isinstance(definition, Mapping):
        return _loaded(_written(definition), name or "<definition>")
    if isinstance(definition, str) and not _is_path(definition):
        return _loaded(definition, name or "<definition>")
    return _valid(check_file(definition))


def load_folder(folder: str | os.PathLike[str]) -> list[Workflow]:
    """Return the workflows in *folder* and the folders in it, in the order of their paths.

    Files that hold no workflow are passed over. Raises InvalidDefinition with the problems of all broken
    workflows.
    """
    if not Path(folder).is_dir():
        raise UsageError(f"{folder} is not a folder")
    checked = [check_file(path) for path in sorted(Path(folder).rglob("*")) if _is_workflow(path)]
    if any(one.errors for one in checked):
        raise InvalidDefinition([problem for one in checked for problem in one.problems])
    return [one.workflow for one in checked if one.workflow is not None]


@lru_cache(maxsize=512)
def _loaded(text: str, name: str) -> Workflow:
    return _valid(check(text, name=name))


def _written(definition: Mapping[str, Any]) -> str:
    try:
        return json.dumps(definition)
    except (TypeError, ValueError) as error:
        raise UsageError(f"the definition is not JSON: {error}") from None


def _valid(checked: Checked) -> Workflow:
    if checked.workflow is None:
        raise InvalidDefinition(checked.problems)
    return checked.workflow


def _stops(problems: list[Problem]) -> bool:
    return any(problem.severity is Severity.ERROR for problem in problems)


def _of_what_is_left(found: list[Problem]) -> list[Problem]:
    """Return the problems that parts of the wrong form, which were taken out, cannot be the reason of."""
    kept = [one for one in found if one.severity is Severity.ERROR or one.code == "unknown-property"]
    return [one for one in kept if one.code not in _OF_ABSENCE]


def _is_path(text: str) -> bool:
    if "\n" in text or text.lstrip().startswith("{"):
        return False
    try:
        return text.endswith(_ENDINGS) or Path(text).is_file()
    except (OSError, ValueError):
        return False


def _is_workflow(path: Path) -> bool:
    if path.suffix not in _ENDINGS or not path.is_file():
        return False
    return ".sw." in path.name or _STATES.search(path.read_bytes().decode("utf-8", "replace")) is not None
