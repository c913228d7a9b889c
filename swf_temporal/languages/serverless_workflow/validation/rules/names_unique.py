"""Rule: names are unique (sections "State Definition", "Function Definition", "Event Definition" and so on)."""

from collections.abc import Iterator, Sequence

from swf_temporal.base.errors import Problem
from swf_temporal.base.grammar import plural, with_article
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.states import ParallelState
from swf_temporal.languages.serverless_workflow.validation.context import Context

_NAME_IT = "it is referred to by its name: write one"


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each state, definition or branch with the name or id of an earlier one."""
    workflow = context.workflow
    yield from _repeated(context, "state", workflow.states)
    yield from _same_id(context)
    yield from _repeated(context, "function", workflow.functions)
    yield from _repeated(context, "event", workflow.events)
    yield from _repeated(context, "retry", workflow.retries)
    yield from _repeated(context, "error", workflow.errors)
    yield from _repeated(context, "auth definition", workflow.auth)
    for state, owner in context.nodes.each(ParallelState):
        yield from _repeated(context, "branch", state.branches, f" in {owner}")


def _repeated(context: Context, kind: str, nodes: Sequence[Node], within: str = "") -> Iterator[Problem]:
    first: dict[str, Node] = {}
    for node in nodes:
        name: str = getattr(node, "name")  # noqa: B009 - all of these have one, but share no class that does
        if not name.strip():
            yield context.error(
                "missing",
                f"{with_article(kind)}{within} has an empty name",
                node.where.value("name"),
                _NAME_IT,
            )
        elif name in first:
            message = f"there are several {plural(kind)} named {name!r}{within}"
            line = first[name].where.value("name").line
            yield context.error("duplicate-name", message, node.where.value("name"), f"the first is at line {line}")
        else:
            first[name] = node


def _same_id(context: Context) -> Iterator[Problem]:
    first: dict[str, Node] = {}
    for state in context.workflow.states:
        if state.id is not None and first.setdefault(state.id, state) is not state:
            message = f"there are several states with the id {state.id!r}"
            line = first[state.id].where.value("id").line
            yield context.error("duplicate-name", message, state.where.value("id"), f"the first is at line {line}")
