"""Two tenants of one gateway and one namespace, each of whom tries to reach what is the other's."""

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import quote

import httpx
import pytest

from swf_temporal.events.routing import instance_id, mailbox_id
from tests.cli.conftest import Dev, Swf, until
from tests.definitions import definition

pytestmark = pytest.mark.temporal

_T = TypeVar("_T")
_R = TypeVar("_R")

TENANTS = ("red", "blue")
TRIES = 8
KINDS = ("instances", "events", "ids", "sub-workflows", "mailboxes", "tasks")

ORDER = definition("""\
id: TENANT-order
start: Wait
events:
- {name: Placed, type: placed, source: shop, correlation: [{contextAttributeName: order}]}
- {name: Paid, type: paid, source: bank, correlation: [{contextAttributeName: order}]}
states:
- name: Wait
  type: event
  onEvents: [{eventRefs: [Placed], eventDataFilter: {toStateData: .placed}}]
  transition: Part
- {name: Part, type: operation, actions: [{subFlowRef: TENANT-part}], transition: Pay}
- {name: Pay, type: event, onEvents: [{eventRefs: [Paid], eventDataFilter: {toStateData: .paid}}], end: true}
""")

PART = definition("""\
id: TENANT-part
start: Go
events: [{name: Go, type: go, source: shop}]
states: [{name: Go, type: event, onEvents: [{eventRefs: [Go]}], end: true}]
""")

WATCH = definition("""\
id: TENANT-watch
start: Begin
events: [{name: Seen, type: seen, source: shop, correlation: [{contextAttributeName: order}]}]
states:
- {name: Begin, type: inject, data: {}, transition: Wait}
- {name: Wait, type: event, onEvents: [{eventRefs: [Seen], eventDataFilter: {toStateData: .seen}}], end: true}
""")


@dataclass
class Order:
    """An instance of a tenant, and what belongs to it."""

    number: int
    id: str
    part: str
    mailbox: str
    next: str
    """The id of an instance that an event has yet to start."""


