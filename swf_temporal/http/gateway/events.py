"""Events over HTTP: to the instances that they start or that wait for them, or to a given instance."""

import asyncio
from collections.abc import Sequence
from functools import partial

from starlette.responses import JSONResponse, Response

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.events.routing import Route, route
from swf_temporal.http.gateway.answers import NotTaken, Taken, TakenBatch
from swf_temporal.http.gateway.batches import Batch, answer_of, answered
from swf_temporal.http.gateway.cloud_events import BATCH, MAX_ERRORS, Received, events_of
from swf_temporal.http.gateway.instances import instance_of, link_to
from swf_temporal.http.gateway.refusals import Refused
from swf_temporal.http.gateway.requests import PATIENCE, RequestContext
from swf_temporal.operations.client import Instance
from swf_temporal.operations.event_sending import is_sent, latest_of, send, why_stopped
from swf_temporal.temporal.event_dispatch import Receipt, lanes_of
from swf_temporal.text.bodies import content_type_of

IGNORED = "ignored"
"""The status of an event that no instance takes. Its sender should not repeat it."""


async def send_events(asked: RequestContext) -> Response:
    """Send events."""
    received = await _received(asked)
    definitions = latest_of(asked.catalogue)
    if not received.is_batch:
        [event] = received.events
        answer = await answered(event, partial(_sent, asked, route(event, definitions)))
        return JSONResponse(answer, 200 if answer["status"] == IGNORED else 202, _location(answer))
    routes = {id(event): route(event, definitions) for event in received.events}
    batch = Batch(received.events, lambda event: _sent(asked, routes[id(event)], event))
    answers = await batch.answers([lanes_of(routes[id(event)]) for event in received.events])
    return JSONResponse(TakenBatch(events=answers), 202 if any(one["status"] != IGNORED for one in answers) else 200)


async def deliver_events(asked: RequestContext) -> Response:
    """Send events to an instance."""
    instance_id = asked.path_id()
    received = await _received(asked)

    async def deliver(event: CloudEvent) -> Taken:
        return await _delivered(asked, (await instance_of(asked, instance_id)).instance, event)

    if not received.is_batch:
        return JSONResponse(await answered(received.events[0], deliver), 202)
    async with asyncio.timeout(PATIENCE):
        work = partial(_delivered, asked, (await instance_of(asked, instance_id)).instance)
    answers = await Batch(received.events, work).answers([frozenset({instance_id})] * len(received.events))
    return JSONResponse(TakenBatch(events=answers), 202)


async def _delivered(asked: RequestContext, instance: Instance, event: CloudEvent) -> Taken:
    status = await instance.send_event(event)
    asked.metrics.count_event(status)
    return answer_of(event, status, [{"definition": None, "instance": instance.id, "status": status}])


async def _received(asked: RequestContext) -> Received:
    """Return the events of a request, if the tenant may send them. Raises Refused."""
    settings, headers = asked.settings, asked.request.headers
    is_batch = content_type_of(headers.get("content-type", ""))[0] == BATCH
    body = await asked.body(max(settings.max_batch_bytes, settings.max_bytes) if is_batch else settings.max_bytes)
    received = events_of(headers.items(), body, settings.max_batch)
    _refuse_sources(asked, received)
    await asked.limits.count_batch(asked.tenant, len(received.events))
    return received


def _refuse_sources(asked: RequestContext, received: Received) -> None:
    wrong = [
        {"index": index, "detail": f"events of the source {event.source!r} may not be sent with this key"}
        for index, event in enumerate(received.events)
        if not asked.tenant.may_send_from(event.source)
    ]
    if wrong:
        facts = {"errors": wrong[:MAX_ERRORS]} if received.is_batch else {}
        raise Refused(403, "not-permitted", str(wrong[0]["detail"]), facts=facts)


async def _sent(asked: RequestContext, found: Route, event: CloudEvent) -> Taken:
    max_hops = asked.settings.max_hops
    receipts = await send(asked.client, event, asked.catalogue, asked.task_queue, found=found, max_hops=max_hops)
    answer = answer_of(
        event,
        _status(receipts),
        [{"definition": one.definition, "instance": one.instance, "status": one.status} for one in receipts],
    )
    asked.metrics.count_event(answer["status"])
    if answer["status"] == IGNORED:
        stopped = [one.definition for one in receipts if one.status == "stopped"]
        answer["reasons"] = _reasons(found, event, stopped)
    return answer


def _status(receipts: Sequence[Receipt]) -> str:
    reached = [one.status for one in receipts if is_sent(one)]
    if not reached:
        return IGNORED
    return "duplicate" if all(one == "duplicate" for one in reached) else "accepted"


def _reasons(found: Route, event: CloudEvent, stopped: Sequence[str]) -> list[NotTaken]:
    """Return why each definition does not take *event*; those in *stopped* would exceed the chain limit."""
    reasons: list[NotTaken] = [
        {"definition": one.definition.id, "event": one.event, "reason": one.reason} for one in found.passed
    ]
    reasons += [{"definition": id_, "event": None, "reason": why_stopped(event)} for id_ in stopped]
    for one in (each for each in found.awaited if each.definition.id not in stopped):
        why = "no running instance is known to wait for it"
        reasons.append({"definition": one.definition.id, "event": one.event, "reason": why})
    return reasons


def _location(answer: Taken) -> dict[str, str]:
    """Return the Location header for the single instance that got an event, if there is exactly one."""
    instances = {one["instance"] for one in answer["receipts"] if one["instance"]}
    return {"Location": link_to(instances.pop())} if len(instances) == 1 else {}
