"""Spans of instances and of their states, if the process traces: each is recorded once, when it ends."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from temporalio import workflow


@dataclass(frozen=True, slots=True)
class EndedSpan:
    name: str
    begun: datetime
    ended: datetime
    attributes: Mapping[str, str]
    error: str | None = None
    """The message of the error with which it ended, if it failed."""
    serves: bool = False
    """True if it is the work that a client asked for, false if it is a part of that."""


RecordSpan = Callable[[EndedSpan], None]

_record: RecordSpan | None = None


def record_spans(record: RecordSpan) -> None:
    """Record the instances in the process, and their states, as spans."""
    global _record  # noqa: PLW0603 - one for the process, as its exporter is
    _record = record


def are_recorded() -> bool:
    """Return whether the process records spans."""
    return _record is not None


def record_instance(result: str, error: str | None = None) -> None:
    """Record the execution of an instance that is ending."""
    if _record is not None and not workflow.unsafe.is_replaying():
        info = workflow.info()
        name, attributes = f"RunWorkflow:{info.workflow_type}", _attributes(info, result)
        _record(EndedSpan(name, info.workflow_start_time, workflow.now(), attributes, error, serves=True))


def record_state(state: str, begun: datetime, ended: datetime, result: str) -> None:
    """Record a state that was left."""
    if _record is not None and not workflow.unsafe.is_replaying():
        attributes = _attributes(workflow.info(), result)
        attributes["swf.state"] = state
        _record(EndedSpan(f"State:{state}", begun, ended, attributes))


def _attributes(info: workflow.Info, result: str) -> dict[str, str]:
    return {"temporalWorkflowID": info.workflow_id, "temporalRunID": info.run_id, "swf.result": result}