@dataclass
class Client:
    tenant: str
    http: httpx.Client
    orders: list[Order] = field(default_factory=list)

    def ask(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Return the answer to a request, once the gateway has had time for it."""
        return until(lambda: self.http.request(method, path, **options), lambda answer: answer.status_code != 503)

    def send(self, type_: str, source: str, order: object, path: str = "/events", **rest: object) -> httpx.Response:
        event = {"specversion": "1.0", "id": f"{type_}-{order}", "source": source, "type": type_, "order": str(order)}
        return self.ask("POST", path, json=event | {"data": f"of {self.tenant}"} | rest, headers=STRUCTURED)

    def place(self, number: int) -> Order:
        [receipt] = self.send("placed", "shop", number).json()["receipts"]
        found = until(lambda: self.ask("GET", at(receipt["instance"])).json(), lambda told: told.get("subflows"))
        definition = f"{self.tenant}-order"
        mailbox = mailbox_id(definition, {"order": str(number)})
        following = instance_id(definition, {"order": str(number + TRIES)})
        return Order(number, receipt["instance"], found["subflows"][0], mailbox, following)


def at_once(work: Callable[[_T], _R], on: Sequence[_T]) -> list[_R]:
    """Return what *work* returns: refusals take their time, so that nobody learns which ids there are."""
    with ThreadPoolExecutor(16) as pool:
        return list(pool.map(work, on))


STRUCTURED = {"Content-Type": "application/cloudevents+json"}


def at(instance: str, *rest: str) -> str:
    return "/".join(["/instances", quote(instance, safe=""), *rest])


@pytest.fixture(scope="module")
def clients(dev: Dev, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Client]]:
    """Return the clients of two tenants, each of whom has instances that wait in sub-workflows."""
    place = Swf(tmp_path_factory.mktemp("tenants"))
    settings = []
    for tenant in TENANTS:
        for text in (ORDER, PART, WATCH):
            name = text.split("TENANT-")[1].split("\n")[0]
            place.write(f"definitions/{tenant}-{name}.yaml", text.replace("TENANT", tenant))
        place.write(f"{tenant}.key", f"{tenant}-0123456789abcdef")
        settings.append(f"{tenant}: {{keys: ['file:{tenant}.key'], workflows: ['{tenant}-*']}}")
    place.write("swf.yaml", f"gateway: {{tenants: {{{', '.join(settings)}}}}}")
    queue = ["--task-queue", "tenants", "--address", dev.address]
    with ExitStack() as stack:
        worker = stack.enter_context(place.running("worker", "definitions", *queue))
        worker.until("working for")
        options = ["definitions", "--config", "swf.yaml", "--port", "0", *queue]
        gateway = stack.enter_context(place.running("gateway", *options, stream="stdout"))
        url = gateway.until("http://").strip()
        found = {}
        for tenant in TENANTS:
            key = {"X-API-Key": f"{tenant}-0123456789abcdef"}
            # The gateway closes connections that are idle for long, and a request may be under way by then.
            limits = httpx.Limits(max_keepalive_connections=0)
            http = httpx.Client(base_url=url, trust_env=False, timeout=60, headers=key, limits=limits)
            stack.enter_context(http)
            found[tenant] = Client(tenant, http)
        for client in found.values():
            client.orders = at_once(client.place, range(TRIES))
        yield found
        gateway.stop(signal.SIGTERM)


def tries(kind: str, thief: Client, order: Order) -> Sequence[httpx.Response]:
    """Return the answers to what *thief* tries to reach *order* by, which is another tenant's."""
    other = next(one for one in TENANTS if one != thief.tenant)
    own = f"/workflows/{thief.tenant}-part"
    match kind:
        case "instances":
            some = [("GET", at(order.id)), ("POST", at(order.id, "cancel")), ("POST", at(order.id, "terminate"))]
            some += [("GET", at(order.id, "result")), ("GET", f"/instances?definition={other}-order")]
            some += [("POST", f"/workflows/{other}-part"), ("GET", "/instances?limit=100")]
            return [thief.ask(*some[order.number % len(some)])]
        case "events":
            return [
                thief.send("paid", "bank", order.number, at(order.id, "events")),
                thief.send("paid", "bank", order.number, swfinstance=order.id),
            ]
        case "ids":
            chosen = [order.next, order.mailbox, f"variables:instance:{order.id}", "swf-anything"]
            return [thief.ask("POST", own, params={"id": chosen[order.number % len(chosen)]})]
        case "sub-workflows":
            some = [("GET", at(order.part)), ("POST", at(order.part, "cancel")), ("POST", at(order.part, "terminate"))]
            following = order.part.replace("#1", "#2")
            return [
                thief.ask(*some[order.number % len(some)]),
                thief.send("go", "shop", order.number, at(order.part, "events")),
                thief.ask("POST", own, params={"id": following}),
            ]
        case "mailboxes":
            some = [("GET", at(order.mailbox)), ("POST", at(order.mailbox, "terminate"))]
            some += [("POST", at(order.mailbox, "cancel")), ("GET", at(order.mailbox, "result"))]
            return [
                thief.ask(*some[order.number % len(some)]),
                thief.send("paid", "bank", order.number, at(order.mailbox, "events")),
            ]
        case _:
            path = f"/tasks/{quote(order.part, safe='')}"
            return [
                thief.ask("GET", f"/tasks?definition={other}-part"),
                thief.ask("GET", path),
                thief.ask("POST", path, json={}),
            ]


@pytest.mark.parametrize("thief", TENANTS)
def test_nothing_of_another_tenant_is_reached(clients: dict[str, Client], thief: str) -> None:
    [owner] = [client for tenant, client in clients.items() if tenant != thief]
    all_tries = [(kind, order) for kind in KINDS for order in owner.orders]
    answers = at_once(lambda one: tries(one[0], clients[thief], one[1]), all_tries)
    told = [answer for each in answers for answer in each if answer.is_success and owner.tenant in answer.text]
    assert [(answer.request.url, answer.text) for answer in told] == []
    after = at_once(lambda order: owner.ask("GET", at(order.id)).json(), owner.orders)
    for order, status in zip(owner.orders, after, strict=True):
        assert (status["status"], status["state"], status["subflows"]) == ("running", "Part", [order.part])


@pytest.mark.parametrize("thief", TENANTS)
def test_who_takes_the_id_of_one_that_has_ended_gets_none_of_its_events(clients: dict[str, Client], thief: str) -> None:
    """A mailbox still knows an instance that was terminated, and another tenant may choose the same id."""
    [owner] = [client for tenant, client in clients.items() if tenant != thief]
    other = clients[thief]

    def try_(number: int) -> None:
        name = f"watch-{thief}-{number}"
        owner.ask("POST", f"/workflows/{owner.tenant}-watch", params={"id": name}).raise_for_status()
        waits(owner, name)
        owner.ask("POST", at(name, "terminate")).raise_for_status()
        other.ask("POST", f"/workflows/{thief}-watch", params={"id": name}).raise_for_status()
        waits(other, name)
        owner.send("seen", "shop", f"{thief}-{number}")

    def output(number: int) -> Any:
        path = at(f"watch-{thief}-{number}")
        # On a busy machine it is sent twice, and may have ended by the first; its output says whose event that was.
        assert other.send("seen", "shop", number, f"{path}/events", id=f"own-{number}").status_code in (202, 404, 409)
        return other.ask("GET", f"{path}/result", params={"wait": 30}).json()["output"]

    at_once(try_, range(TRIES))
    assert at_once(output, range(TRIES)) == [{"seen": f"of {thief}"}] * TRIES


def waits(client: Client, instance: str) -> None:
    until(lambda: client.ask("GET", at(instance)).json().get("awaiting"))


def test_each_tenant_ends_what_is_its_own(clients: dict[str, Client]) -> None:
    """With its own data, also where the other has sent the same events and tried to take the id before."""

    def output(of: tuple[Client, Order]) -> Any:
        client, order = of
        client.ask("POST", f"/tasks/{quote(order.part, safe='')}", json={}).raise_for_status()
        client.send("paid", "bank", order.number, id=f"own-{order.number}").raise_for_status()
        return client.ask("GET", at(order.id, "result"), params={"wait": 30}).json()["output"]

    for client in clients.values():
        data = f"of {client.tenant}"
        outputs = at_once(output, [(client, order) for order in client.orders])
        assert outputs == [{"placed": data, "paid": data}] * TRIES
