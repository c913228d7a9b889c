"""Spans of calls: one for each attempt, and none for the moment at which a call was asked for.

The SDK's interceptor makes a span without a duration for each activity that an instance asks for, beside those of its
attempts. It costs a worker as much as these, and tells nothing that they do not. So activities are asked for past it,
with the header that the instance was started with: the attempts belong to its trace, without anything in between.
"""

from typing import Any, Final, TypeVar

from temporalio import client, worker, workflow
from temporalio.contrib.opentelemetry import TracingInterceptor
from temporalio.worker import StartActivityInput, StartLocalActivityInput

_Input = TypeVar("_Input", StartActivityInput, StartLocalActivityInput)

HEADER: Final = TracingInterceptor().header_key


class AttemptSpans(client.Interceptor, worker.Interceptor):
    """Follows the SDK's interceptor in the list of a client."""

    def workflow_interceptor_class(
        self,
        input: worker.WorkflowInterceptorClassInput,  # noqa: A002, ARG002 - its name there
    ) -> type[worker.WorkflowInboundInterceptor]:
        return _Inbound


class _Inbound(worker.WorkflowInboundInterceptor):
    def init(self, outbound: worker.WorkflowOutboundInterceptor) -> None:
        super().init(_Outbound(outbound))


class _Outbound(worker.WorkflowOutboundInterceptor):
    """What a workflow asks for comes here first: `next` is the SDK's, and what follows is whatever else there is."""

    def start_activity(self, input: StartActivityInput) -> workflow.ActivityHandle[Any]:  # noqa: A002 - its name there
        return self.next.next.start_activity(_with_trace(input))

    def start_local_activity(
        self,
        input: StartLocalActivityInput,  # noqa: A002 - its name there
    ) -> workflow.ActivityHandle[Any]:
        return self.next.next.start_local_activity(_with_trace(input))


def _with_trace(asked: _Input) -> _Input:
    trace = workflow.info().headers.get(HEADER)
    if trace is not None:  # else no client has traced the start
        asked.headers = {**asked.headers, HEADER: trace}
    return asked
