"""The retry rule for a definition's retry strategy (sections "Retry Definition" and "Action retries").

In the draft of November 2019 a retry applies to one result, or one error, of a function. Each attempt is a separate
call, since a result may require the next. When the attempts are used up, the state is left for the state that the retry
names (section "Retry Definition").
"""

from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, Final

from swf_temporal.base.data import JSON
from swf_temporal.base.durations import parse_duration
from swf_temporal.base.errors import CallFailed, ExpressionFailed, SubflowFailed, TimedOut, WorkflowFault
from swf_temporal.expressions.comparing import is_equal
from swf_temporal.languages.serverless_workflow.execution.frames import ActionFrame, ActionResult
from swf_temporal.languages.serverless_workflow.execution.lane import Lane
from swf_temporal.languages.serverless_workflow.execution.last_keys import FILTER_ERROR
from swf_temporal.languages.serverless_workflow.execution.step import Diverted
from swf_temporal.languages.serverless_workflow.model.actions import Action, ResultRetry
from swf_temporal.languages.serverless_workflow.model.states import OnError, StateBase
from swf_temporal.languages.serverless_workflow.model.workflow import Retry
from swf_temporal.runtime.host import TraceKind
from swf_temporal.runtime.retrying import (
    DEFAULT_DELAY,
    DEFAULT_MULTIPLIER,
    AttemptsFrame,
    ErrorName,
    RetryRule,
    covers,
    describes,
    is_called,
)
from swf_temporal.runtime.trace import ActionRetried, failed_attempt

_FORBIDDEN: Final = ({401, 403}, {"PERMISSION_DENIED", "UNAUTHENTICATED"})
_INVALID: Final = ({400, 422}, {"INVALID_ARGUMENT"})

WORDS: Final[dict[str, Callable[[WorkflowFault], bool]]] = {
    "SYS.Timeout": lambda fault: isinstance(fault, TimedOut) or fault.status in (408, 504),
    "SYS.Fail": lambda fault: isinstance(fault, CallFailed | SubflowFailed),
    "SYS.MatchAny": lambda _: True,
    "SYS.Permission": lambda fault: fault.status in _FORBIDDEN[0] or fault.code in _FORBIDDEN[1],
    "SYS.InvalidParameter": lambda fault: fault.status in _INVALID[0] or fault.code in _INVALID[1],
    "SYS.FilterError": lambda fault: fault.code == FILTER_ERROR or isinstance(fault, ExpressionFailed),
}
"""The errors that the draft's predecessor names; SYS.MatchAny matches any error, but no result."""


async def with_result_retries(
    action: Action,
    name: str,
    attempt: Callable[[], Coroutine[Any, Any, ActionResult]],
    given: Callable[[], Coroutine[Any, Any, JSON]],
    lane: Lane[ActionFrame],
) -> ActionResult:
    """Return the effect of the first *attempt* to which no retry of *action* applies.

    Raises Diverted if a retry that is used up names the next state; at once if the input of each attempt, *given*,
    cannot be selected, since the data stay the same.
    """
    frame = lane.frame
    attempts = frame.retries = frame.retries or AttemptsFrame()

    async def delay_after(outcome: ActionResult | WorkflowFault) -> float | None:
        fault = lane.locate(outcome, name) if isinstance(outcome, WorkflowFault) else None
        result = None if frame.result is None else frame.result.value
        index = await lane.run.evaluated(lambda: _applicable_retry(action, fault, result))
        if index is None:
            return None
        is_futile = fault is not None and not (fault.retryable and await _is_selectable(given))
        if not _may_repeat(action.result_retries[index], index, fault, attempts, is_futile=is_futile):
            return None
        retry = action.result_retries[index]
        attempts.counts[str(index)] = attempts.counts.get(str(index), 0) + 1
        failed: ActionRetried = {"attempt": attempts.number, "error": retry.match}
        lane.emit(
            TraceKind.ACTION_RETRIED, name, **(failed if fault is None else failed_attempt(attempts.number, fault))
        )
        # Reset everything to the state before the call.
        frame.done, frame.result, frame.call, frame.attempts, frame.deadline = False, None, None, None, None
        frame.id = None
        return 0.0 if retry.interval is None else (await lane.duration(retry.interval, None)).total_seconds()

    return await lane.repeat(attempts, attempt, delay_after, name)


