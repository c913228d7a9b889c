"""Reading the workflow that a text describes, in any version of the language.

All problems are reported at once: the well-formed parts are still validated by the rules. Malformed parts are replaced
by stand-ins with the same name, so that references to them are not reported as dangling.

A draft reads its documents itself, by a `Reader`.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from pydantic import ValidationError

from swf_temporal.base.errors import Problem
from swf_temporal.base.importing import module_named
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.states import STATE_TYPES, StateBase
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow
from swf_temporal.languages.serverless_workflow.reading.building import DefinitionForm, build
from swf_temporal.languages.serverless_workflow.reading.externals import Externals, take_externals
from swf_temporal.languages.serverless_workflow.reading.normalizing import Normalizer
from swf_temporal.languages.serverless_workflow.reading.versions.detection import Detected, detect, version_problem
from swf_temporal.languages.serverless_workflow.reading.versions.version import Version
from swf_temporal.text.origin import Fetch, Object, Source, UnreadableText, nothing, written
from swf_temporal.text.parsing import read_object
from swf_temporal.text.suggestions import nearest

if TYPE_CHECKING:
    from swf_temporal.expressions.evaluation import Expressions


@dataclass(frozen=True, slots=True)
class Reading:
    """The workflow that a text describes, or None, and the problems of the text."""

    workflow: Workflow | None
    """The workflow, without malformed parts, for which there are problems."""
    problems: tuple[Problem, ...]
    """The problems; those of included texts get their final positions by `including.at_its_origin`."""
    bundled: str | None = None
    """The definition with all its externals included, if any were found."""
    detected: Detected | None = None
    """The version of the text; None if it could not be parsed."""
    draft: Node | None = None
    """The document in its draft's own model, for the draft's rules."""


class Reader(Protocol):
    """The reader of the documents of one draft: `READER` in the module that its `Version` names."""

    def read(self, root: Object, source: Source, fetch: Fetch) -> Reading:
        """Return the workflow that *root* describes, converted from the draft's model, without the draft's rules."""

    def lowered(self, root: Object, source: Source) -> Object:
        """Return *root* converted to a document of 0.8. Raises InvalidDefinition if *root* is malformed."""

    def validate(self, reading: Reading, expressions: "Expressions | None") -> list[Problem]:
        """Return the problems by the draft's rules; *expressions* is the compiler for the workflow's expressions."""

    def json_schema(self, title: str | None) -> dict[str, Any]:
        """Return the JSON Schema of the draft's documents."""


def reader_of(version: Version) -> Reader | None:
    """Return the reader of *version*, if that is a draft."""
    if version.reader is None:
        return None
    reader: Reader = module_named(version.reader).READER
    return reader


_DEFINITIONS = ("functions", "events", "retries", "errors", "auth")
_ROUNDS = 8
"""The maximum number of rounds that remove malformed parts. Each may reveal problems that were hidden before."""


def recover(root: Object, refused: ValidationError) -> Workflow | None:
    """Return the workflow in *root* without its malformed parts, or None if too little is left."""
    for _ in range(_ROUNDS):
        for details in refused.errors(include_url=False, include_context=False, include_input=False):
            _repair(root, details["loc"], details["type"])
        try:
            return Workflow.model_validate(root)
        except ValidationError as again:
            refused = again
    return None


def _repair(root: Object, path: tuple[int | str, ...], kind: str) -> None:
    node, key = _innermost(root, path)
    if kind == "union_tag_invalid":
        _retype(root, path)
    elif kind == "missing" or key is None:
        _replace(root, path)
    elif isinstance(node, dict) and node is not root:
        node.pop(key, None)
    else:
        _replace(root, path)


def _innermost(root: Object, path: tuple[int | str, ...]) -> tuple[Any, str | None]:
    """Return the last object on *path*, and the key of the path in it."""
    value: Any = root
    node, key = root, None
    for step in path:
        if isinstance(value, Object) and step in value:
            node, key = value, str(step)
            value = value[key]
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
            if isinstance(value, Object):
                node, key = value, None
    return node, key


