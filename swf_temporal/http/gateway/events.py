"""Events over HTTP, one or a batch: to the instances that they start or that wait for them, or to a given instance."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final, TypeAlias

from starlette.responses import JSONResponse, Response

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.errors import SwfError
from swf_temporal.events.routing import Route, route
from swf_temporal.http.gateway.answers import EventFacts, NotTaken, Receipt, Taken, TakenBatch
from swf_temporal.http.gateway.cloud_events import BATCH, MAX_ERRORS, Received, events_of
from swf_temporal.http.gateway.instances import instance_of, link_to
from swf_temporal.http.gateway.refusals import Refused, refusal_of
from swf_temporal.http.gateway.requests import PATIENCE, RequestContext
from swf_temporal.operations.client import Instance
from swf_temporal.operations.event_sending import is_sent, latest_of, send, why_stopped
from swf_temporal.temporal.event_dispatch import Receipt as DispatchReceipt
from swf_temporal.temporal.event_dispatch import lanes_of
from swf_temporal.text.bodies import content_type_of

IGNORED = "ignored"
"""The status of an event that no instance takes. Its sender should not repeat it."""
NOT_TAKEN: Final = "not-taken"
"""The status of an event of a batch that Temporal has not stored, as far as is known."""
_AT_ONCE: Final = 16
"""The number of events of a batch that are sent concurrently."""

Work: TypeAlias = Callable[[CloudEvent], Awaitable[Taken]]
"""Sends an event; returns its answer. Raises SwfError and OSError (such as TimeoutError)."""


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


def _status(receipts: Sequence[DispatchReceipt]) -> str:
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


def event_facts(event: CloudEvent) -> EventFacts:
    return {"id": event.id, "source": event.source, "type": event.type}


def answer_of(event: CloudEvent, status: str, receipts: Sequence[Receipt] = ()) -> Taken:
    return {"event": event_facts(event), "status": status, "receipts": list(receipts)}


async def answered(event: CloudEvent, work: Work) -> Taken:
    """Return the answer for the only event of a request. Raises Refused."""
    try:
        async with asyncio.timeout(PATIENCE):
            return await work(event)
    except (SwfError, OSError) as error:
        refusal = refusal_of(error)
        refusal.facts |= {"event": event_facts(event)}
        raise refusal from None


class Batch:
    """Sends events concurrently, except that those with the same recipients keep their order."""

    def __init__(self, events: Sequence[CloudEvent], work: Work) -> None:
        self._events = events
        self._work = work
        self._free = asyncio.Semaphore(_AT_ONCE)
        self._answers: dict[int, Taken] = {}
        self._refusals: dict[int, Refused] = {}

    async def answers(self, lanes: Sequence[frozenset[str]]) -> list[Taken]:
        """Return the answers, in the order of the events.

        *lanes* has for each event the lanes that it shares with others: it is sent after the earlier events of the same
        lanes. Each event has its own timeout. After a failure no further event is sent. Raises Refused for the first
        failure, with the outcome of each event.
        """
        last: dict[str, asyncio.Task[None]] = {}
        async with asyncio.TaskGroup() as tasks:
            for index, own in enumerate(lanes):
                before = {last[lane] for lane in own if lane in last}
                task = tasks.create_task(self._send(index, before))
                last |= dict.fromkeys(own, task)
        if self._refusals:
            raise self._refused(min(self._refusals))
        return [self._answers[index] for index in range(len(self._events))]

    async def _send(self, index: int, before: set[asyncio.Task[None]]) -> None:
        for task in before:
            await task
        async with self._free:
            if self._refusals:
                return
            try:
                self._answers[index] = await answered(self._events[index], self._work)
            except Refused as refusal:
                self._refusals[index] = refusal

    def _refused(self, index: int) -> Refused:
        refusal, taken = self._refusals[index], len(self._answers)
        events = [self._answers.get(each) or answer_of(event, NOT_TAKEN) for each, event in enumerate(self._events)]
        refusal.facts |= {"index": index, "events": events}
        refusal.hint = f"{taken} events of the batch were taken; each is taken once, however often it is sent"
        return refusal
