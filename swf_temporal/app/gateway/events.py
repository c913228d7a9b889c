"""Events that come over HTTP: to the instances that they start or that wait for them, or to one that is named."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from starlette.responses import JSONResponse, Response

from swf_temporal.app.client import Instance
from swf_temporal.app.event_routes import latest_of
from swf_temporal.app.event_sending import receipt_facts, send
from swf_temporal.app.gateway.cloud_events import BATCH, Received, content_type_of, events_of
from swf_temporal.app.gateway.instances import instance_of, link_to
from swf_temporal.app.gateway.refusals import Refused, refusal_of
from swf_temporal.app.gateway.requests import PATIENCE, Asked
from swf_temporal.app.gateway.settings import Operation
from swf_temporal.cloud_event import CloudEvent
from swf_temporal.errors import SwfError
from swf_temporal.routing.routes import route

IGNORED = "ignored"
"""The status of an event that nobody takes. Its sender is not to repeat it."""


async def take_events(asked: Asked) -> Response:
    """Send the events of a request where they go; answer when Temporal has them."""
    received = await _received(asked)
    answers = await _each(received, partial(_sent, asked))
    status = 202 if any(one["status"] != IGNORED for one in answers) else 200
    if received.is_batch:
        return JSONResponse({"events": answers}, status)
    return JSONResponse(answers[0], status, _location(answers[0]))


async def deliver_events(asked: Asked) -> Response:
    """Give the events of a request to the instance that its path names; answer when it has taken or kept them."""
    instance_id = asked.path_id()
    received = await _received(asked)
    async with asyncio.timeout(PATIENCE):
        instance = (await instance_of(asked, instance_id)).instance
    answers = await _each(received, partial(_delivered, asked, instance))
    return JSONResponse({"events": answers} if received.is_batch else answers[0], 202)


async def _each(received: Received, work: Callable[[CloudEvent], Awaitable[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the answers of *work* for the events, one after the other. Raises Refused for the first that is not taken.

    Each has time of its own: however long a batch takes, it comes to an end.
    """
    answers: list[dict[str, Any]] = []
    for index, event in enumerate(received.events):
        try:
            async with asyncio.timeout(PATIENCE):
                answers.append(await work(event))
        except (SwfError, TimeoutError) as error:
            refusal = refusal_of(error)
            refusal.facts |= {"event": _event_facts(event)}
            if received.is_batch:
                refusal.facts |= {"index": index, "events": answers}
                refusal.hint = f"{index} events before it were taken; each is taken once, however often it is sent"
            raise refusal from None
    return answers


async def _delivered(asked: Asked, instance: Instance, event: CloudEvent) -> dict[str, Any]:
    status = await instance.send_event(event)
    asked.metrics.count_event(status)
    receipt = {"definition": None, "instance": instance.id, "status": status}
    return {"event": _event_facts(event), "status": status, "receipts": [receipt]}


async def _received(asked: Asked) -> Received:
    """Return the events of a request, which are the tenant's to send. Raises Refused."""
    asked.permit(Operation.EVENTS)
    settings, headers = asked.settings, asked.request.headers
    is_batch = content_type_of(headers.get("content-type", ""))[0] == BATCH
    body = await asked.body(settings.max_batch_bytes if is_batch else settings.max_bytes)
    received = events_of(headers.items(), body)
    count = len(received.events)
    if count > settings.max_batch:
        raise Refused(
            413, "too-many-events", f"{count} events are more than {settings.max_batch}", "send fewer at once"
        )
    _refuse_sources(asked, received)
    if count > 1:
        await asked.limits.count(asked.tenant, count - 1)
    return received


def _refuse_sources(asked: Asked, received: Received) -> None:
    wrong = [
        {"index": index, "detail": f"events of the source {event.source!r} are not for this key to send"}
        for index, event in enumerate(received.events)
        if not asked.tenant.may_send_from(event.source)
    ]
    if wrong:
        raise Refused(
            403, "not-permitted", str(wrong[0]["detail"]), facts={"errors": wrong} if received.is_batch else {}
        )


async def _sent(asked: Asked, event: CloudEvent) -> dict[str, Any]:
    receipts = await send(asked.client, event, asked.catalogue, asked.task_queue)
    answer: dict[str, Any] = {"event": _event_facts(event), "status": _status([one.status for one in receipts])}
    answer["receipts"] = [receipt_facts(one) for one in receipts]
    asked.metrics.count_event(answer["status"])
    if answer["status"] == IGNORED:
        answer["reasons"] = _reasons(asked, event)
    return answer


def _status(statuses: list[str]) -> str:
    """Return what became of an event that has receipts of these statuses."""
    reached = [one for one in statuses if one != "unreachable"]
    if not reached:
        return IGNORED
    return "duplicate" if all(one == "duplicate" for one in reached) else "accepted"


def _reasons(asked: Asked, event: CloudEvent) -> list[dict[str, Any]]:
    """Return for each definition why it does not take *event*."""
    found = route(event, latest_of(asked.catalogue))
    reasons = [{"definition": one.definition.id, "event": one.event, "reason": one.reason} for one in found.passed]
    for one in found.awaited:
        why = "no instance that runs is known to wait for it"
        reasons.append({"definition": one.definition.id, "event": one.event, "reason": why})
    return reasons


def _event_facts(event: CloudEvent) -> dict[str, str]:
    return {"id": event.id, "source": event.source, "type": event.type}


def _location(answer: dict[str, Any]) -> dict[str, str]:
    """Return the header that leads to the one instance that an event went to, if there is one."""
    instances = {one["instance"] for one in answer["receipts"] if one["instance"]}
    return {"Location": link_to(instances.pop())} if len(instances) == 1 else {}
