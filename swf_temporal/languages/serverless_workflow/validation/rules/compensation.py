"""Rule: states that compensate are separate from the control flow (section "Defining Compensation")."""

from collections.abc import Container, Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.model.states import End, EventState, State
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.languages.serverless_workflow.validation.flow import targets, ways

_CODE = "compensation"


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each compensating state that is not allowed to be one, or is part of the control flow."""
    workflow = context.workflow
    led_into = {name for one in workflow.states if not one.used_for_compensation for name, _ in targets(one)}
    for state in workflow.states:
        target = None if state.compensated_by is None else context.states.get(state.compensated_by)
        if target is not None and not target.used_for_compensation:
            message = f"state {state.name!r} is compensated by {target.name!r}, which is not usedForCompensation"
            hint = f"write usedForCompensation: true in {target.name!r}"
            yield context.error(_CODE, message, state.where.value("compensatedBy"), hint)
        if state.used_for_compensation:
            yield from _compensating(context, state, led_into)
        else:
            yield from _led_into(context, state)
    start = context.states.get(workflow.start_state) if workflow.states else None
    if start is not None and start.used_for_compensation:
        message = f"the workflow starts in {start.name!r}, which is used for compensation only"
        yield context.error(_CODE, message, workflow.start.where.position, "start in a state of the control flow")


def _led_into(context: Context, state: State) -> Iterator[Problem]:
    for name, position in targets(state):
        if name in context.states and context.states[name].used_for_compensation:
            message = f"state {state.name!r} leads to {name!r}, which is used for compensation only"
            yield context.error(_CODE, message, position, f"name it under compensatedBy of {state.name!r} instead")


def _compensating(context: Context, state: State, led_into: Container[str]) -> Iterator[Problem]:
    subject = f"state {state.name!r} is used for compensation"
    if isinstance(state, EventState):
        hint = "use another type, such as operation"
        yield context.error(_CODE, f"{subject} and cannot be an event state", state.where.value("type"), hint)
    if state.compensated_by is not None:
        message = f"{subject} and cannot be compensated itself"
        yield context.error(_CODE, message, state.where.key("compensatedBy"), "remove compensatedBy")
    if state.end is not None:
        message = f"{subject}: its end is ignored"
        yield context.warning(_CODE, message, state.where.key("end"), "remove it: the run continues where it was")
    for way in ways(state):
        if way is not state and way.end is not None and _has_effect(way.end):
            message = f"{subject}: the properties of its end are ignored"
            yield context.warning(_CODE, message, way.where.key("end"), "remove it: the run continues where it was")
        if way.transition is not None and way.transition.compensate:
            message = f"{subject}: compensate has no effect on its transitions"
            yield context.warning(_CODE, message, way.transition.where.key("compensate"), "remove it")
    for name, position in targets(state):
        if name in context.states and not context.states[name].used_for_compensation:
            message = f"{subject} and cannot lead to {name!r}, which is not"
            hint = f"write usedForCompensation: true in {name!r}, too"
            if name in led_into:
                hint = "remove the transition: after compensation the run continues where it was"
            yield context.error(_CODE, message, position, hint)


def _has_effect(end: End) -> bool:
    return end.terminate or end.compensate or bool(end.produce_events) or end.continue_as is not None
