"""Retrying an instance, and rerunning it from a state: pages that show what will be repeated, and carrying that out."""

from collections.abc import Mapping
from typing import Final

from starlette.responses import Response

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import UsageError
from swf_temporal.base.strict_json import NotJSON, read_json
from swf_temporal.http.console.instances import shown
from swf_temporal.http.console.pages import segment, shown_json
from swf_temporal.http.console.visits import Visit, redirect
from swf_temporal.http.gateway.instances import TenantInstance, instance_of
from swf_temporal.http.gateway.refusals import Refused, refusal_of
from swf_temporal.operations.rerunning import GoneOnError, Rerun, plan_rerun, plan_retry, reached
from swf_temporal.settings.http import Operation

_SEEN: Final = "seen"
"""The form field that says of which run, and how much of its history, the person has seen the plan."""
_BEGIN: Final = "begin"


async def show_retry(visit: Visit) -> Response:
    """Show the plan of a retry: what is repeated, and what was done outside."""
    visit.refuse(Operation.RERUN)  # where the console is read-only, there is nothing to plan
    found = await _instance(visit)
    try:
        plan = await plan_retry(visit.asked.client, found.instance.id)
    except UsageError as error:
        return await shown(visit, found, refusal_of(error))
    return visit.page("retry.html", plan=plan, seen=_seen(plan))


async def retry(visit: Visit) -> Response:
    """Retry an instance, unless it has progressed since the plan was shown."""
    given, found = await visit.form(), await _instance(visit)
    try:
        plan = await plan_retry(visit.asked.client, found.instance.id)
        if given.get(_SEEN) == _seen(plan):
            return await _begin(visit, plan, given, "retry")
        refusal = Refused(409, "gone-on", "it has been retried meanwhile, and failed again", "check its new plan")
    except UsageError as error:
        refusal = refusal_of(error)
    return await shown(visit, found, refusal)


async def show_rerun(visit: Visit) -> Response:
    """Show from which states an instance can run again; with one in the URL, what will be repeated."""
    visit.refuse(Operation.RERUN)  # as above
    found, state = await _instance(visit), visit.query("from")
    if state:
        return await _planned(visit, found, {"from": state, "action": visit.query("action")})
    try:
        word, states = await reached(visit.asked.client, found.instance.id)
    except UsageError as error:
        return await shown(visit, found, refusal_of(error))
    return visit.page(
        "rerun_from.html",
        instance_id=found.instance.id,
        definition=found.definition,
        status_word=found.status,
        word=word,
        states=states[::-1],
    )


async def rerun(visit: Visit) -> Response:
    """Show the plan with the data of the form, or begin it, unless the instance has progressed since it was shown."""
    given = await visit.form()
    return await _planned(visit, await _instance(visit), given, begins=_BEGIN in given)


async def _planned(visit: Visit, found: TenantInstance, given: Mapping[str, str], *, begins: bool = False) -> Response:
    client, instance_id = visit.asked.client, found.instance.id
    state, action = given.get("from", ""), given.get("action") or None
    refusal, error, patch = None, "", _patch(given.get("data", ""))
    if isinstance(patch, NotJSON):
        error, patch = f"this is not JSON: {patch}", None
    elif patch is not None and not isinstance(patch, dict):
        error, patch = 'this is not an object, such as {"amount": 12}', None
    try:
        plan = await plan_rerun(client, instance_id, state, action, patch)
        if begins and not error:
            if given.get(_SEEN) == _seen(plan):
                return await _begin(visit, plan, given, "rerun")
            raise _gone_on(instance_id)
    except GoneOnError as gone:
        refusal = refusal_of(gone)
        plan = await plan_rerun(client, instance_id, state, action, patch)
    except UsageError as wrong:
        return await shown(visit, found, refusal_of(wrong))
    try:
        data = shown_json((await plan.restart_input(client)).data)
    except UsageError as wrong:
        return await shown(visit, found, refusal_of(wrong))
    return visit.page(
        "rerun.html",
        422 if error else 200 if refusal is None else refusal.status,
        plan=plan,
        seen=_seen(plan),
        data=data if visit.may(Operation.READ) else None,
        given={"from": state, "action": action, "data": given.get("data", ""), "drop": "drop" in given},
        error=error,
        refusal=refusal,
    )


def _gone_on(instance_id: str) -> GoneOnError:
    return GoneOnError(f"{instance_id!r} has continued meanwhile", "check its new plan", instance=instance_id)


def _patch(text: str) -> JSON | NotJSON:
    """Return the JSON in a form's field, or what is wrong with it; None if it is empty."""
    try:
        return read_json(text) if text.strip() else None
    except NotJSON as error:
        return error


def _seen(plan: Rerun) -> str:
    run, length = plan.latest
    return f"{run}/{length}"


async def _begin(visit: Visit, plan: Rerun, given: Mapping[str, str], done: str) -> Response:
    await plan.begin(visit.asked.client, drop_events="drop" in given)
    return redirect(f"/console/instances/{segment(plan.workflow_id)}?done={done}")


async def _instance(visit: Visit) -> TenantInstance:
    return await instance_of(visit.asked, visit.asked.path_id(), 1.0)
