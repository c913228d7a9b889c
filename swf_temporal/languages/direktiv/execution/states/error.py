"""The `error` state: marks the instance as failed, and goes on to its end."""

import re

from swf_temporal.base.data import JSON
from swf_temporal.expressions.structured import as_text
from swf_temporal.languages.direktiv.execution.lane import Lane
from swf_temporal.languages.direktiv.execution.outcome import StateExit
from swf_temporal.languages.direktiv.model.states import ErrorState

_VERB = re.compile(r"%([vsdq%])")


async def run(state: ErrorState, lane: Lane) -> StateExit:
    """Take note of the error that the instance fails with once it ends."""
    message = as_text(await lane.evaluate(state.message, lane.data))
    if state.args:
        message = _formatted(message, [await lane.evaluate(one, lane.data) for one in state.args])
    lane.execution.fail_at_end(state.error, message)
    return StateExit(lane.data, state.transform, state.transition)


def _formatted(text: str, values: list[JSON]) -> str:
    """Return *text* with its `%v` and their like replaced by *values*, one after the other."""
    rest = iter(values)

    def replaced(match: re.Match[str]) -> str:
        if match[1] == "%":
            return "%"
        value = next(rest, None)
        return f'"{as_text(value)}"' if match[1] == "q" else as_text(value)

    return _VERB.sub(replaced, text)
