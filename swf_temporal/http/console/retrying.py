"""The page that shows what becomes of an instance that is retried, and lets it go on once a person agrees."""

from typing import Final

from starlette.responses import Response

from swf_temporal.base.errors import UsageError
from swf_temporal.http.console.instances import shown
from swf_temporal.http.console.visits import Visit, redirect
from swf_temporal.http.gateway.instances import instance_of
from swf_temporal.http.gateway.refusals import Refused, refusal_of
from swf_temporal.operations.rerunning import plan_retry
from swf_temporal.settings.http import Operation

_RUN: Final = "run"
"""The field of the form with the run of which a person has seen what is done again."""


async def show_plan(visit: Visit) -> Response:
    """Show what is done again, and what was done outside."""
    visit.refuse(Operation.RERUN)
    found = await instance_of(visit.asked, visit.asked.path_id(), 1.0)
    try:
        plan = await plan_retry(visit.asked.client, found.instance.id)
    except UsageError as error:
        return await shown(visit, found, refusal_of(error))
    return visit.page("retry.html", plan=plan, run=plan.latest[0])


async def retry(visit: Visit) -> Response:
    """Let an instance go on, if it has not done so since its page was shown."""
    visit.refuse(Operation.RERUN)
    given = await visit.form()
    found = await instance_of(visit.asked, visit.asked.path_id(), 1.0)
    try:
        plan = await plan_retry(visit.asked.client, found.instance.id)
        if given.get(_RUN) == plan.latest[0]:
            await plan.begin(visit.asked.client, drop_events="drop" in given)
            return redirect(f"{visit.asked.request.url.path.rpartition('/')[0]}?done=retry")
        refusal = Refused(409, "gone-on", "it has gone on, and failed once more", "look again at what is done again")
    except UsageError as error:
        refusal = refusal_of(error)
    return await shown(visit, found, refusal)
