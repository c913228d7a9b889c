"""Lowering of drafts: a definition in the words of its draft is converted to the equivalent document of 0.8.

It is rewritten, as older versions are in reading, by a table of spellings of the common model. What 0.8 cannot express
is put into fields whose names begin with `@`, which authors cannot set. Both runs and `swf upgrade` use the document.
Every part of it has its position in the author's text.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from swf_temporal.base.errors import Position
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.states import StateBase
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow
from swf_temporal.languages.serverless_workflow.reading.normalizing import Normalizer, Spelling, Step
from swf_temporal.text.located import Array, Object
from swf_temporal.text.origin import Source


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
