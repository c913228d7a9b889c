"""The facts of retry strategies: in words, and as delays in seconds."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from swf_temporal.base.durations import format_duration
from swf_temporal.languages.serverless_workflow.execution.retries import rule_of
from swf_temporal.languages.serverless_workflow.model.definitions import Retry
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow
from swf_temporal.languages.serverless_workflow.outlining.written import written
from swf_temporal.runtime.retrying import RetryRule

_SHOWN = 5
"""The number of delays that are listed."""


def facts_of_retries(workflow: Workflow) -> list[dict[str, Any]]:
    """Return what each retry definition comes to and, under the name null, what `autoRetries` does without one.

    Delays are those after the first attempts, in seconds, jitter left out.
    """
    return [_facts(retry) for retry in (*workflow.retries, *([None] if workflow.auto_retries else []))]


def _facts(retry: Retry | None) -> dict[str, Any]:
    given = {"name": None} if retry is None else written(retry)
    try:
        rule = rule_of(retry, auto_retries=retry is None, retryable=(), non_retryable=())
    except ValueError:
        return given | {"words": "as its expressions say, which only a run can tell"}
    if rule is None:
        return given | {"words": "not tried again"}
    delays = _delays(rule)
    return given | {"delays": [delay.total_seconds() for delay in delays], "words": _words(rule, delays)}


def _delays(rule: RetryRule) -> list[timedelta]:
    even = replace(rule, jitter=0.0)
    found = (even.delay_after(attempt) for attempt in range(1, _SHOWN + 1))
    return [delay for delay in found if delay is not None]


def _words(rule: RetryRule, delays: list[timedelta]) -> str:
    if not delays:
        return "not tried again"
    is_all = rule.max_attempts is not None and rule.max_attempts <= _SHOWN + 1
    attempts = "without limit" if rule.max_attempts is None else f"{rule.max_attempts} attempts in all"
    words = f"{attempts}, after {', '.join(map(format_duration, delays))}{'' if is_all else ' …'}"
    if rule.jitter:
        spread = f"{rule.jitter:.0%}" if rule.jitter_is_fraction else format_duration(timedelta(seconds=rule.jitter))
        words += f", each up to {spread} sooner or later"
    if rule.max_delay is not None:
        words += f", never more than {format_duration(timedelta(seconds=rule.max_delay))}"
    return words