def _applicable_retry(action: Action, fault: WorkflowFault | None, result: JSON) -> int | None:
    """Return the index of the first retry of *action* for *fault* or, if there is none, for *result*."""
    for index, retry in enumerate(action.result_retries):
        if fault is None:
            if not isinstance(result, dict | list) and is_equal(result, retry.match):
                return index
        elif fault.catchable and (
            WORDS[retry.match](fault) if retry.match in WORDS else covers((retry.match, None), fault)
        ):
            return index
    return None


async def _is_selectable(given: Callable[[], Coroutine[Any, Any, JSON]]) -> bool:
    try:
        await given()
    except WorkflowFault:
        return False
    return True


def _may_repeat(
    retry: ResultRetry, index: int, fault: WorkflowFault | None, attempts: AttemptsFrame, *, is_futile: bool
) -> bool:
    """Return True if the function is to be called again. Raises Diverted if not, and *retry* names the next state."""
    is_used_up = retry.times is not None and attempts.counts.get(str(index), 0) >= retry.times
    if not (is_used_up or is_futile):
        return True
    if retry.next_state is not None:
        raise Diverted(retry.next_state, fault)
    return False


def rule_of(
    retry: Retry | None,
    *,
    auto_retries: bool,
    retryable: Sequence[ErrorName],
    non_retryable: Iterable[ErrorName],
) -> RetryRule | None:
    """Return the rule for an action, or None if it is not retried.

    Without autoRetries an action is retried only if it names a retry definition: on its retryableErrors if it names
    any, else on every error. With autoRetries every action is retried, except on its nonRetryableErrors.
    """
    if retry is None:
        return RetryRule(multiplier=DEFAULT_MULTIPLIER, never=tuple(non_retryable)) if auto_retries else None
    jitter, is_fraction = _jitter(retry.jitter)
    increment, multiplier = _growth(retry)
    attempts = retry.max_attempts
    return RetryRule(
        delay=DEFAULT_DELAY if retry.delay is None else parse_duration(retry.delay).total_seconds(),
        increment=increment,
        multiplier=multiplier,
        max_delay=None if retry.max_delay is None else parse_duration(retry.max_delay).total_seconds(),
        max_attempts=None if attempts is None else max(1, int(attempts) + retry.counts_retries),
        jitter=jitter,
        jitter_is_fraction=is_fraction,
        only=() if auto_retries else tuple(retryable),
        never=tuple(non_retryable),
    )


def _growth(retry: Retry) -> tuple[float, float]:
    """Return increment and multiplier; a multiplier written as a duration is an increment, as in older texts."""
    increment = 0.0 if retry.increment is None else parse_duration(retry.increment).total_seconds()
    if isinstance(retry.multiplier, str) and retry.multiplier.startswith(("P", "+P")):
        return increment + parse_duration(retry.multiplier).total_seconds(), 1.0
    return increment, 1.0 if retry.multiplier is None else float(retry.multiplier)


def _jitter(jitter: float | str | None) -> tuple[float, bool]:
    if jitter is None:
        return 0.0, False
    if isinstance(jitter, str) and jitter.startswith(("P", "+P")):
        return parse_duration(jitter).total_seconds(), False
    return float(jitter), True


def handler_of(
    state: StateBase, errors: dict[str, ErrorName], fault: WorkflowFault, *, closest: bool = False
) -> OnError | None:
    """Return the first onErrors entry of *state* that covers *fault*, in the order written.

    With *closest*, an entry with its name or code comes first, then one with a pattern. Raises ExpressionLimitExceeded
    if matching takes too long.
    """
    if not fault.catchable:
        return None
    named = [(entry, _names(entry, errors)) for entry in state.on_errors]
    if closest:
        for is_close in (is_called, describes):
            for entry, names in named:
                if any(is_close(name, fault) for name in names):
                    return entry
    return next((one for one, names in named if any(covers(name, fault, slow_is_fatal=True) for name in names)), None)


def handler_of_timeout(state: StateBase, errors: dict[str, ErrorName], fault: TimedOut) -> OnError | None:
    """Return the onErrors entry that names the timeout.

    A missed event is an error only if the author says so; an entry that merely catches everything does not say so.
    """
    return next((one for one in state.on_errors if any(fault.name in name for name in _names(one, errors))), None)


def _names(entry: OnError, errors: dict[str, ErrorName]) -> list[ErrorName]:
    return [(ref, entry.code) if entry.code is not None else errors.get(ref, (ref, None)) for ref in entry.error_refs]
