"""Pages of an instance: its status, its trace and the events it waits for, and those of its runs."""

from collections.abc import Awaitable, Sequence
from typing import Any, Final

from markupsafe import Markup
from starlette.responses import Response
from temporalio.client import WorkflowExecutionDescription
from temporalio.common import RawValue
from temporalio.service import RPCError

from swf_temporal.base.client_errors import InstanceNotFoundError, RunEnded
from swf_temporal.base.errors import PayloadUnavailable, SwfError, UsageError
from swf_temporal.http.console.forms import awaited_of
from swf_temporal.http.console.pages import segment, shown_json, shown_payload
from swf_temporal.http.console.steps import MAX_ROWS, Entry, folded
from swf_temporal.http.console.visits import Visit
from swf_temporal.http.gateway.instances import TenantInstance, instance_of
from swf_temporal.http.gateway.refusals import Refused
from swf_temporal.operations.audit import AuditTrail, audit_trail
from swf_temporal.operations.client import Client
from swf_temporal.operations.instance_history import (
    RunFacts,
    first_start,
    history_of_run,
    input_of_start,
    list_runs,
    record_of_start,
)
from swf_temporal.operations.instances import execution_of, facts_of
from swf_temporal.operations.listing import PAUSED, is_open, row_of
from swf_temporal.operations.rerunning import RETRIED
from swf_temporal.operations.steps import word_of
from swf_temporal.settings.http import Operation
from swf_temporal.temporal.client import Handle, query, result
from swf_temporal.temporal.connecting import Server
from swf_temporal.temporal.continuing import trace_to_json

MAX_RUNS: Final = 50
"""The number of runs on a page: the latest, or on the page of a run those before it."""
DONE: Final = {
    "sent": "The event was sent.",
    "cancel": "The instance was asked to cancel.",
    "terminate": "The instance was terminated.",
    "pause": "The instance is paused.",
    "resume": "The instance was resumed.",
    "retry": "The instance was retried.",
    "rerun": "The instance runs again.",
}
"""The confirmation of each action."""


async def show_instance(visit: Visit) -> Response:
    """Show an instance, or one of its runs."""
    found, run = await _instance(visit), visit.query("run")
    return await (_show_run(visit, found, run) if run else shown(visit, found))


async def _show_run(visit: Visit, found: TenantInstance, run_id: str) -> Response:
    """Show the trace of one run of an instance, and the runs before it."""
    client, instance_id = visit.asked.client, found.instance.id
    runs = [one async for one in list_runs(client, instance_id)]
    number = next((number for number, one in enumerate(runs) if one.described.run_id == run_id), None)
    if number is None or not visit.asked.tenant.has_workflow(runs[number].described.workflow_type):
        raise InstanceNotFoundError(f"there is no run {run_id!r} of {instance_id!r}", instance=instance_id)
    [followed] = await (await history_of_run(client, instance_id, run_id)).replayed(client.temporal.data_converter)
    drawn, why = list[Markup](), ""
    try:
        found_drawn = await visit.drawing.pictures_of(visit.asked, instance_id, run_id)
        drawn = [Markup(one) for one in found_drawn.pictures]  # noqa: S704 - it escapes all texts
    except UsageError as error:
        why = str(error)
    trace = folded([{**one, "run": run_id} for one in trace_to_json(followed.trace)])
    return visit.page(
        "run.html",
        instance_id=instance_id,
        run=_run_row(runs[number]),
        earlier=[_run_row(one) for one in runs[number + 1 :][:MAX_RUNS]],
        trace=trace[: -MAX_ROWS - 1 : -1],
        entries=len(followed.trace),
        trail=await audit_trail(client, runs[number].described),
        word=word_of(followed),
        drawn=drawn,
        why=why,
    )


def _run_row(run: RunFacts) -> dict[str, Any]:
    return {**row_of(run.described), "why": run.why}


async def shown(visit: Visit, found: TenantInstance, refusal: Refused | None = None) -> Response:
    """Show an instance, with the reason for a refusal.

    Those who may not read are only told the refusal, which is raised.
    """
    if refusal is not None and not visit.may(Operation.READ):
        raise refusal
    live = await live_of(visit.asked.client, found)
    if not visit.may(Operation.TASKS):
        live["awaited"] = []
    row = await found.instance.handle.describe()
    runs = [_run_row(one) async for one in list_runs(visit.asked.client, row.id, MAX_RUNS)]
    return visit.page(
        "instance.html",
        422 if refusal else 200,
        runs=runs,
        instance_id=found.instance.id,
        definition=found.definition,
        parent=row.parent_id,
        input=await _input_of(visit.asked.client, row),
        refusal=refusal,
        done=DONE.get(visit.query("done"), ""),
        link=_ui_link(visit, found),
        **live,
    )


