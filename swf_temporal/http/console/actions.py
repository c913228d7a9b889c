"""Actions on one instance, or many: pages that say what each will do and ask first, and carrying them out."""

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from starlette.responses import Response
from temporalio.api.enums.v1 import ParentClosePolicy
from temporalio.client import WorkflowExecutionDescription

from swf_temporal.base.errors import UsageError
from swf_temporal.http.console.instances import shown
from swf_temporal.http.console.lists import ListFilter, counts_of, filter_in, listing, one_of, refusal_of_filter
from swf_temporal.http.console.pages import segment
from swf_temporal.http.console.visits import Visit, redirect
from swf_temporal.http.gateway.instances import TenantInstance, instance_of
from swf_temporal.http.gateway.refusals import Refused, refusal_of
from swf_temporal.operations.changing import CANCEL, PAUSE, RESUME, TERMINATE, Change, Outcome, change_run, for_each
from swf_temporal.operations.client import Client
from swf_temporal.operations.instances import described, execution_of, facts_of
from swf_temporal.operations.listing import PAUSED, RUNNING, Conditions, filter_of, is_open
from swf_temporal.operations.rerunning import RETRIED, GoneOnError, plan_retry
from swf_temporal.runtime.ids import WORKFLOW_TYPES
from swf_temporal.settings.http import Operation
from swf_temporal.temporal.client_errors import has_ended, refusals_as_usage_errors
from swf_temporal.temporal.pausing import pause, resume
from swf_temporal.temporal.statuses import OPEN

MAX_CHANGED: Final = 200
"""The number of instances that one request changes."""
_SECONDS: Final = 12.0
"""Seconds after which no further instance is begun with: a page has to be answered."""
_RUN: Final = "run:"
"""The prefix of a form field with the run of an instance that the person has seen."""

Act = Callable[[Client, str, str, str | None], Awaitable[None]]
"""Changes an instance, by its id, if this is still its run, for a reason."""


async def _retry(client: Client, instance_id: str, run: str, _: str | None) -> None:
    plan = await plan_retry(client, instance_id)
    if run != plan.latest[0]:
        raise GoneOnError(f"{instance_id!r} has been retried meanwhile, and failed again", instance=instance_id)
    await plan.begin(client)


def _changing(change: Change) -> Act:
    async def act(client: Client, instance_id: str, run: str, reason: str | None) -> None:
        await change_run(client, change, instance_id, run, reason)

    return act


@dataclass(frozen=True, slots=True)
class ManyAction:
    name: str
    """The label of its button."""
    made: str
    """The word for its effect in a report."""
    effect: str
    act: Act
    finds: str
    """The list filter for the instances on which it has an effect."""
    permits: Operation = Operation.END
    takes_reason: bool = True
    of_latest_run: bool = False
    """Whether what is found may be an earlier run of an instance, which the action is not about."""


def _any_of(*statuses: str) -> str:
    return f"({' OR '.join(filter_of(one, None) for one in statuses)})"


BULK_ACTIONS: Final = {
    "retry": ManyAction(
        "Retry",
        "retried",
        "Each continues where it failed: what is complete is not repeated.",
        _retry,
        _any_of(*RETRIED),
        Operation.RERUN,
        takes_reason=False,
        of_latest_run=True,
    ),
    "pause": ManyAction(
        "Pause", "paused", "None takes a further step until it is resumed.", _changing(PAUSE), _any_of(RUNNING)
    ),
    "resume": ManyAction(
        "Resume", "resumed", "Each continues where it was paused.", _changing(RESUME), _any_of(PAUSED)
    ),
    "cancel": ManyAction(
        "Cancel",
        "asked to cancel",
        "Each ends as cancelled, after compensating if its definition asks for it.",
        _changing(CANCEL),
        OPEN,
    ),
    "terminate": ManyAction(
        "Terminate",
        "terminated",
        "Each ends at once, and nothing is compensated. This cannot be undone.",
        _changing(TERMINATE),
        OPEN,
    ),
}
"""The actions on many instances, by the last segments of their addresses."""


class Chosen(NamedTuple):
    """The instances that a person has chosen and that an action has an effect on: the first, and the number of all."""

    rows: list[dict[str, Any]]
    number: int


