"""`swf status`, `logs`, `result` and `list`."""

from enum import StrEnum
from typing import Annotated

import typer

from swf_temporal.cli.instance_filters import InstanceFilters, instance_filters
from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.cli.options import (
    Address,
    AlsoWorkflowId,
    Namespace,
    Output,
    WorkflowId,
    ask,
    list_filter,
    one_id,
    spread,
)
from swf_temporal.cli.output import OutputFormat

EXAMPLES = {
    "status": "Example: swf status order-42 --trace",
    "logs": "Example: swf logs order-42 --follow",
    "result": "Example: swf result order-42",
    "list": "Example: swf list --status running --definition orders",
}


class Status(StrEnum):
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TERMINATED = "terminated"
    TIMED_OUT = "timed-out"
    CONTINUED = "continued"


def status(
    workflow_id: WorkflowId = None,
    *,
    also_workflow_id: AlsoWorkflowId = None,
    trace: Annotated[bool, typer.Option("--trace", help="Also show the trace.")] = False,
    form: Output = OutputFormat.TEXT,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """Show the state of an instance and the events that it waits for."""
    chosen = one_id(workflow_id, also_workflow_id)
    with default_sigint():
        from swf_temporal.cli.instance_display import InstanceDisplay
    look = InstanceDisplay(form, address, namespace)
    ask(lambda client: look.at_one(client, chosen, with_trace=trace), address, namespace)


def logs(
    workflow_id: WorkflowId = None,
    *,
    also_workflow_id: AlsoWorkflowId = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Show new entries as they arrive, until the instance ends.")
    ] = False,
    form: Output = OutputFormat.TEXT,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """Show the trace of an instance, the latest 2,000 entries.

    If the instance continued as new, the trace begins there. A worker must be running, even if the instance has ended.
    In JSON each entry is a line.
    """
    chosen = one_id(workflow_id, also_workflow_id)
    with default_sigint():
        from swf_temporal.cli.instance_display import how_to_connect
        from swf_temporal.cli.progress import show_trace
    connecting = how_to_connect(address, namespace)
    ask(lambda client: show_trace(client, chosen, form, connecting, follow=follow), address, namespace, waits=follow)


def result(
    workflow_id: WorkflowId = None,
    *,
    also_workflow_id: AlsoWorkflowId = None,
    form: Output = OutputFormat.JSON,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """Wait for an instance to end and print its output.

    If it has no output, prints the reason and exits with 1.
    """
    chosen = one_id(workflow_id, also_workflow_id)
    with default_sigint():
        from swf_temporal.cli.instance_display import how_to_connect, show_result
    connecting = how_to_connect(address, namespace)
    ask(lambda client: show_result(client, chosen, form, connecting), address, namespace, waits=True)


@spread("filters", instance_filters)
def list_(
    *,
    status: Annotated[Status | None, typer.Option("--status", help="Only instances with this status.")] = None,
    filters: InstanceFilters,
    query: Annotated[
        str | None,
        list_filter(
            "Only instances that match this list filter of Temporal, such as \"StartTime > '2030-01-01T00:00:00Z'\"."
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="NUMBER", min=1, help="The maximum number of instances.")
    ] = 20,
    everything: Annotated[
        bool, typer.Option("--all", help="Also list the workflows that hold events and variables.")
    ] = False,
    form: Output = OutputFormat.TEXT,
    address: Address = None,
    namespace: Namespace = None,
) -> None:
    """List instances: first the running ones, then those that ended last.

    If there are more than are shown, stderr says how many. Versions, states, keys, errors, and what instances wait for
    are only known of those whose workers set search attributes.
    """
    with default_sigint():
        from swf_temporal.cli.instance_display import InstanceDisplay
        from swf_temporal.operations.listing import filter_of
    look = InstanceDisplay(form, address, namespace)
    conditions = filters.conditions()
    wanted = filter_of(status, filters.definition, query, conditions=conditions, only_instances=not everything)
    is_all = not (status or query or filters)
    ask(lambda client: look.at_many(client, wanted, limit, is_all=is_all), address, namespace)