def _ui_link(visit: Visit, found: TenantInstance) -> str | None:
    """Return the address of an instance in the Temporal UI, if that is known and the person may be told."""
    if (ui := visit.asked.settings.temporal_ui) is not None:
        return Server(visit.asked.client.temporal, ui.rstrip("/")).link(found.instance.id)
    return found.instance.link if visit.asked.sees_everything else None


async def live_of(client: Client, found: TenantInstance, trail: AuditTrail | None = None) -> dict[str, Any]:
    """Return what changes while an instance runs, for the templates. *trail* is what was known of it before."""
    instance = found.instance
    facts = await facts_of(client, instance.id, with_trace=True)
    trace = [{**one, "run": facts["runId"]} for one in facts.pop("trace", [])]
    rows = folded(trace)[: -MAX_ROWS - 1 : -1]
    _link_calls(facts, trace)
    is_running = is_open(facts["status"])
    data = output = None
    if is_running and "note" not in facts:
        data = await _shown(client, query(client.temporal, instance.id, "data", result_type=RawValue))
    if facts["status"] == "completed":
        handle: Handle = client.temporal.get_workflow_handle(instance.id, result_type=RawValue)
        output = await _shown(client, result(handle))
    return {
        "facts": facts,
        "path": f"/console/instances/{segment(instance.id)}",
        "trace": rows,
        "cut": trace[-1]["number"] + 1 - sum(row.size for row in rows) if trace else 0,
        "failed": _failed(trace) if facts["status"] in RETRIED else None,
        "is_open": is_running,
        "has_failed": facts["status"] in RETRIED,
        "is_paused": facts["status"] == PAUSED,
        "awaited": awaited_of(instance.id, found.definition, facts) if is_running else [],
        "data": data,
        "output": output,
        "trail": await audit_trail(client, await execution_of(client, instance.id), trail),
    }


def _failed(trace: Sequence[Entry]) -> Entry | None:
    """Return the entry about the call that an instance failed with, or else about its failure."""
    ends = [one for one in trace[-_NEAR_END:] if one["kind"] in ("action-failed", "workflow-failed")]
    return next((one for one in reversed(ends) if one["kind"] == "action-failed"), ends[-1] if ends else None)


_NEAR_END: Final = 20
"""The number of entries at the end of a trace among which that is sought."""


def _link_calls(facts: dict[str, Any], trace: Sequence[Entry]) -> None:
    """Add to the calls in progress the numbers of the entries that began them."""
    begun = [one for one in trace if one["kind"] == "action-started"]
    by_place = {f"{one['lane']}/{one['name']}": one["number"] for one in begun}
    by_lane = {one["lane"].lstrip("/"): one["number"] for one in begun}
    for call in facts.get("calls", ()):
        place = call["id"].rpartition("#")[0]
        number = by_place.get(place, by_lane.get(place))
        if number is not None:
            call["entry"] = number


async def _shown(client: Client, asked: Awaitable[Any]) -> str | None:
    """Return the awaited value as shown JSON; None if it is unavailable."""
    try:
        return shown_payload((await asked).payload, client.temporal.data_converter)
    except (SwfError, RunEnded):
        return None


async def _input_of(client: Client, row: WorkflowExecutionDescription) -> str | None:
    """Return the input of an instance as shown JSON; None if it is unavailable."""
    try:
        start = await first_start(client, row.id, row.run_id)
        given = start.workflow_execution_started_event_attributes.input.payloads
        converter = client.temporal.data_converter
        if "progress" in await record_of_start(converter, given):  # the run continues another: its input is in there
            return shown_json(await input_of_start(converter, given))
        raw = await converter.decode(given[:1], [RawValue] * len(given[:1]))
        return shown_payload(raw[0].payload, converter) if raw else shown_json(None)
    except (RPCError, PayloadUnavailable, ValueError, RuntimeError):
        return None


async def _instance(visit: Visit) -> TenantInstance:
    return await instance_of(visit.asked, visit.asked.path_id(), 1.0)
