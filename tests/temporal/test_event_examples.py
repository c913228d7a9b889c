"""Examples of the specification on a real server, begun by their events; they stand beside a development checkout."""

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition
from swf_temporal.temporal.client import result
from tests.temporal.building import inject
from tests.temporal.conftest import Bench, Running, named, until
from tests.temporal.test_event_starts import event, instances, send

EXAMPLES = Path(__file__).parents[2].parent / "shared" / "spec" / "examples"
_NUMBERS = count(1)

pytestmark = [
    pytest.mark.temporal,
    pytest.mark.spec,
    pytest.mark.skipif(not EXAMPLES.is_dir(), reason=f"the specification's examples are not at {EXAMPLES}"),
]

BOTH_DIALECTS = pytest.mark.parametrize("folder", ["0.8", "0.8-next"])
WITH_DRAFT = pytest.mark.parametrize("folder", ["0.8", "draft-tasks"])


def example(folder: str, name: str, **changed: str) -> Definition:
    """Return the example whose file's name has *name* in it, under an id of its own, with words *changed*."""
    [file] = (EXAMPLES / folder).glob(f"*{name}*.json")
    text = file.read_text("utf-8")
    for old, new in changed.items():
        assert old in text
        text = text.replace(old, new)
    id_ = load(text).id
    return load(text.replace(f'"{id_}"', f'"{id_}-{os.getpid()}-{next(_NUMBERS)}"', 1))


@asynccontextmanager
async def worker(bench: Bench, *definitions: Definition) -> AsyncIterator[Running]:
    answers: dict[str, Any] = {use.function.name: {} for one in definitions for use in one.functions}
    async with bench.worker(*definitions, **answers) as running:
        yield running


async def calls(running: Running, number: int) -> list[tuple[str, Any]]:
    """Return what was called, with which arguments, once there were so many calls; and that no more come at once."""
    await until(lambda: len(running.scripted.calls) >= number)
    await asyncio.sleep(0.2)
    assert len(running.scripted.calls) == number
    return [(name, arguments) for name, arguments, *_ in running.scripted.calls]


def reading(id_: str, kind: str, patient: str) -> CloudEvent:
    return event(id_, f"org.monitor.{kind}", "monitoringSource", {"patientId": patient}, patientId=patient)


@WITH_DRAFT
async def test_patient_vitals(bench: Bench, folder: str) -> None:
    """Each event of a patient starts an instance when none runs; what comes twice has no effect."""
    async with worker(bench, example(folder, "monitor-patient-vital-signs")) as running:
        temperature, pressure = reading("1", "highBodyTemp", "7"), reading("2", "highBloodPressure", "8")
        await send(running, temperature, pressure, temperature)
        assert Counter(name for name, _ in await calls(running, 2)) == {"sendTylenolOrder": 1, "callNurse": 1}
        await send(running, reading("3", "highRespirationRate", "7"), pressure)
        called = await calls(running, 3)
        assert called[2] == ("callPulmonologist", {"patientid": "7"})
        await instances(running, 3)


@WITH_DRAFT
async def test_college_application(bench: Bench, folder: str) -> None:
    """Three events of a student in any order, with those of others between them, are one application."""
    async with worker(bench, example(folder, "finalize-college-application")) as running:
        kinds = ["submitted", "satscores", "recommendationLetter"]

        def sent(kind: str, student: str) -> CloudEvent:
            source, data = "applicationsource", {"applicantId": student}
            return event(f"{kind}-{student}", f"org.application.{kind}", source, data, applicantId=student)

        orders = {"ann": (0, 1, 2), "bob": (2, 1, 0), "eve": (1, 0)}
        for place in range(3):
            for student, order in orders.items():
                if place < len(order):
                    await send(running, sent(kinds[order[place]], student))
        called = await calls(running, 2)
        assert sorted(arguments["student"] for _, arguments in called) == ["ann", "bob"]
        await send(running, sent(kinds[2], "eve"))
        assert (await calls(running, 3))[2][1] == {"student": "eve"}


@BOTH_DIALECTS
async def test_car_auction(bench: Bench, folder: str) -> None:
    """Each bid has an instance of its own, and is stored once."""
    async with worker(bench, example(folder, "handle-car-auction-bids")) as running:
        bids = [
            event(str(n), "carBidMadeType", "carBidEventSource", {"bid": {"carid": "car123", "amount": n}})
            for n in (1, 2, 3)
        ]
        await send(running, *bids, *bids)
        called = await calls(running, 3)
        assert sorted(arguments["bid"]["amount"] for _, arguments in called) == [1, 2, 3]
        await instances(running, 3)


@BOTH_DIALECTS
async def test_room_readings(bench: Bench, folder: str) -> None:
    """Readings of a room go to one instance, which is kept active until its time is over, and reports then."""
    async with worker(bench, example(folder, "accumulate-room-readings", PT1H="PT8S")) as running:

        def read(id_: str, room: str) -> CloudEvent:
            return event(id_, "my.home.sensors", f"/home/rooms/{room}", {"temperature": int(id_)}, roomId=room)

        await send(running, *(read(str(n), "kitchen") for n in range(3)), read("9", "bath"))
        await calls(running, 4)
        await instances(running, 2)
        await until(lambda: len(running.scripted.calls) >= 6)
        reports = [arguments for name, arguments, *_ in running.scripted.calls if name == "ProduceReport"]
        assert len(reports) == 2