async def show_change(visit: Visit) -> Response:
    """Show which instances an action would change, and how many, and ask whether to carry it out."""
    verb, action = _bulk_action(visit)
    visit.refuse(action.permits)
    found, refusal = Chosen([], 0), None
    try:
        found = await _chosen(visit, action)
    except Exception as error:  # noqa: BLE001 - the server may refuse a person's filter
        refusal = refusal_of_filter(error)
    return visit.page(
        "change.html",
        422 if refusal else 200,
        verb=verb,
        action=action,
        rows=found.rows,
        number=found.number,
        by_definition=Counter(str(row["definition"]) for row in found.rows).most_common(),
        field=_RUN,
        refusal=refusal,
    )


async def _chosen(visit: Visit, action: ManyAction) -> Chosen:
    """Return the instances chosen by the address: those named, or all that its filters find."""
    wanted = filter_in(visit)
    named = visit.asked.request.query_params.getlist("instance")[:MAX_CHANGED]
    if not visit.query("all"):
        if not named:
            raise Refused(422, "none-chosen", "no instance is selected", "select some, or all that match")
        # Those named are meant whatever the filters find by now.
        wanted = ListFilter({}, tuple(visit.asked.known()), Conditions(), (one_of("WorkflowId", named),))
    wanted = replace(wanted, others=(*wanted.others, action.finds))
    rows: dict[str, dict[str, Any]] = {}
    for row in (await listing(visit, wanted, MAX_CHANGED)).rows:
        rows.setdefault(row["id"], row)  # lists are a moment behind: they may have two runs of an id
    number = len(rows)
    if number == MAX_CHANGED:
        number = sum((await counts_of(visit, wanted, of_any_status=False)).values())
    left_out = await _earlier(visit.asked.client, rows) if action.of_latest_run else set[str]()
    return Chosen([row for row in rows.values() if row["id"] not in left_out], number - len(left_out))


