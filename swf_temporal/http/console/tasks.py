"""The page of tasks, what waits for people; and sending an awaited event."""

from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from swf_temporal.base.errors import UsageError
from swf_temporal.http.console.awaited import Awaited, awaited_of, refilled
from swf_temporal.http.console.forms import fields_of, filled
from swf_temporal.http.console.instances import shown
from swf_temporal.http.console.pages import segment
from swf_temporal.http.console.visits import Visit, redirect
from swf_temporal.http.gateway.instances import instance_of, tasks_for
from swf_temporal.http.gateway.refusals import Refused, refusal_of
from swf_temporal.operations.instances import facts_of
from swf_temporal.operations.listing import is_open
from swf_temporal.operations.tasks import complete_task
from swf_temporal.settings.http import Operation

_MOST: Final = 100


async def list_tasks(visit: Visit) -> Response:
    refuse_reading(visit)
    found = await tasks_for(visit.asked, None, _MOST)
    forms = [Awaited(one, fields_of(one.data_schema)) for one in found.tasks]
    return visit.page("tasks.html", awaited=forms, silent=found.silent, more=found.more)


def refuse_reading(visit: Visit) -> None:
    """Raise Refused if tasks are not the person's to see; where the console is read-only, they still are."""
    if Operation.TASKS not in visit.asked.tenant.operations:
        visit.refuse(Operation.TASKS)


async def send(visit: Visit) -> Response:
    """Give an instance the event that it waits for, with the data of the form."""
    visit.refuse(Operation.TASKS)
    given = await visit.form()
    found = await instance_of(visit.asked, visit.asked.path_id(), 1.0)
    instance_id, event = found.instance.id, given.get("event", "")
    facts = await facts_of(visit.asked.client, instance_id)
    forms = awaited_of(instance_id, found.definition, facts)
    wanted = next((one for one in forms if one.task.event == event), None)
    if wanted is None:
        return await shown(visit, found, _no_task(event, facts))
    got = filled(wanted.task.data_schema, given)
    refusal = Refused(422, "bad-form", "some fields are not right")
    if not got.errors:
        try:
            await complete_task(visit.asked.client, instance_id, event, got.data)
        except UsageError as error:
            refusal = refusal_of(error)
        else:
            return redirect(f"/console/instances/{segment(instance_id)}?done=sent")
    sent = refilled(wanted, given, got)
    return await shown(visit, found, refusal, [sent if one is wanted else one for one in forms])


def _no_task(event: str, facts: Mapping[str, Any]) -> Refused:
    if is_open(facts["status"]) and "awaiting" not in facts:
        return Refused(409, "no-answer", f"the instance cannot be asked whether it waits for {event!r}", facts["note"])
    return Refused(409, "no-task", f"the instance does not wait for {event!r} any longer")
