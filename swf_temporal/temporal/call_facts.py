"""Facts of a call or sub-workflow that Temporal shows or schedules by: summary, priority and fairness.

A fact that is added to `runtime.host.CallFacts` is handed to Temporal here, for activities and children alike.
"""

from typing import TypedDict

from temporalio import workflow
from temporalio.common import Priority

from swf_temporal.runtime.host import CallFacts
from swf_temporal.temporal.summaries import of_call


class ActivityFacts(TypedDict):
    """Arguments of `execute_activity`."""

    summary: str
    priority: Priority


class ChildFacts(TypedDict):
    """Arguments of `start_child_workflow`."""

    static_summary: str
    priority: Priority


def activity_facts(call: CallFacts) -> ActivityFacts:
    return {"summary": of_call(call), "priority": Priority(call.priority)}


def child_facts(call: CallFacts) -> ChildFacts:
    return {"static_summary": of_call(call), "priority": Priority(call.priority, _fairness_key())}


def _fairness_key() -> str:
    """Return what all sub-workflows beneath an instance have in common: the key that it has, or its run id.

    A server that is fair gives each key its turn. So sub-workflows that multiply hold up each other, and nobody else.
    """
    info = workflow.info()
    return info.priority.fairness_key or info.first_execution_run_id
