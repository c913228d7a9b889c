"""Tasks over HTTP: the events that instances wait for, which a person can give them."""

from typing import Final

from starlette.responses import JSONResponse, Response

from swf_temporal.app.gateway.instances import instance_of
from swf_temporal.app.gateway.refusals import Refused
from swf_temporal.app.gateway.requests import Asked
from swf_temporal.app.http_settings import Operation
from swf_temporal.app.tasks import Tasks, complete_task, find_task, list_tasks

_MAX_TASKS: Final = 200


async def show_tasks(asked: Asked) -> Response:
    """Tell what the tenant's instances wait for."""
    asked.permit(Operation.TASKS)
    definition, limit = asked.query("definition"), asked.number("limit", 100, _MAX_TASKS)
    found = Tasks([], [], 0)
    for each in [None] if asked.sees_everything and definition is None else asked.known(definition):
        part = await list_tasks(asked.client, each, limit=limit)
        found = Tasks(found.tasks + part.tasks, found.silent + part.silent, found.more + part.more)
    tasks = [one.facts() for one in found.tasks]
    return JSONResponse({"tasks": tasks, "silent": found.silent, "more": found.more})


async def show_task(asked: Asked) -> Response:
    """Tell what an instance waits for, with the schema of that."""
    asked.permit(Operation.TASKS)
    instance_id, event = asked.path_id(), asked.query("event")
    await instance_of(asked, instance_id)
    task = await find_task(asked.client, instance_id, event)
    return JSONResponse({**task.facts(), "schema": task.data_schema})


async def do_task(asked: Asked) -> Response:
    """Give an instance the data of what it waits for."""
    asked.permit(Operation.TASKS)
    instance_id, event = asked.path_id(), asked.query("event")
    data = await asked.json()
    await instance_of(asked, instance_id)
    if event == "":
        raise Refused(400, "bad-parameter", "the parameter event is empty")
    status = await complete_task(asked.client, instance_id, event, data)
    return JSONResponse({"id": instance_id, "status": status}, 202)
