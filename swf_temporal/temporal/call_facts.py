"""Facts of a call or sub-workflow that Temporal shows or schedules by: summary and priority.

A fact that is added to `runtime.host.CallFacts` is handed to Temporal here, for activities and children alike.
"""

from typing import TypedDict

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
    return {"summary": of_call(call), "priority": _priority(call)}


def child_facts(call: CallFacts) -> ChildFacts:
    return {"static_summary": of_call(call), "priority": _priority(call)}


def _priority(call: CallFacts) -> Priority:
    """Return the priority of *call*. Where it has none, the engine takes that of the workflow."""
    return Priority.default if call.priority is None else Priority(priority_key=call.priority)