async def _earlier(client: Client, rows: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """Return the ids of *rows* that are about an earlier run: what failed has been retried since, or begun anew."""
    found = set[str]()

    async def look(instance_id: str) -> None:
        with refusals_as_usage_errors():
            if (await described(client, instance_id))["runId"] != rows[instance_id]["runId"]:
                found.add(instance_id)

    await for_each(rows, look, Outcome(), lambda: None)
    return found


class Report(NamedTuple):
    """The result for one instance: what was done, or why nothing was."""

    id: str
    is_done: bool
    text: str


async def change(visit: Visit) -> Response:
    """Carry out an action on the instances that the person has seen, and report what happened to each."""
    verb, action = _bulk_action(visit)
    visit.refuse(action.permits)
    given = await visit.form()
    runs = {name.removeprefix(_RUN): run for name, run in given.items() if name.startswith(_RUN)}
    if len(runs) > MAX_CHANGED:
        raise Refused(422, "too-many", f"{len(runs)} instances are more than one request changes, {MAX_CHANGED}")
    reason = " ".join(given.get("reason", "").split()) or None
    reports = await _change(visit, action, runs, reason)
    return visit.page("changed.html", verb=verb, action=action, reports=reports)


async def _change(visit: Visit, action: ManyAction, runs: dict[str, str], reason: str | None) -> list[Report]:
    asked, until = visit.asked, time.monotonic() + _SECONDS
    outcome, done = Outcome(), set[str]()

    def in_time() -> Iterator[str]:
        for one in runs:
            if time.monotonic() > until:
                return
            yield one

    async def do(instance_id: str) -> None:
        await asked.limits.wait_for_turn(asked.tenant)
        with refusals_as_usage_errors():
            await instance_of(asked, instance_id, 0)  # the form may name another tenant's
            await action.act(asked.client, instance_id, runs[instance_id], reason)
        done.add(instance_id)

    await for_each(in_time(), do, outcome, lambda: None)
    return [_report(one, action, done, outcome) for one in runs]


def _report(instance_id: str, action: ManyAction, done: set[str], outcome: Outcome) -> Report:
    if instance_id in done:
        return Report(instance_id, True, action.made)  # noqa: FBT003 - as its name says
    failure: UsageError | None = outcome.failures.get(instance_id)
    if failure is not None:
        return Report(instance_id, False, failure.message)  # noqa: FBT003 - as above
    if instance_id in outcome.ended_ids:
        return Report(instance_id, False, "had ended already")  # noqa: FBT003 - as above
    return Report(instance_id, False, "not reached in time: repeat the action")  # noqa: FBT003 - as above


def _bulk_action(visit: Visit) -> tuple[str, ManyAction]:
    verb = str(visit.asked.request.path_params.get("action", "retry"))
    if (found := BULK_ACTIONS.get(verb)) is None:
        raise Refused(404, "unknown-path", f"there is no action {verb!r}")
    return verb, found


_ABANDON: Final = ParentClosePolicy.PARENT_CLOSE_POLICY_ABANDON
_TERMINATE: Final = ParentClosePolicy.PARENT_CLOSE_POLICY_TERMINATE


@dataclass(frozen=True, slots=True)
class Action:
    name: str
    """The label of its button."""
    does: Callable[[Visit, TenantInstance, str | None], Awaitable[None]]
    to_call: str
    """Its effect on calls in progress."""
    to_child: str
    """Its effect on a sub-workflow that is waited for."""
    to_detached: str
    """Its effect on a sub-workflow that is not waited for, and that ends with the instance."""
    is_final: bool = False


async def _cancel(_: Visit, found: TenantInstance, reason: str | None) -> None:
    await found.instance.cancel(reason)


async def _terminate(_: Visit, found: TenantInstance, reason: str | None) -> None:
    await found.instance.terminate(reason)


async def _pause(visit: Visit, found: TenantInstance, reason: str | None) -> None:
    await pause(visit.asked.client.temporal, found.instance.id, reason)


async def _resume(visit: Visit, found: TenantInstance, reason: str | None) -> None:
    await resume(visit.asked.client.temporal, found.instance.id, reason)


_DROPPED: Final = "is cancelled with its next heartbeat, and its result is dropped"
_GOES_ON: Final = "continues"
ACTIONS: Final = {
    "pause": Action("Pause", _pause, "finishes; its result is taken up on resuming", "is not paused", _GOES_ON),
    "resume": Action("Resume", _resume, _GOES_ON, _GOES_ON, _GOES_ON),
    "cancel": Action(
        *("Cancel", _cancel, _DROPPED, "is cancelled, too, and ends first", "is terminated when the instance ends")
    ),
    "terminate": Action(
        *("Terminate", _terminate, _DROPPED, "is asked to cancel", "is terminated, too"), is_final=True
    ),
}
"""The actions on a running instance, by the last segments of their addresses."""


async def show_action(visit: Visit) -> Response:
    """Show what an action on an instance will do, and ask whether to carry it out."""
    visit.refuse(Operation.END)  # where the console is read-only, there is nothing to ask
    action, found = _action(visit), await instance_of(visit.asked, visit.asked.path_id(), 1.0)
    client, instance_id = visit.asked.client, found.instance.id
    if not is_open(found.status):
        return await shown(visit, found, refusal_of(has_ended(instance_id)))
    facts = await facts_of(client, instance_id)
    execution = await execution_of(client, instance_id)
    return visit.page(
        "action.html",
        instance_id=instance_id,
        definition=found.definition,
        parent=execution.parent_id,
        action=action,
        verb=_verb(visit),
        facts=facts,
        is_paused=facts["status"] == PAUSED,
        children=_children(action, execution, facts),
    )


def _children(action: Action, execution: WorkflowExecutionDescription, facts: Mapping[str, Any]) -> dict[str, str]:
    """Return what happens to each sub-workflow in progress, by their ids."""
    fates = {_ABANDON: _GOES_ON, _TERMINATE: action.to_detached}
    pending = execution.raw_description.pending_children
    found = {
        one.workflow_id: fates.get(one.parent_close_policy, action.to_child)
        for one in pending
        if one.workflow_type_name not in WORKFLOW_TYPES
    }
    # Those that an earlier run began end with the instance.
    return dict.fromkeys(facts.get("subflows", ()), action.to_detached) | found


async def act(visit: Visit) -> Response:
    """Carry out an action on an instance."""
    given, found = await visit.form(), await instance_of(visit.asked, visit.asked.path_id(), 1.0)
    reason = " ".join(given.get("reason", "").split()) or None
    try:
        action = _action(visit)
        if not is_open(found.status):
            raise has_ended(found.instance.id)
        await action.does(visit, found, reason)
    except UsageError as error:
        return await shown(visit, found, refusal_of(error))
    return redirect(f"/console/instances/{segment(found.instance.id)}?done={_verb(visit)}")


def _verb(visit: Visit) -> str:
    return str(visit.asked.request.path_params["action"])


def _action(visit: Visit) -> Action:
    if found := ACTIONS.get(_verb(visit)):
        return found
    raise Refused(404, "unknown-path", f"there is no action {_verb(visit)!r}")
