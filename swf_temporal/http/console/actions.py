"""Actions on an instance: pages that say what each will do and ask first, and carrying them out."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.responses import Response
from temporalio.api.enums.v1 import ParentClosePolicy
from temporalio.client import WorkflowExecutionDescription

from swf_temporal.base.errors import UsageError
from swf_temporal.http.console.instances import shown
from swf_temporal.http.console.pages import segment
from swf_temporal.http.console.visits import Visit, redirect
from swf_temporal.http.gateway.instances import TenantInstance, instance_of
from swf_temporal.http.gateway.refusals import Refused, refusal_of
from swf_temporal.operations.instances import execution_of, facts_of
from swf_temporal.operations.listing import PAUSED, is_open
from swf_temporal.runtime.ids import WORKFLOW_TYPES
from swf_temporal.settings.http import Operation
from swf_temporal.temporal.client_errors import has_ended
from swf_temporal.temporal.pausing import pause, resume

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
