"""Building the model of a definition, or problems of its form in an author's words."""

from collections.abc import Sequence
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from swf_temporal.base.errors import Problem
from swf_temporal.languages.dsl.model.workflow import BUILT_IN, ONLY, TASK_TYPES, Workflow, type_of
from swf_temporal.text.located import Object
from swf_temporal.text.model_errors import ErrorPlace, fields_at, problem_of, problems_of
from swf_temporal.text.origin import Source
from swf_temporal.text.suggestions import did_you_mean, nearest

_WHOLE: Final = "the workflow"


def build(root: Object, source: Source) -> tuple[Workflow | None, list[Problem]]:
    """Return the model of the definition *root*, or the problems that prevent it."""
    try:
        return Workflow.model_validate(root), []
    except ValidationError as refused:
        return None, problems_of(refused, lambda details: _problem(details, root, source))


class _Place(ErrorPlace):
    """A place in a definition, with the words for the value there."""

    def __init__(self, root: Object, path: Sequence[int | str]) -> None:
        super().__init__(root, _in_text(root, path))
        names: list[str] = []
        self.key = ""
        """The keys from the innermost task to the value."""
        keys: list[str] = []
        before: Any = None
        for step, value in self.steps:
            if isinstance(before, int) and isinstance(step, str):
                names, keys = [*names, step], []
            elif isinstance(step, str):
                keys.append(step)
            before = step
        self.owner = f"task {names[-1]!r}" if names else _WHOLE
        self.subject = f"{self.owner}: {'.'.join(keys)}" if keys else self.owner


def _in_text(root: Object, path: Sequence[int | str]) -> list[int | str]:
    """Return *path*, which pydantic reports, as the path in the document, where names are keys."""
    found: list[int | str] = []
    value: Any = root
    for step in path:
        if step == ONLY and isinstance(value, dict) and len(value) == 1:
            step = next(iter(value))
        if (isinstance(value, dict) and step in value) or (
            isinstance(value, list) and isinstance(step, int) and step < len(value)
        ):
            value = value[step]
        else:
            continue
        found.append(step)
    return found


def _problem(details: ErrorDetails, root: Object, source: Source) -> Problem:
    path, kind = details["loc"], details["type"]
    place = _Place(root, path)
    if kind == "extra_forbidden":
        return _unknown(place, path, source)
    if kind == "missing":
        return _missing(_Place(root, path[:-1]), str(path[-1]), source)
    if kind in ("union_tag_not_found", "union_tag_invalid"):
        return _no_type(place, source)
    return problem_of(details, place, place.subject, source)


def _unknown(place: _Place, path: Sequence[int | str], source: Source) -> Problem:
    key = str(path[-1])
    known = [one for one in fields_at(Workflow, _of_models(path[:-1])) if one != "name" and one != ONLY]
    hint = did_you_mean(key, known)
    return source.problem("unknown-property", f"{place.owner} has an unknown key {key!r}", place.key_position, hint)


def _of_models(path: Sequence[int | str]) -> list[int | str]:
    """Return *path* without the steps that are no fields of models."""
    return [step for step in path if isinstance(step, str) and (step == ONLY or not step.startswith("*"))]


def _missing(place: _Place, key: str, source: Source) -> Problem:
    written = list(place.value) if isinstance(place.value, Object) else []
    meant = nearest(key, [one for one in written if one.lower() != key]) if written else None
    hint = f"is {meant!r} meant as {key!r}?" if meant and meant != key and meant in written else None
    return source.problem("missing", f"{place.subject} has no {key}", place.position, hint)


def _no_type(place: _Place, source: Source) -> Problem:
    if not isinstance(place.value, Object):
        return source.problem("type", f"{place.subject} must be an object", place.position)
    known = f"a task has one of the keys {', '.join(TASK_TYPES[:-1])} and {TASK_TYPES[-1]}"
    near = next((one for one in (did_you_mean(key, TASK_TYPES) for key in place.value) if one), None)
    return source.problem("missing", f"{place.owner} has no type", place.position, near or known)


def called_built_in(task: Any) -> bool:
    """Return whether *task*, as written, calls a function that every definition may call."""
    return type_of(task) == "call" and isinstance(task, dict) and task.get("call") in BUILT_IN
