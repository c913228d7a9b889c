"""Facts of a call or sub-workflow that Temporal shows or schedules by: summary and priority.

A fact that is added to `runtime.host.CallFacts` is handed to Temporal here, for activities and children alike.
"""

from typing import TypedDict

from temporalio.common import Priority

from swf_temporal.runtime.host import CallFacts

MAX_SUMMARY_BYTES = 390
"""The size limit of a summary, in bytes: the server's is 400, with the quotation marks of JSON."""
MAX_SUMMARY_LENGTH = 200
"""The length limit of a summary, in characters: the server's."""


class ActivityFacts(TypedDict):
    """Arguments of `execute_activity`."""

    summary: str
    priority: Priority


class ChildFacts(TypedDict):
    """Arguments of `start_child_workflow`."""

    static_summary: str
    priority: Priority


def activity_facts(call: CallFacts) -> ActivityFacts:
    """Return the facts of *call* for an activity."""
    return {"summary": shortened(call.summary), "priority": _priority(call)}


def child_facts(call: CallFacts) -> ChildFacts:
    """Return the facts of *call* for a child workflow."""
    return {"static_summary": shortened(call.summary), "priority": _priority(call)}


def shortened(text: str) -> str:
    """Return *text* as long as a summary may be."""
    written = text.encode(errors="replace")
    if len(text) <= MAX_SUMMARY_LENGTH and len(written) <= MAX_SUMMARY_BYTES:
        return text
    return written[:MAX_SUMMARY_BYTES].decode(errors="ignore")[: MAX_SUMMARY_LENGTH - 1] + "…"


def _priority(call: CallFacts) -> Priority:
    """Return the priority of *call*. Where it has none, the engine takes that of the workflow."""
    return Priority.default if call.priority is None else Priority(priority_key=call.priority)
