"""Rule: fields that are read may have been set (section "Workflow Data").

Data from outside may have any field, so this only reports fields after a filter that leaves nothing but known fields.
"""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.expressions.targets import reads
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.states import ForeachState, OperationState, State, SwitchState
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.languages.serverless_workflow.validation.fields import Field
from swf_temporal.languages.serverless_workflow.validation.flow import KnownFields, entered, known_at
from swf_temporal.text.suggestions import did_you_mean


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each expression that reads a field which no state before it can have set."""
    workflow = context.workflow
    if workflow.expression_lang != "jq" or not workflow.states:
        return
    variables = {state.iteration_param for state in workflow.states if isinstance(state, ForeachState)}
    known = known_at(context.states, workflow.start_state, variables)
    if all(fields is None for fields in known.values()):
        return
    written: dict[int, list[Field]] = {}
    for field, _ in context.expressions:
        written.setdefault(id(field.node), []).append(field)
    for name, at_entry in known.items():
        state = context.states.get(name)
        if state is None:
            continue
        inner = entered(state, at_entry, variables)
        for node, key, data in _read_by(state, at_entry, inner):
            for field in written.get(id(node), ()):
                if field.key == key and data is not None:
                    for missing in sorted(reads(field.text, variables) - data):
                        yield _unset(context, field, missing, data)


def _read_by(state: State, at_entry: KnownFields, inner: KnownFields) -> Iterator[tuple[Node, str, KnownFields]]:
    """Yield the expressions of *state* that read its data before anything was added to it."""
    if state.state_data_filter is not None:
        yield state.state_data_filter, "input", at_entry
    match state:
        case SwitchState():
            for condition in state.data_conditions:
                yield condition, "condition", inner
        case ForeachState():
            yield state, "inputCollection", inner
        case OperationState() if state.actions:
            first = state.actions[0]
            yield first, "condition", inner
            if first.action_data_filter is not None:
                yield first.action_data_filter, "fromStateData", inner
            elif first.function_ref is not None:
                yield first.function_ref, "arguments", inner
                yield first.function_ref, "selectionSet", inner
        case _:
            return


def _unset(context: Context, field: Field, missing: str, data: frozenset[str]) -> Problem:
    there = ", ".join(f".{one}" for one in sorted(data)) or "nothing"
    message = f"{field.owner}: {field.key} reads .{missing}, which no state before it can have set: there is {there}"
    hint = did_you_mean(missing, data) or "read an existing field, or set it in a state before"
    return context.warning("unset-field", message, field.position, hint)
