"""Event expressions name triggers (sections "Trigger Definition" and "Event State: Event Definitions")."""

from collections.abc import Iterator
from typing import Final

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.drafts.november_2019 import model
from swf_temporal.languages.serverless_workflow.drafts.november_2019.event_expressions import (
    BadEventExpression,
    names_in,
    parsed,
)
from swf_temporal.languages.serverless_workflow.drafts.november_2019.rules.context import Context
from swf_temporal.text.suggestions import NEVER_USED, known_ones, meant_or_known

_FORM: Final = "write names of triggers with and, or and parentheses between them"
_DEFINE_IT: Final = "define it under triggerDefs, with the source and the type of its events"


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for what cannot be read, or names no trigger; and a warning for triggers of no use."""
    triggers = {trigger.name: trigger for trigger in context.root.trigger_defs}
    used: set[str] = set()
    for state, owner in context.each(model.EventState):
        if not state.events:
            hint = "write at least one entry, with an eventExpression that names triggers, and a nextState"
            yield context.error("empty-list", f"{owner}: events is empty", state.where.value("events"), hint)
    for entry, owner in context.each(model.EventDefinition):
        text, position = entry.event_expression, entry.where.value("eventExpression")
        try:
            names = names_in(parsed(text, triggers))
        except BadEventExpression as bad:
            message = f"{owner}: the eventExpression cannot be read: {bad.message}"
            hint = _FORM if not triggers else f"{_FORM}; {known_ones(triggers)}"
            yield context.error("expression-syntax", message, context.within(text, position, bad.offset), hint)
            continue
        used.update(names)
        for name in names:
            if name not in triggers:
                message = f"{owner} waits for the trigger {name!r}, which is not in triggerDefs"
                place = context.within(text, position, text.find(name))
                yield context.error("event-undefined", message, place, meant_or_known(name, triggers, _DEFINE_IT))
    for trigger, owner in context.each(model.Trigger):
        if trigger.name not in used:
            message = f"{owner} is in no eventExpression"
            yield context.warning("unused-definition", message, trigger.where.value("name"), NEVER_USED)
        elif trigger.correlation_token is None and len(used) > 1:
            message = f"{owner} has no correlationToken: its events may belong to any instance"
            hint = "with several triggers each says by what its events are told, such as '$.data.order'"
            yield context.warning("correlation", message, trigger.where.position, hint)
