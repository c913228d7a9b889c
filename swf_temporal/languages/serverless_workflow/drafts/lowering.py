"""Lowering of drafts: a definition in the words of its draft is converted to the equivalent document of 0.8.

It is rewritten, as older versions are in reading, by a table of spellings of the common model. What 0.8 cannot express
is put into fields whose names begin with `@`, which authors cannot set. Both runs and `swf upgrade` use the document.
Every part of it has its position in the author's text.

All problems are reported at once. Malformed parts are replaced by stand-ins with the same name while the rules validate
the others, so that references to them are not reported as dangling.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from pydantic import ValidationError

from swf_temporal.base.errors import InvalidDefinition, Position, Problem, Severity
from swf_temporal.expressions.evaluation import Expressions
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.states import StateBase
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow
from swf_temporal.languages.serverless_workflow.reading.building import DefinitionForm, build
from swf_temporal.languages.serverless_workflow.reading.document import Reading
from swf_temporal.languages.serverless_workflow.reading.normalizing import Normalizer, Spelling, Step
from swf_temporal.text.origin import Array, Fetch, Object, Source

_ROUNDS: Final = 8
"""The maximum number of rounds that remove malformed parts. Each may reveal problems that were hidden before."""
_OF_ABSENCE: Final = {
    "empty-list", "missing", "num-completed", "schedule", "start", "switch-conditions", "transition-or-end",
}  # fmt: skip
"""The codes of problems about something missing."""

N = TypeVar("N", bound=Node)


@dataclass(frozen=True, slots=True)
class Recovery(Generic[N]):
    """Recovers definitions of one draft without their malformed parts."""

    model: type[N]
    stand_ins: Mapping[str, Mapping[str, Any]]
    """Harmless stand-ins, by the key of the list that contains them."""

    def recover(self, root: Object, refused: ValidationError) -> N | None:
        """Return the definition in *root* without its malformed parts, or None if too little is left."""
        for _ in range(_ROUNDS):
            for details in refused.errors(include_url=False, include_context=False, include_input=False):
                self._take_out(root, details["loc"])
            try:
                return self.model.model_validate(root)
            except ValidationError as again:
                refused = again
        return None

    def _take_out(self, root: Object, path: tuple[int | str, ...]) -> None:
        """Replace the innermost state or definition on *path* by a stand-in with the same name."""
        value: Any = root
        place: tuple[list[Any], int, str] | None = None
        key = ""
        for step in path:
            if isinstance(value, dict) and step in value:
                key, value = str(step), value[step]
            elif isinstance(value, list) and isinstance(step, int) and step < len(value):
                place = (value, step, key) if key in self.stand_ins else place
                value = value[step]
        if place is None:
            root.pop(str(path[0]) if path else "", None)
            if path and path[0] == "id":
                root["id"] = "unnamed"
            return
        items, index, key = place
        name = items[index].get("name") if isinstance(items[index], dict) else None
        items[index] = {**self.stand_ins[key], "name": name if isinstance(name, str) else f"unnamed {key} {index}"}


def of_what_is_left(found: list[Problem]) -> list[Problem]:
    """Return the problems that cannot be caused by the removal of malformed parts."""
    return [one for one in found if one.severity is Severity.ERROR and one.code not in _OF_ABSENCE]


_REPEATING = re.compile(r"[Rr](?P<times>\d{0,9})/(?P<interval>.*)", re.DOTALL)


def repetition_of(text: str | None, alone: int | None = 0) -> tuple[str | None, int | None]:
    """Return the duration in *text* and the number of repetitions: None for `R/`, and *alone* for a plain duration."""
    match = None if text is None else _REPEATING.fullmatch(text.strip())
    if match is None:
        return text, alone
    return match["interval"].strip(), int(match["times"]) if match["times"] else None


def normalized(tree: Object, source: Source, spellings: Mapping[type[Node], Spelling]) -> Object:
    """Return *tree*, of a draft, rewritten by *spellings* of the common model."""
    Normalizer(source, spellings, StateBase).normalize(Workflow, tree, tree.where.position)
    return tree


def workflow_of(document: Object, source: Source) -> Workflow:
    """Return the workflow that a lowered *document*, read from *source*, describes."""
    return Workflow.model_validate({**document, "source": source})


def tree_of(node: Node) -> Object:
    """Return *node* as a document, without defaults; for unknown keys it has only positions."""
    tree = Object(node.where.position)
    tree.where.keys.update(node.where.keys)
    tree.where.inside.update(node.where.inside)
    for name, info in type(node).model_fields.items():
        key = info.alias or name
        if name in node.model_fields_set and not key.startswith("@") and not info.exclude:
            tree[key] = _part(getattr(node, name), node.where.value(key))
    return tree


def _part(value: Any, position: Position) -> Any:
    if isinstance(value, Node):
        return tree_of(value)
    if isinstance(value, tuple):
        return Array(
            [_part(item, position) for item in value],
            [item.where.position if isinstance(item, Node) else position for item in value],
        )
    return value


def put(node: Object, key: str, value: Any, at: str | None = None) -> None:
    """Set *key* of *node* to *value*, with the position of the key *at*."""
    node[key] = value
    if at in node.where.keys:
        node.where.keys[key] = node.where.keys[at]


def drop(node: Object, *keys: str) -> None:
    """Remove keys without a meaning in 0.8."""
    for key in keys:
        if key in node:
            node.take(key)


def wrap(node: Object, old: str, new: str, key: str) -> Object:
    """Wrap the value of *old* in an object, under *key*, and put that under *new*; return the object."""
    value, places = node.take(old)
    around = Object(places[1])
    around.put(key, value, places)
    node.put(new, around, places)
    return around


def listed(node: Object, old: str, new: str) -> None:
    """Wrap the value of *old*, if there is one, in a list under *new*."""
    if old in node:
        value, places = node.take(old)
        node.put(new, Array([value], [places[1]]), places)


def branch_of(scope: Step) -> Step:
    """Return a step that gives a branch a scope, by the step *scope*, instead of actions."""

    def step(node: Object, normalizer: Normalizer) -> None:
        scope(node, normalizer)
        put(node, "actions", Array())

    return step


def sub_workflow(*, ends_with_parent: bool) -> Step:
    """Return a step that converts the `workflowId` of a state, if it has one, to an action."""

    def step(node: Object, _normalizer: Normalizer) -> None:
        if "workflowId" not in node:
            return
        waits = node.get("waitForCompletion", False)
        drop(node, "waitForCompletion")
        reference = wrap(node, "workflowId", "actions", "workflowId")
        if not waits:
            put(reference, "invoke", "async")
        if not waits or not ends_with_parent:
            # Otherwise it would end with its parent, which usually ends immediately.
            put(reference, "onParentComplete", "continue")
        wrap(node, "actions", "actions", "subFlowRef")
        listed(node, "actions", "actions")

    return step


def objects(value: Any) -> Iterator[Object]:
    """Yield *value*, and every object in it, at any depth, except in free-form data."""
    if isinstance(value, Object):
        yield value
        for item in value.values():
            yield from objects(item)
    elif isinstance(value, Array):
        for item in value:
            yield from objects(item)


@dataclass(frozen=True, slots=True)
class DraftReader(Generic[N]):
    """Converts documents of one draft to the common model, and validates them by the draft's rules."""

    spellings: Mapping[type[Node], Spelling]
    state: type[Node]
    """The base of all states, as which one of an unknown type is read."""
    marks: Callable[[Object], Mapping[str, Any]]
    """Returns facts about a document as written, by keys that authors cannot set."""
    form: Callable[[Object], DefinitionForm[N]]
    """Returns the form of a normalized document."""
    recovery: Recovery[N]
    lower: Callable[[N], Object]
    """Returns the document of 0.8."""
    problems_of: Callable[[N], list[Problem]]
    """Returns the problems by the rules of the draft."""
    schema: Callable[[str | None], dict[str, Any]]
    """Returns the JSON Schema of documents, with a title if there is one."""

    def read(self, root: Object, source: Source, fetch: Fetch) -> Reading:  # noqa: ARG002 - drafts have no included documents
        """Return the workflow that *root* describes, without the draft's rules."""
        draft, problems, is_whole = self._draft(root, source)
        if draft is None or not is_whole:
            return Reading(None, problems, draft=draft)
        return Reading(workflow_of(self.lower(draft), source), problems, draft=draft)

    def lowered(self, root: Object, source: Source) -> Object:
        """Return *root*, which may lack an id, converted to a document of 0.8.

        Raises InvalidDefinition if it is malformed.
        """
        draft, problems, is_whole = self._draft(root, source, may_lack_id=True)
        if draft is None or not is_whole:
            raise InvalidDefinition(problems)
        document = self.lower(draft)
        if not document["id"]:
            del document["id"]
        return document

    def validate(self, reading: Reading, expressions: Expressions | None) -> list[Problem]:  # noqa: ARG002 - their rules compile in the draft's words
        """Return the problems by the rules of the draft."""
        assert isinstance(reading.draft, self.recovery.model)  # noqa: S101 - only called for its own documents
        found = self.problems_of(reading.draft)
        return found if reading.workflow is not None else of_what_is_left(found)

    def json_schema(self, title: str | None) -> dict[str, Any]:
        return self.schema(title)

    def _draft(
        self, root: Object, source: Source, *, may_lack_id: bool = False
    ) -> tuple[N | None, tuple[Problem, ...], bool]:
        """Return *root* in the draft's model, its problems, and True if all of it is well-formed."""
        normalizer = Normalizer(source, self.spellings, self.state)
        marks = self.marks(root)
        normalizer.normalize(self.recovery.model, root, root.where.position)
        root.update(marks)
        if may_lack_id:
            root.setdefault("id", "")
        draft, refused = build(root, source, self.form(root), self.recovery.recover)
        return draft, (*normalizer.problems, *refused), not refused
