"""Properties are those that the draft, or a text that followed it, defines."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.drafts.november_2019 import model
from swf_temporal.languages.serverless_workflow.drafts.november_2019.rules.context import Context
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.reading.normalizing import parts
from swf_temporal.text.suggestions import meant_or_known, nearest


def check(context: Context) -> Iterator[Problem]:
    """Yield a warning for each property that means nothing where it stands; of specVersion its detection tells."""
    for node, owner in context.each(Node):
        known = parts(type(node)).keys() - ({"source"} if node is context.root else set())
        told = {"specVersion"} if node is context.root else set()
        of = f"of a state of the type {node.type}" if isinstance(node, model.STATES) else "that is known here"
        for key in sorted(node.where.keys.keys() - known - told):
            meant = nearest(key, known, 0.7)
            hint = f"did you mean {meant!r}?" if meant else meant_or_known("", known)
            message = f"{owner}: {key!r} is not a property {of}"
            yield context.warning("unknown-property", message, node.where.key(key), hint)
