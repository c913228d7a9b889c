"""Spans of states, where the process traces: the SDK's interceptor has those of instances and calls."""

from collections.abc import Callable, Mapping
from datetime import datetime

from temporalio import workflow

RecordSpan = Callable[[str, datetime, datetime, Mapping[str, str]], None]
"""Given a name, a beginning, an end and attributes."""

_record: RecordSpan | None = None


def record_states(record: RecordSpan) -> None:
    """Have the states of all instances in the process recorded as spans."""
    global _record  # noqa: PLW0603 - one for the process, as its exporter is
    _record = record


def are_recorded() -> bool:
    """Tell whether the process records states as spans."""
    return _record is not None


def record_state(state: str, begun: datetime, ended: datetime, result: str) -> None:
    """Record a state that was left, once: not again where a run is replayed."""
    if _record is not None and not workflow.unsafe.is_replaying():
        info = workflow.info()
        attributes = {
            "temporalWorkflowID": info.workflow_id,
            "temporalRunID": info.run_id,
            "swf.state": state,
            "swf.result": result,
        }
        _record(f"State:{state}", begun, ended, attributes)
