"""What the executions of an instance wrote: from one continue-as-new to the next."""

import json
from base64 import b64decode
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

from temporalio.client import Client, WorkflowHistory

from swf_temporal.runtime.ids import WORKFLOW_TYPES


@dataclass(frozen=True, slots=True)
class Execution:
    workflow_id: str
    history: dict[str, Any]

    @classmethod
    def of(cls, history: WorkflowHistory) -> "Execution":
        return cls(history.workflow_id, json.loads(history.to_json()))

    @property
    def definition_id(self) -> str:
        name: str = self._began["workflowType"]["name"]
        return name

    @property
    def arguments(self) -> list[Any]:
        return [_value(payload) for payload in self._began["input"]["payloads"]]

    @property
    def calls(self) -> Iterator[Any]:
        for event in self.history["events"]:
            scheduled = event.get("activityTaskScheduledEventAttributes")
            if scheduled is not None:
                yield _value(scheduled["input"]["payloads"][0])

    @property
    def local_activities(self) -> Iterator[str]:
        for event in self.history["events"]:
            data = event.get("markerRecordedEventAttributes", {}).get("details", {}).get("data")
            if data is not None:
                yield _value(data["payloads"][0])["activity_type"]

    @property
    def identities(self) -> Iterator[str]:
        for event in self.history["events"]:
            completed = event.get("workflowTaskCompletedEventAttributes")
            if completed is not None:
                yield completed["identity"]

    @property
    def next_run(self) -> str | None:
        ended = self.history["events"][-1].get("workflowExecutionContinuedAsNewEventAttributes", {})
        run: str | None = ended.get("newExecutionRunId")
        return run

    @property
    def children(self) -> Iterator[str]:
        for event in self.history["events"]:
            begun = event.get("childWorkflowExecutionStartedEventAttributes")
            if begun is not None and begun["workflowType"]["name"] not in WORKFLOW_TYPES:
                yield begun["workflowExecution"]["workflowId"]

    @property
    def _began(self) -> dict[str, Any]:
        began: dict[str, Any] = self.history["events"][0]["workflowExecutionStartedEventAttributes"]
        return began


async def executions(client: Client, workflow_id: str, run_id: str | None) -> AsyncIterator[Execution]:
    """Yield the executions of an instance, and of its sub-workflows, beginning with *run_id*."""
    while run_id is not None:
        history: WorkflowHistory = await client.get_workflow_handle(workflow_id, run_id=run_id).fetch_history()
        execution = Execution.of(history)
        yield execution
        for child in execution.children:
            first = (await client.get_workflow_handle(child).describe()).raw_description
            async for one in executions(client, child, first.workflow_execution_info.first_run_id):
                yield one
        run_id = execution.next_run


def _value(payload: dict[str, Any]) -> Any:
    return json.loads(b64decode(payload["data"])) if "data" in payload else None
