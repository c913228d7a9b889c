"""Rule: a literal text was not meant as an expression (section "Workflow Expressions").

In arguments, in objects that are sent or stored, and in injected data only `${ … }` marks an expression. In filters it
may be left out, so an author easily leaves it out here as well, and the run continues with the text.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import Problem
from swf_temporal.expressions.evaluation import BadExpression
from swf_temporal.expressions.template import EmbeddedExpression, split
from swf_temporal.languages.expression_hints import meant, names_in
from swf_temporal.languages.serverless_workflow.model.actions import (
    ActionDataFilter,
    EventDataFilter,
    EventRef,
    FunctionRef,
    SubflowRef,
)
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.states import (
    ContinueAs,
    InjectState,
    ProduceEvent,
    StateDataFilter,
)
from swf_temporal.languages.serverless_workflow.model.workflow import Auth, Correlation, Event
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.languages.serverless_workflow.validation.fields import Field, Sort, fields

_FATE: Mapping[type[Node], Mapping[str, str]] = {
    FunctionRef: {"arguments": "sent"},
    EventRef: {"data": "sent", "contextAttributes": "sent"},
    ProduceEvent: {"data": "sent", "contextAttributes": "sent"},
    ContinueAs: {"data": "sent"},
    Auth: {"properties": "sent"},
    Correlation: {"contextAttributeValue": "compared"},
    InjectState: {"data": "stored"},
    StateDataFilter: {"input": "stored", "output": "stored"},
    ActionDataFilter: {"fromStateData": "sent", "results": "stored"},
    EventDataFilter: {"data": "stored"},
}
"""The use of a plain text, by its field."""

_NEVER_EVALUATED: Final[Mapping[type[Node], Mapping[str, str]]] = {
    SubflowRef: {"workflowId": "workflow_id", "version": "version"},
    ContinueAs: {"workflowId": "workflow_id", "version": "version"},
    Event: {"type": "type", "source": "source"},
}
"""Texts that are known before a run begins."""

_FILTERS: Final = (ActionDataFilter, EventDataFilter, StateDataFilter)
_QUOTATION_MARKS: Final = frozenset("“”„‟«»″`\u2018\u2019\u201a\u2039\u203a")


def check(context: Context) -> Iterator[Problem]:
    """Yield a warning for each literal text that looks like an expression on the data."""
    if context.compiler is None:
        return
    if context.compiler.opening != "${":
        yield from _of_later(context)
        return
    yield from _never_evaluated(context)
    known = _known(context)
    for field in fields(context.nodes):
        fate = _FATE.get(type(field.node), {}).get(field.key)
        if fate is not None and (alone := _expression_within(field)) is not None:
            message = f"{field.owner}: {field.text.strip()!r} is {fate} as text, with a value within it"
            yield context.warning("plain-text", message, field.position, f"did you mean '{alone}'?")
        if fate is None or field.sort is not Sort.TEMPLATE or "${" in field.text:
            continue
        if isinstance(field.node, Auth) and isinstance(field.node.properties, str):
            continue  # the name or path of a secret, which is understood without marks
        found = meant(field.text, context.compiler, known)
        if found is not None and _may_use(field, found):
            message = f"{field.owner}: {field.text.strip()!r} is {fate} as text"
            yield context.warning("plain-text", message, field.position, f"did you mean '${{ {found} }}'?")


def _never_evaluated(context: Context) -> Iterator[Problem]:
    """Yield a warning for each text with an expression that is not evaluated."""
    for kind, keys in _NEVER_EVALUATED.items():
        for node, owner in context.nodes.each(kind):
            for key, attribute in keys.items():
                text = getattr(node, attribute)
                if text is not None and "${" in text:
                    message = f"{owner}: {key} is the text {text!r}: no expression is evaluated there"
                    hint = f"write the {key} itself; a switch may lead to states with different ones"
                    yield context.warning("plain-text", message, node.where.value(key), hint)


def _expression_within(field: Field) -> str | None:
    """Return the expression, with its marks, that *field* was probably meant to be, if there is text around it.

    In a filter, which should seldom yield a text, any other text is a mistake; elsewhere, only quotation marks that
    YAML does not support are.
    """
    try:
        pieces = split(field.text)
    except BadExpression:
        return None  # reported separately
    found = [piece for piece in pieces if isinstance(piece, EmbeddedExpression)]
    around = "".join(piece for piece in pieces if isinstance(piece, str)).strip()
    is_filter = field.sort is Sort.EXPRESSION and isinstance(field.node, _FILTERS)
    if len(found) != 1 or not around or not (is_filter or set(around) <= _QUOTATION_MARKS):
        return None
    return f"${{{found[0].text}}}"


def _of_later(context: Context) -> Iterator[Problem]:
    """Yield a warning for each text with jq's marks in versions whose expressions are paths in other marks."""
    for field in fields(context.nodes):
        fate = _FATE.get(type(field.node), {}).get(field.key)
        if fate is not None and field.sort is Sort.TEMPLATE and "${" in field.text:
            message = f"{field.owner}: {field.text.strip()!r} is {fate} as text: ${{ }} marks expressions since 0.6"
            yield context.warning("plain-text", message, field.position, "write a path, such as '{{ $.order.id }}'")


def _may_use(field: Field, expression: str) -> bool:
    """Return True if the variables in *expression* have a value there: secrets have one in calls only."""
    return "$args" not in expression and ("$SECRETS" not in expression or isinstance(field.node, FunctionRef | Auth))


def _known(context: Context) -> set[str]:
    """Return the names of fields that the definition reads in an expression, injects, or expects in its input."""
    found: set[str] = set()
    for field, compiled in context.expressions:
        if not isinstance(compiled, BadExpression):
            found |= names_in(field.text)
    for state, _ in context.nodes.each(InjectState):
        found |= _keys(state.data)
    schema = context.workflow.data_input_schema
    if schema is not None and isinstance(schema.schema_, dict):
        found |= _keys(schema.schema_.get("properties"))
    return found


def _keys(value: JSON) -> set[str]:
    return set(value) if isinstance(value, dict) else set()
