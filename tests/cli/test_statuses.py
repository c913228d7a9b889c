"""Instances with a status that the SDK has no word for, on a server that tells of them."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflow.v1 import WorkflowExecutionInfo
from temporalio.api.workflowservice.v1 import (
    CountWorkflowExecutionsResponse,
    DescribeNamespaceResponse,
    DescribeWorkflowExecutionRequest,
    DescribeWorkflowExecutionResponse,
    GetSystemInfoResponse,
    ListWorkflowExecutionsResponse,
)

from tests.cli.answering_server import answering_server
from tests.cli.conftest import Swf

STATUSES = {"paused": 8, "77": 77}
"""Numbers of statuses, by the ids of the instances that have them."""


def _info(instance: str) -> WorkflowExecutionInfo:
    return WorkflowExecutionInfo(execution=WorkflowExecution(workflow_id=instance), status=STATUSES[instance])  # type: ignore[arg-type]


def _describe(request: bytes, _: Any) -> bytes:
    instance = DescribeWorkflowExecutionRequest.FromString(request).execution.workflow_id
    return DescribeWorkflowExecutionResponse(workflow_execution_info=_info(instance)).SerializeToString()


def _list(_: bytes, __: Any) -> bytes:
    return ListWorkflowExecutionsResponse(executions=map(_info, STATUSES)).SerializeToString()


@pytest.fixture
def address() -> Iterator[str]:
    """Return the address of a server with such instances, for which no worker answers."""
    answers = {
        "GetSystemInfo": lambda *_: GetSystemInfoResponse().SerializeToString(),
        "DescribeNamespace": lambda *_: DescribeNamespaceResponse().SerializeToString(),
        "DescribeWorkflowExecution": _describe,
        "ListWorkflowExecutions": _list,
        "CountWorkflowExecutions": lambda *_: CountWorkflowExecutionsResponse(count=2).SerializeToString(),
    }
    with answering_server(answers) as served:
        yield served


def test_statuses_that_the_sdk_does_not_know(swf: Swf, address: str) -> None:
    """They are shown by name where there is one, and by number otherwise, and such an instance has not ended."""
    for instance in STATUSES:
        shown = swf("status", instance, "--output", "json", "--address", address)
        assert (shown.code, json.loads(shown.out)["status"]) == (0, instance)
        why = "the server did not answer" if instance == "paused" else "no worker answers"
        assert why in swf("logs", instance, "--address", address).err
        # Refused by the server, and not because it had ended.
        assert "ended" not in swf("cancel", instance, "--address", address).err
    listed = swf("list", "--output", "json", "--address", address)
    assert [row["status"] for row in json.loads(listed.out)] == list(STATUSES)
    assert swf("tasks", "list", "--address", address).code == 0