def _retype(root: Object, path: tuple[int | str, ...]) -> None:
    state, _ = _innermost(root, path)
    meant = nearest(str(state.get("type")), STATE_TYPES)
    if meant is None:
        _replace(root, path)
    else:
        state["type"] = meant


def _replace(root: Object, path: tuple[int | str, ...]) -> None:
    """Replace the state or definition on *path* by a harmless one with the same name."""
    kind = str(path[0]) if path else ""
    items = root.get(kind)
    index = path[1] if len(path) > 1 else None
    if isinstance(items, list) and isinstance(index, int) and index < len(items):
        items[index] = _stand_in(kind, items[index], index)
        return
    root.pop(kind, None)
    if kind in _DEFINITIONS:
        # Treated as external: references to them cannot be checked.
        root["externals"] = {**(root.get("externals") or {}), kind: {"uri": ""}}
    elif kind == "id":
        root["id"] = "unnamed"


def _stand_in(kind: str, item: Any, index: int) -> dict[str, Any]:
    name = item.get("name") if isinstance(item, dict) else None
    stand_in: dict[str, Any] = {"name": name if isinstance(name, str) else f"unnamed {kind} {index}"}
    if kind == "states":
        stand_in |= {"type": "inject", "data": {}, "end": {}}
        if isinstance(item, dict) and item.get("usedForCompensation") is True:
            stand_in["usedForCompensation"] = True
    return stand_in


FORM: Final = DefinitionForm(
    model=Workflow,
    state_types=STATE_TYPES,
    called={
        "states": "state",
        "actions": "action",
        "functions": "function",
        "events": "event",
        "retries": "retry",
        "errors": "error",
        "auth": "auth",
        "branches": "branch",
        "action": "action",
        "dataConditions": "condition",
        "eventConditions": "condition",
        "onErrors": "onErrors entry",
        "onEvents": "onEvents entry",
    },
    texts_too=(
        "transition",
        "start",
        "schedule",
        "cron",
        "functionRef",
        "subFlowRef",
        "authRef",
        "continueAs",
        "workflowExecTimeout",
    ),
    truths_too=("end",),
)
"""The form of definitions since 0.5."""


def read(source: Source, fetch: Fetch = nothing) -> Reading:
    """Return the workflow in *source*, whose external definitions are read by *fetch*."""
    try:
        root, tolerated = read_object(source)
    except UnreadableText as unreadable:
        return Reading(None, unreadable.problems)
    reading = read_part(root, source, fetch)
    return replace(reading, problems=(*tolerated, *reading.problems))


def read_part(root: Object, source: Source, fetch: Fetch = nothing) -> Reading:
    """Return the workflow *root*, an already parsed part of *source*."""
    detected, externals = detect(root), Externals()
    if detected.version is not None and detected.version.reader is None:
        externals = take_externals(root, source, fetch)
    bundled = None
    if externals.are_taken:
        bundled = written(root)
        detected = detect(root)  # a run carries the included documents, whose keys show the version, too
    version = detected.version
    if version is None:
        return Reading(None, (_refusal(detected, source),), detected=detected)
    reported = (*_version_problems(root, detected, source), *externals.problems)
    reader = reader_of(version)
    if reader is not None:
        reading = reader.read(root, source, fetch)
        return replace(reading, problems=(*reported, *reading.problems), bundled=bundled, detected=detected)
    normalizer = Normalizer(source, version.vocabulary.spellings, StateBase)
    normalizer.normalize(Workflow, root, root.where.position)
    root["@version"] = version
    root["externals"] = externals.uris
    workflow, refused = build(root, source, FORM, recover)
    return Reading(workflow, (*reported, *normalizer.problems, *refused), bundled, detected)


def _version_problems(root: Object, detected: Detected, source: Source) -> tuple[Problem, ...]:
    problem = version_problem(root, detected, source)
    return () if problem is None else (problem,)


def _refusal(detected: Detected, source: Source) -> Problem:
    shown = "" if detected.evidence is None else f", as {detected.evidence.key!r} shows"
    message = f"this is written for {detected.title}{shown}; swf-temporal runs Serverless Workflow 0.8"
    hint = None if detected.other_language is None else detected.other_language.hint
    return source.problem("dialect", message, detected.position, hint)
