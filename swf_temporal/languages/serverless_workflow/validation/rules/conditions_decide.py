"""Rule: conditions yield true or false (sections "Switch State Data Conditions" and "Action Definition").

A condition holds unless it yields false, null or nothing, as in jq. One that can never yield any of these would always
hold, which its author does not intend. An assignment to a field, `.country = "DE"`, yields the data with that field,
and so always holds as well.
"""

from collections.abc import Collection, Iterator, Mapping

from swf_temporal.base.data import kind_of
from swf_temporal.base.errors import Problem
from swf_temporal.expressions.compiled import ANY
from swf_temporal.expressions.evaluation import BadExpression
from swf_temporal.expressions.lexing import assigns
from swf_temporal.languages.serverless_workflow.model.actions import Action
from swf_temporal.languages.serverless_workflow.model.states import DataCondition
from swf_temporal.languages.serverless_workflow.validation.context import Context

_CODE = "condition"
_CALLED: Mapping[str, str] = {
    "null": "null",
    "number": "a number",
    "string": "a text",
    "array": "a list",
    "object": "an object",
}


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each condition that is not true, false or an expression that can yield both."""
    nodes: list[tuple[Action | DataCondition, str]] = [*context.nodes.each(Action), *context.nodes.each(DataCondition)]
    for node, owner in nodes:
        if "condition" in node.where.keys and not isinstance(node.condition, bool | str):
            message = f"{owner}: the condition is {_CALLED[kind_of(node.condition)]}"
            hint = "a condition is an expression that yields true or false"
            yield context.error(_CODE, message, node.where.value("condition"), hint)
    for field, compiled in context.expressions:
        is_text = isinstance(field.node, Action | DataCondition) and isinstance(field.node.condition, str)
        if is_text and field.key == "condition" and not isinstance(compiled, BadExpression):
            kinds: Collection[str] = getattr(compiled, "kinds", ())
            if not _decides(kinds):
                yields = " or ".join(sorted(_CALLED[kind] for kind in kinds))
                effect = "never holds" if yields == "null" else "always holds"
                message = f"{field.owner}: the condition {field.text!r} yields {yields}, and so {effect}"
                hint = "a condition yields true or false, as a comparison does"
                yield context.error(_CODE, message, field.position, hint)
            elif kinds == ANY and assigns(_unmarked(field.text)):
                message = f"{field.owner}: the condition {field.text!r} assigns, and so always holds"
                yield context.error(_CODE, message, field.position, "'==' compares")


def _decides(kinds: Collection[str]) -> bool:
    return "boolean" in kinds or ("null" in kinds and len(kinds) > 1)


def _unmarked(text: str) -> str:
    stripped = text.strip()
    return stripped.removeprefix("${").removesuffix("}") if stripped.startswith("${") else text
