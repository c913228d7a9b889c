"""Tasks over HTTP: the events that instances wait for, which a person can give them."""

from starlette.responses import JSONResponse, Response

from swf_temporal.app.gateway.instances import instance_of
from swf_temporal.app.gateway.parameters import DEFINITION, EVENT, MAX_TASKS
from swf_temporal.app.gateway.requests import Asked
from swf_temporal.app.tasks import Tasks, complete_task, find_task, list_tasks


async def show_tasks(asked: Asked) -> Response:
    """List open tasks."""
    definition, limit = asked.parameter(DEFINITION), asked.number(MAX_TASKS)
    found = Tasks([], [], 0)
    for each in [None] if asked.sees_everything and definition is None else asked.known(definition):
        part = await list_tasks(asked.client, each, limit=limit)
        found = Tasks(found.tasks + part.tasks, found.silent + part.silent, found.more + part.more)
    tasks = [one.facts() for one in found.tasks]
    return JSONResponse({"tasks": tasks, "silent": found.silent, "more": found.more})


async def show_task(asked: Asked) -> Response:
    """Show an instance's task."""
    instance_id, event = asked.path_id(), asked.parameter(EVENT)
    await instance_of(asked, instance_id)
    task = await find_task(asked.client, instance_id, event)
    return JSONResponse({**task.facts(), "schema": task.data_schema})


async def do_task(asked: Asked) -> Response:
    """Complete an instance's task."""
    instance_id, event = asked.path_id(), asked.parameter(EVENT)
    data = await asked.json()
    await instance_of(asked, instance_id)
    status = await complete_task(asked.client, instance_id, event, data)
    return JSONResponse({"id": instance_id, "status": status}, 202)
