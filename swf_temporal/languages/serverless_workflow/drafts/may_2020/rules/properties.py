"""Properties are those that the draft defines (section "Workflow Definition")."""

from collections.abc import Iterator, Mapping
from typing import Final

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.drafts.may_2020 import model
from swf_temporal.languages.serverless_workflow.drafts.may_2020.rules.context import Context
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.reading.normalizing import parts
from swf_temporal.text.suggestions import meant_or_known, nearest

_NOT_FOR_AUTHORS: Final[Mapping[type[Node], tuple[str, ...]]] = {
    model.DraftWorkflow: ("source",),
    model.InjectTask: ("onError",),
}
"""Fields of the model that the draft does not have, or not for these tasks."""


def check(context: Context) -> Iterator[Problem]:
    """Yield a warning for each property that means nothing where it stands; of specVersion its detection tells."""
    for node, owner in context.each(Node):
        known = parts(type(node)).keys() - set(_NOT_FOR_AUTHORS.get(type(node), ()))
        told = {"specVersion"} if node is context.root else set()
        for key in sorted(node.where.keys.keys() - known - told):
            kind = getattr(node, "type", None) if isinstance(node, model.TaskBase) else None
            of = "that is known here" if kind is None else f"of a {context.wording('task')} of the type {kind}"
            meant = nearest(key, known, 0.7)
            hint = (
                f"did you mean {context.wording(meant)!r}?"
                if meant
                else meant_or_known("", map(context.wording, known))
            )
            message = f"{owner}: {context.wording(key)!r} is not a property {of}"
            yield context.warning("unknown-property", message, node.where.key(key), hint)
