"""Retries and error handlers as try tasks of DSL 1.0."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from swf_temporal.base.durations import parse_duration
from swf_temporal.base.strict_json import show_json
from swf_temporal.languages.serverless_workflow.model.actions import Action
from swf_temporal.languages.serverless_workflow.model.states import OnError
from swf_temporal.languages.serverless_workflow.model.workflow import Retry
from swf_temporal.languages.serverless_workflow.upgrading.dsl.context import (
    ERRORS,
    NOT_IMPLEMENTED,
    Context,
    Step,
    duration,
    is_refusal,
)
from swf_temporal.languages.serverless_workflow.upgrading.dsl.expressions import Inexpressible
from swf_temporal.runtime.retrying import CATCH_ALL

_STATUS: Final = re.compile(r"(?:HTTP:)?([45]\d\d)")
_TYPES: Final = {"TimedOut": "timeout", "ExpressionFailed": "expression", "SchemaMismatch": "validation"}
ALWAYS: Final = (
    "a retry also repeats what failed with errors that 0.8 never retries, such as wrong arguments or a missing secret,"
    " and does not look at Retry-After"
)
STATUSES: Final = (
    "a status belongs to an answer by HTTP: errors of custom functions and of other workflows have their own types, or"
    " the status 500, whatever their code is"
)
BY_MESSAGE: Final = (
    "{what} {code!r} is looked for in the detail of errors: 1.0 has types and statuses of errors, and no such codes"
)
_MESSAGE: Final = "message "
"""The prefix of codes that are found in the messages of errors."""
GIVEN: Final = (
    "after an error that is caught the data are those with which the failed task began: in 0.8, what it had merged"
    " before stays"
)


def retried(action: Action, step: Step, context: Context) -> Step:
    """Return *step*, which performs *action*, in a try task if the action is retried."""
    policy = _policy(action, context)
    if policy is None:
        return step
    name, task = step
    catch: dict[str, Any] = {}
    errors = [code_of(name, context) for name in action.retryable_errors]
    if errors and not context.workflow.auto_retries:
        catch |= filter_of(errors)
    if action.non_retryable_errors:
        catch["exceptWhen"] = condition_of([code_of(name, context) for name in action.non_retryable_errors])
    if is_refusal(task):
        # It stands for a call that cannot be expressed, and would be repeated for ever where a retry has no limit.
        context.reshaped(
            f"exceptWhen of the retries of {step[0]!r} has the status {NOT_IMPLEMENTED}, of the task that stands in its"
            " place: remove it with that task",
            action,
        )
        tests = [one for one in (catch.get("exceptWhen"), f"$error.status == {NOT_IMPLEMENTED}") if one is not None]
        catch["exceptWhen"] = " or ".join(f"({one})" if "|" in one or " or " in one else one for one in tests)
    condition = task.pop("if", None)
    made = {"try": [{name: task}], "catch": {**catch, "retry": policy}}
    return context.inner.free(f"try {name}"), made if condition is None else {"if": condition, **made}


def is_retried(action: Action, context: Context) -> bool:
    """Return whether *action* is retried."""
    return action.retry_ref is not None or context.workflow.auto_retries


def _policy(action: Action, context: Context) -> Any:
    """Return the retry policy of *action*, by its name if the definition gives it one; None without retries."""
    name = action.retry_ref
    found = next((one for one in context.workflow.retries if one.name == name), None)
    if found is None:
        if not context.workflow.auto_retries:
            return None
        context.note([ALWAYS])
        context.reshaped(
            "autoRetries: actions without a retryRef are retried without a limit, after one second, then twice as long",
            action,
        )
        return {"delay": "PT1S", "backoff": {"exponential": {}}}
    if found.max_attempts is not None and str(found.max_attempts) in ("0", "1"):
        return None
    policy_of(found, context)
    context.note([ALWAYS])
    return found.name


def policy_of(retry: Retry, context: Context) -> dict[str, Any]:
    """Return *retry* as an entry of `use.retries`. Raises Inexpressible."""
    said = f"the retry {retry.name!r}"
    values = (retry.delay, retry.max_attempts, retry.max_delay, retry.increment, retry.multiplier, retry.jitter)
    if any(isinstance(value, str) and "${" in value for value in values):
        raise Inexpressible(f"{said} with an expression")
    if retry.max_delay is not None:
        context.differs(f"the delays of {said} grow without a limit", retry)
    delay = "PT1S" if retry.delay is None else retry.delay
    made: dict[str, Any] = {"delay": duration(delay, context.translate)}
    increment = 0.0 if retry.increment is None else parse_duration(retry.increment).total_seconds()
    factor = 1.0 if retry.multiplier is None else retry.multiplier
    if isinstance(factor, str) and factor.startswith(("P", "+P")):
        increment, factor = increment + parse_duration(factor).total_seconds(), 1.0
    growth = (increment, float(factor))
    if growth == (0.0, 2.0):
        made["backoff"] = {"exponential": {}}
    elif growth == (parse_duration(delay).total_seconds(), 1.0) and increment:
        made["backoff"] = {"linear": {}}
    elif growth != (0.0, 1.0):
        kind = "exponential" if growth[1] > 1.0 else "linear"
        made["backoff"] = {kind: {}}
        how = "to the double each time" if growth[1] > 1.0 else "by the first one each time"
        context.differs(f"the delays of {said} grow {how}", retry)
    if retry.jitter is not None and str(retry.jitter) not in ("0", "0.0", "PT0S"):
        context.differs(f"the jitter of {said} is only added to delays, and is the same for all of them", retry)
        made["jitter"] = {"from": "PT0S", "to": _jitter(retry.jitter, delay)}
    if retry.max_attempts is not None:
        retries = int(retry.max_attempts) - (0 if retry.counts_retries else 1)
        if not retry.counts_retries:
            context.reshaped(f"maxAttempts of {said} counts the first attempt, too: count is {retries}", retry)
        made["limit"] = {"attempt": {"count": retries}}
    return made


def _jitter(jitter: float | str, delay: str) -> str:
    if isinstance(jitter, str) and jitter.startswith(("P", "+P")):
        seconds = parse_duration(jitter).total_seconds()
    else:
        seconds = float(jitter) * parse_duration(delay).total_seconds()
    return f"PT{round(seconds, 3):g}S"


def code_of(name: str, context: Context) -> str:
    """Return the type, the status or the message of the errors that *name* means; an empty text for all."""
    if name in CATCH_ALL:
        return ""
    defined = next((one for one in context.workflow.errors if one.name == name), None)
    code = name if defined is None or defined.code is None else defined.code
    if code in CATCH_ALL:
        return ""
    status = _STATUS.fullmatch(code)
    if defined is not None and name != code:
        what = f"the status {status[1]}" if status is not None else f"the error {code!r}"
        context.reshaped(f"errors have no names: {name!r} is {what}", defined)
    if status is not None:
        if (
            any(one.type == "custom" for one in context.workflow.functions)
            or "subFlowRef" in context.workflow.source.text
        ):
            context.note([STATUSES])
        return status[1]
    if code in _TYPES:
        return f"{ERRORS}{_TYPES[code]}"
    if code == "NoConditionMatched":
        return f"{_MESSAGE}{code}"
    what = "the name of the error" if defined is None or defined.code is None else "the code of the error"
    context.note([BY_MESSAGE.format(what=what, code=code)])
    return f"{_MESSAGE}{code}"


def filter_of(codes: list[str]) -> dict[str, Any]:
    """Return the part of a catch clause that catches the errors with *codes*."""
    if "" in codes:
        return {}
    kept = list(dict.fromkeys(codes))
    if len(kept) > 1:
        return {"when": condition_of(kept)}
    (code,) = kept
    if code.startswith(_MESSAGE):
        return {"when": condition_of(kept)}
    wanted = {"status": int(code)} if code.isdigit() else {"type": code}
    return {"errors": {"with": wanted}}


def catches(task: Mapping[str, Any], code: str) -> bool:
    """Return whether *task* catches the errors with *code* by this."""
    catch = task.get("catch", {})
    return catch.get("errors") == filter_of([code]).get("errors", ()) or _test(code, "$error") in catch.get("when", "")


def condition_of(codes: list[str], error: str = "$error") -> str:
    """Return the condition that *error* has one of *codes*."""
    if "" in codes:
        return "true"
    tests = list(dict.fromkeys(_test(code, error) for code in codes))
    return tests[0] if len(tests) == 1 else " or ".join(f"({test})" if "|" in test else test for test in tests)


def _test(code: str, error: str) -> str:
    if code.startswith(_MESSAGE):
        words = re.sub(r"[\\^$.|?*+(){}\[\]]", r"\\\g<0>", code.removeprefix(_MESSAGE))
        words = re.sub(r"^(?=\w)|(?<=\w)$", r"\\b", words)
        return f'({error}.detail // "") | test({show_json(words)})'
    if code.isdigit():
        return f"{error}.status == {code}"
    return f'({error}.type // "") | endswith("/errors/{code.removeprefix(ERRORS)}")'


def codes_of(entries: Iterable[OnError], context: Context) -> list[str]:
    """Return the types and statuses of the errors that *entries* match."""
    found = []
    for entry in entries:
        with context.at(entry):
            found += [code_of(name, context) for name in entry.error_refs]
    return found


def unmatched(context: Context) -> str:
    """Return the code of the error that no condition of a switch holds."""
    return code_of("NoConditionMatched", context)


def names_timeout(entries: Iterable[OnError], context: Context) -> bool:
    """Return whether one of *entries* matches a timeout by its name, as one of events is to be an error for."""
    return f"{ERRORS}timeout" in codes_of(entries, context)
