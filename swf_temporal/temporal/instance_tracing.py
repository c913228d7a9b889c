"""What carries a trace into instances and on to their calls, with the spans that tell something, and no others.

The SDK's interceptor makes two spans without a duration for each instance, when it begins and when it ends, and one for
the moment at which an activity is asked for, beside those of its attempts. Each costs a worker as much as one with a
duration. Here an instance has one span, which is recorded when it ends (`temporal/spans.py`), and activities are asked
for past the SDK's interceptor, with the header that the instance was started with: the attempts belong to its trace,
without anything in between. Signals, updates, queries and sub-workflows are left to the SDK.
"""

from typing import Any, Final, TypeVar

from opentelemetry import context
from temporalio import workflow
from temporalio.contrib.opentelemetry import TracingInterceptor, TracingWorkflowInboundInterceptor
from temporalio.worker import (
    ExecuteWorkflowInput,
    StartActivityInput,
    StartLocalActivityInput,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
    WorkflowOutboundInterceptor,
)

_Input = TypeVar("_Input", StartActivityInput, StartLocalActivityInput)

HEADER: Final = TracingInterceptor().header_key


class InstanceTracing(TracingInterceptor):
    def workflow_interceptor_class(
        self,
        input: WorkflowInterceptorClassInput,  # noqa: A002 - its name there
    ) -> type[TracingWorkflowInboundInterceptor]:
        super().workflow_interceptor_class(input)  # it tells workflow code how to make the spans that are the SDK's
        return _Inbound


class _Inbound(TracingWorkflowInboundInterceptor):
    def __init__(self, next: WorkflowInboundInterceptor) -> None:  # noqa: A002 - its name there
        super().__init__(_Inner(next))

    async def execute_workflow(self, input: ExecuteWorkflowInput) -> Any:  # noqa: A002 - its name there
        """Run the workflow in the trace that it was started in, which its task and those that it makes have then."""
        trace = workflow.info().headers.get(HEADER)
        if trace is not None:  # else no client has traced the start
            [carrier] = self.payload_converter.from_payloads([trace])
            context.attach(self.text_map_propagator.extract(carrier))
        return await self.next.execute_workflow(input)


class _Inner(WorkflowInboundInterceptor):
    """What the SDK's interceptor has the workflow ask through comes here, before it goes to the workflow."""

    def init(self, outbound: WorkflowOutboundInterceptor) -> None:
        super().init(_Outbound(outbound))


class _Outbound(WorkflowOutboundInterceptor):
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
