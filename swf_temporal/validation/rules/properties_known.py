"""Properties are those that the specification defines (section "Workflow Definition Structure").

At the top level an author may add properties (section "Additional Properties"): only what looks like a slip
of the keyboard is told there.
"""

from collections.abc import Iterator

from swf_temporal.dialects.spelling import parts
from swf_temporal.dialects.words import nearest
from swf_temporal.errors import Problem
from swf_temporal.model.node import Node
from swf_temporal.model.states import StateBase
from swf_temporal.model.workflow import Workflow
from swf_temporal.validation.context import Context

_OURS = {"dialect", "externals", "source"}
"""Fields of a workflow that are not for authors."""


def check(context: Context) -> Iterator[Problem]:
    """Yield a warning for each property that means nothing where it stands."""
    for placed in context.nodes.all():
        known, where = parts(type(placed.node)).keys(), placed.node.where
        is_open = isinstance(placed.node, Workflow)
        for key in where.keys.keys() - known:
            meant = nearest(key, known - _OURS, 0.8 if is_open else 0.7)
            if meant is not None or not is_open:
                message = f"{placed.owner}: {key!r} is not a property {_of(placed.node)}"
                hint = None if meant is None else f"did you mean {meant!r}?"
                yield context.warning("unknown-property", message, where.key(key), hint)


def _of(node: Node) -> str:
    if isinstance(node, StateBase):
        return f"of a state of the type {node.type}" if hasattr(node, "type") else "of a state"
    return "that is known here"
