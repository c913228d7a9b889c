"""Lowering of drafts: a definition in the words of its draft becomes the document that 0.8 has for it.

It is rewritten as older versions are when they are read, by a table of spellings of the common model. What 0.8 cannot
express stands in fields whose names begin with `@`, which only reading makes. The document is what runs are read from,
and what `swf upgrade` writes. Every part of it knows where its author wrote it.
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
    """Return *tree*, of a draft, as the document that *spellings*, which are those of the common model, make of it."""
    Normalizer(source, spellings, StateBase).normalize(Workflow, tree, tree.where.position)
    return tree


def workflow_of(document: Object, source: Source) -> Workflow:
    """Return the workflow that a lowered *document* describes, which was read from *source*."""
    return Workflow.model_validate({**document, "source": source})


def tree_of(node: Node) -> Object:
    """Return what the author wrote of *node*, as its model has it; what the model does not know is only located."""
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
    """Set *key* of *node* to *value*, as if it were written where the key *at* is."""
    node[key] = value
    if at in node.where.keys:
        node.where.keys[key] = node.where.keys[at]


def drop(node: Object, *keys: str) -> None:
    """Take out what has no meaning in 0.8."""
    for key in keys:
        if key in node:
            node.take(key)


def wrap(node: Object, old: str, new: str, key: str) -> Object:
    """Put what *node* has under *old* into an object, as its *key*, which then stands under *new*; return that."""
    value, places = node.take(old)
    around = Object(places[1])
    around.put(key, value, places)
    node.put(new, around, places)
    return around


def listed(node: Object, old: str, new: str) -> None:
    """Make of what *node* has under *old*, if it has that, the only element of a list under *new*."""
    if old in node:
        value, places = node.take(old)
        node.put(new, Array([value], [places[1]]), places)


def branch_of(scope: Step) -> Step:
    """Return a step that gives a branch a scope, as *scope* does, in place of actions."""

    def step(node: Object, normalizer: Normalizer) -> None:
        scope(node, normalizer)
        put(node, "actions", Array())

    return step


def sub_workflow(*, ends_with_parent: bool) -> Step:
    """Return a step that makes an action of the `workflowId` by which a state runs a workflow, if it has one."""

    def step(node: Object, _normalizer: Normalizer) -> None:
        if "workflowId" not in node:
            return
        waits = node.get("waitForCompletion", False)
        drop(node, "waitForCompletion")
        reference = wrap(node, "workflowId", "actions", "workflowId")
        if not waits:
            put(reference, "invoke", "async")
        if not waits or not ends_with_parent:
            # It would otherwise end with its parent, which mostly ends at once.
            put(reference, "onParentComplete", "continue")
        wrap(node, "actions", "actions", "subFlowRef")
        listed(node, "actions", "actions")

    return step


def objects(value: Any) -> Iterator[Object]:
    """Yield *value*, and every object in it, at any depth; data that its author may write freely are none."""
    if isinstance(value, Object):
        yield value
        for item in value.values():
            yield from objects(item)
    elif isinstance(value, Array):
        for item in value:
            yield from objects(item)
