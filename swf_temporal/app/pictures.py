"""Pictures of instances: the definition that each runs, with what happened on it."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from temporalio.service import RPCError

from swf_temporal.app.client import Client
from swf_temporal.app.histories import retrace_file, retrace_instance
from swf_temporal.drawing.course import Course, course_of
from swf_temporal.drawing.model import Picture
from swf_temporal.errors import UsageError
from swf_temporal.languages.port import Definition
from swf_temporal.temporal.client_errors import not_there
from swf_temporal.temporal.replaying import Retraced


async def pictures_in(file: Path) -> list[Picture]:
    """Return the picture of the execution whose history *file* has. Raises UsageError if it cannot be drawn."""
    executions = await retrace_file(file)
    return [_picture(*one, executions) for one in courses_of(executions)]


async def pictures_of(client: Client, workflow_id: str) -> list[Picture]:
    """Return a picture for each definition that an instance has run, the latest last.

    Calls that are tried again and again are told as the server knows them. Raises UsageError if the id is unknown.
    """
    executions = await retrace_instance(client, workflow_id)
    found = courses_of(executions)
    definition, latest, _ = found[-1]
    await _add_attempts(client, workflow_id, definition, latest)
    return [_picture(*one, executions) for one in found]


def courses_of(executions: Sequence[Retraced]) -> list[tuple[Definition, Course, str]]:
    """Return the definitions that executions ran one after the other, with what happened, and the instance's id.

    Raises UsageError if they ran none.
    """
    known = [(one.definition, one) for one in executions if one.definition is not None]
    if not known:
        failures = [one.failure for one in executions if one.failure is not None]
        raise UsageError("the history shows no definition", "; ".join(failures) or "no worker has begun with it yet")
    runs = []
    for _, group in groupby(known, key=lambda pair: pair[0].digest):
        same = list(group)
        definition = same[-1][0]
        trace = [entry for _, one in same for entry in one.trace]
        last = same[-1][1]
        runs.append((definition, course_of(definition.outline, trace, last.closed_as), last.workflow_id))
    return runs


async def _add_attempts(client: Client, workflow_id: str, definition: Definition, course: Course) -> None:
    """Add to *course* what no history has: how often calls under way were tried, and why the last attempt failed."""
    try:
        described = await client.temporal.get_workflow_handle(workflow_id).describe()
    except RPCError as error:
        raise not_there(error, workflow_id) from None
    for call in described.raw_description.pending_activities:
        part = definition.outline.part_at(call.activity_id.rpartition("#")[0])
        own = None if part is None else course.parts.get(part.path)
        if own is not None and call.attempt > 1:
            own.retried += call.attempt - 1
            own.error = call.last_failure.message


def _picture(definition: Definition, course: Course, workflow_id: str, executions: Sequence[Retraced]) -> Picture:
    failures = {one.failure for one in executions if one.failure is not None}
    missing = [f"not all is shown, as this release cannot follow the history: {one}" for one in sorted(failures)]
    return definition.picture(course, f"instance {workflow_id}: {course.words}", *missing)