@BOTH_DIALECTS
async def test_purchase_order_in_time(bench: Bench, folder: str) -> None:
    """An order's three events lead one instance to its end, whatever comes for another order."""
    async with worker(bench, example(folder, "purchase-order-deadline")) as running:

        def order(kind: str, number: str) -> CloudEvent:
            return event(f"{kind}-{number}", "my.company.orders", f"/orders/{kind}", {}, orderid=number)

        await send(running, order("new", "1"), order("new", "2"), order("shipped", "1"), order("confirmed", "1"))
        called = [name for name, _ in await calls(running, 4)]
        assert sorted(called) == ["LogNewOrderCreated", "LogNewOrderCreated", "LogOrderConfirmed", "LogOrderShipped"]
        await until(lambda: running.scripted.published)
        assert len(running.scripted.published) == 1


async def test_purchase_order_too_late(bench: Bench) -> None:
    """An order that is not confirmed in time is cancelled."""
    async with worker(bench, example("0.8", "purchase-order-deadline", PT30D="PT2S")) as running:
        [receipt] = await send(running, event("1", "my.company.orders", "/orders/new", {}, orderid="1"))
        assert [name for name, _ in await calls(running, 2)] == ["LogNewOrderCreated", "CancelOrder"]
        assert receipt.instance is not None
        await result(bench.client.get_workflow_handle(receipt.instance))
        assert [one.type for one in running.scripted.published] == ["my.company.orders"]


async def test_visa_decision(bench: Bench) -> None:
    """Events without correlation reach the instances that the server lists."""
    after = [
        load({"id": name, "version": "1", "specVersion": "0.8", "states": [inject("Told", {"led": name}, end=True)]})
        for name in ("handleApprovedVisaWorkflowID", "handleRejectedVisaWorkflowID", "handleNoVisaDecisionWorkflowId")
    ]
    async with worker(bench, example("0.8-next", "event-based-transitions"), *after) as running:
        handle = await running.start()
        await running.awaiting(handle, "visaApprovedEvent")
        await instances(running, 1)
        [receipt] = await send(running, event("1", "VisaRejected", "visaCheckSource", {}))
        assert (receipt.status, receipt.instance) == ("sent", handle.id)
        assert await result(handle) == {"led": "handleRejectedVisaWorkflowID"}


ONBOARDING = """
events:
- {name: Registered, type: registered, source: desk, correlation: [{contextAttributeName: patientId}]}
- {name: Insured, type: insured, source: insurer/+, correlation: [{contextAttributeName: patientId}]}
functions: [{name: AssignDoctor, type: custom, operation: AssignDoctor}]
states:
- name: Onboard
  type: event
  exclusive: false
  onEvents:
  - eventRefs: [Registered, Insured]
    actions: [{functionRef: {refName: AssignDoctor, arguments: {name: '${ .name }', plan: '${ .plan }'}}}]
  end: true
"""


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
async def test_patient_onboarding(bench: Bench, order: Sequence[int]) -> None:
    """Two correlated events in either order, with those of a third party between them."""
    async with worker(bench, named(ONBOARDING)) as running:

        def of(patient: str) -> list[CloudEvent]:
            return [
                event(f"r-{patient}", "registered", "desk", {"name": patient}, patientId=patient),
                event(f"i-{patient}", "insured", "insurer/north", {"plan": f"of {patient}"}, patientId=patient),
            ]

        ann, bob = of("ann"), of("bob")
        await send(running, ann[order[0]], bob[order[1]], event("x", "insured", "elsewhere", {}, patientId="ann"))
        await send(running, ann[order[0]], ann[order[1]])
        assert [arguments for _, arguments in await calls(running, 1)] == [{"name": "ann", "plan": "of ann"}]
        await send(running, bob[order[0]])
        assert (await calls(running, 2))[1][1] == {"name": "bob", "plan": "of bob"}


@pytest.mark.parametrize(
    ("start", "started"),
    [
        ("{type: event, event: {type: a}}", [["a"], ["a"]]),
        ("{type: eventsXor, events: [{type: a}, {type: b}]}", [["a"], ["a"], ["b"]]),
        ("{type: eventsAnd, events: [{type: a}, {type: b}]}", [["a", "b"]]),
        ("{type: eventsAnd, correlate: [of], events: [{type: a}, {type: b}]}", [["a", "b"]]),
    ],
)
async def test_direktiv(bench: Bench, start: str, started: list[list[str]]) -> None:
    """Each kind of start gets the events that it names, once."""
    definition = load(
        f"id: /direktiv-{os.getpid()}-{next(_NUMBERS)}\nstart: {start}\n"
        "states: [{id: a, type: noop, transform: 'jq({kinds: keys})'}]"
    )
    async with worker(bench, definition) as running:
        events = [event("1", "a", "s", 1, of="x"), event("2", "b", "s", 2, of="x"), event("3", "a", "s", 3, of="y")]
        await send(running, *events, *events)
        found = await instances(running, len(started))
        outputs: list[Any] = [await result(bench.client.get_workflow_handle(one.id)) for one in found]
        assert sorted(one["kinds"] for one in outputs) == started
