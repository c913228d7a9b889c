"""Metrics of runs, beside those of Temporal's SDK: the runtime of the SDK exports both."""

from temporalio import workflow

from swf_temporal.runtime.host import TraceEntry


def count_failed_action(entry: TraceEntry) -> None:
    """Count an action that failed for good, once: not again where a run is replayed."""
    counter = workflow.metric_meter().create_counter("swf_failed_actions", "Actions that failed for good")
    where = {"state": entry.state, "action": entry.name}
    counter.add(1, {**where, "function": entry.detail.get("function", ""), "error": entry.detail["error"]})
