"""What services are not asked, cannot answer, or are asked when nobody waits: a claim must not hold because of it."""

import logging
import threading
from pathlib import Path

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.errors import CallFailed
from swf_temporal.runtime.host import FunctionCall
from swf_temporal.simulation.scenario import find_scenarios, stub_services_of
from tests.simulation.texts import calling, came_of

CAUGHT = calling("""\
  functions: [{name: read, OPERATION}]
  errors: [{name: any, code: "*"}]
  states:
    - name: Read
      type: operation
      actions: [{functionRef: read}]
      onErrors: [{errorRef: any, end: true}]
      end: true
""")
READ = CAUGHT.replace("OPERATION", 'operation: "rest:GET:https://orders.example/orders/7?tag=a&tag=b&page=2"')
ADD = CAUGHT.replace("OPERATION", 'type: rpc, operation: "users.proto#Users#Add"')
GUARDED = CAUGHT.replace(
    "  functions",
    '  secrets: [KEY]\n  auth: [{name: mine, scheme: bearer, properties: {token: "${ $SECRETS.KEY }"}}]\n  functions',
).replace("OPERATION", 'operation: "rest:GET:https://orders.example/orders/7", authRef: mine')
PROTO = 'syntax = "proto3";\nmessage User { string name = 1; }\nservice Users { rpc Add(User) returns (User); }\n'


def test_a_service_that_is_not_there_is_told(tmp_path: Path) -> None:
    simulation, differences = came_of(tmp_path, READ + "services: {https://odrers.example: {GET /orders/7: {}}}")
    assert simulation.status == "completed"
    assert differences == ["services: the scenario has no service at orders.example:443: describe it in `services`"]


@pytest.mark.parametrize("answer", ["{nmae: Ada}", "[{name: Ada}]", "Ada", "{name: {}}"])
def test_an_answer_that_is_no_message_is_told(tmp_path: Path, answer: str, caplog: pytest.LogCaptureFixture) -> None:
    """A proto file says what a service can answer; where it cannot, that is no failure of the service."""
    (tmp_path / "users.proto").write_text(PROTO, encoding="utf-8")
    with caplog.at_level(logging.ERROR):
        simulation, [told] = came_of(tmp_path, ADD + f"services: {{users.proto: {{Users/Add: {answer}}}}}")
    assert simulation.status == "completed"
    assert told.startswith("services: users.proto: the answer to Users/Add is not a User: ")
    assert not caplog.records


@pytest.mark.parametrize(
    "more", ["functions: {raed: {}}", "expect: {calls: {raed: 0}}", "expect: {delays: {raed: []}}"]
)
def test_functions_that_there_are_not(tmp_path: Path, more: str) -> None:
    _, differences = came_of(tmp_path, READ + "services: {https://orders.example: {GET /orders/7: {}}}\n" + more)
    assert differences == ["functions: no definition has a function 'raed'"]


def test_a_field_that_comes_several_times(tmp_path: Path) -> None:
    text = READ + "services: {https://orders.example: {GET /orders/7: {}}}\nexpect: {requests: [{query: QUERY}]}"
    assert came_of(tmp_path, text.replace("QUERY", '{tag: [a, b], page: "2"}'))[1] == []
    assert came_of(tmp_path, text.replace("QUERY", '{tag: b, page: "2"}'))[1] != []


@pytest.mark.parametrize(
    "service", ["https://bücher.example", "https://xn--bcher-kva.example", "HTTPS://BÜCHER.example"]
)
def test_hosts_are_the_same_however_they_are_written(tmp_path: Path, service: str) -> None:
    text = READ.replace("orders.example", "bücher.example") + f"services: {{'{service}': {{GET /orders/7: {{a: 1}}}}}}"
    simulation, differences = came_of(tmp_path, text)
    assert (simulation.output, differences) == ({"a": 1}, [])


def test_brokers_at_one_port_are_told_apart(tmp_path: Path) -> None:
    """A broker answers in the protocol of its name, and an address of IPv6 is one like any other."""
    document = """\
asyncapi: 3.0.0
info: {title: Lights, version: 1.0.0}
servers: {lights: {host: "[::1]:1883", protocol: mqtt}}
channels: {news: {address: news, messages: {told: {payload: {type: object}}}}}
operations: {hear: {action: receive, channel: {$ref: "#/channels/news"}}}
"""
    (tmp_path / "lights.yaml").write_text(document, encoding="utf-8")
    text = CAUGHT.replace("OPERATION", 'type: asyncapi, operation: "lights.yaml#hear"')
    simulation, differences = came_of(tmp_path, text + "services: {'mqtt://[::1]:1883': {news: {on: true}}}")
    assert (simulation.output, differences) == ({"on": True}, [])
    _, differences = came_of(tmp_path, text + "services: {'kafka://[::1]:1883': {news: {on: true}}}")
    assert differences == ["services: the scenario has no service at mqtt://::1:1883: describe it in `services`"]


@pytest.mark.parametrize(("text", "message"), [
    (ADD + "services: {https://users.example: {}}",
     "the server of function 'read' is not known: describe it in `services`, by the name of its document"),
    (GUARDED + "services: {https://orders.example: {}}", "the secret 'KEY' is not known here: give it in `secrets`"),
    (CAUGHT.replace("OPERATION",
                    "type: custom, operation: 'temporal:Ship@ships'") + "services: {https://orders.example: {}}",
     "function 'read' is an activity of another worker: answer it in `functions`"),
])  # fmt: skip
def test_says_what_to_do_in_a_scenario(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "users.proto").write_text(PROTO, encoding="utf-8")
    simulation, _ = came_of(tmp_path, text.replace("      onErrors: [{errorRef: any, end: true}]\n", ""))
    assert simulation.error is not None
    assert message in simulation.error.message


@pytest.mark.parametrize(("file", "output"), [
    ("a.json", {"a": 1}),
    ("a.yaml", '{"a": 1}'),
    ("a.txt", '{"a": 1}'),
    ("a.png", {"mediaType": "image/png", "base64": "eyJhIjogMX0="}),
    ("a", {"mediaType": "application/octet-stream", "base64": "eyJhIjogMX0="}),
])  # fmt: skip
def test_files_are_of_the_type_that_their_names_tell(tmp_path: Path, file: str, output: object) -> None:
    (tmp_path / file).write_text('{"a": 1}', encoding="utf-8")
    text = READ.replace("end: true\n", 'stateDataFilter: {output: "${ .response // . }"}\n      end: true\n')
    simulation, _ = came_of(
        tmp_path, text + f"services: {{https://orders.example: {{GET /orders/7: {{file: {file}}}}}}}"
    )
    assert simulation.output == output


def test_a_service_has_the_clock_that_it_says(tmp_path: Path) -> None:
    """The date of an answer is what the scenario writes, so that one may ask to be called again at another date."""
    text = READ.replace("functionRef: read}", "functionRef: read, retryRef: once}").replace(
        "  errors", "  retries: [{name: once, delay: PT1S, maxAttempts: 2}]\n  errors"
    )
    answer = (
        "{status: 503, headers: {Date: 'Mon, 01 Jan 2024 00:00:00 GMT', Retry-After: 'Mon, 01 Jan 2024 00:02:00 GMT'}}"
    )
    services = f"services: {{https://orders.example: {{GET /orders/7: {{then: [{answer}, {{}}]}}}}}}\n"
    assert came_of(tmp_path, text + services + "expect: {delays: {read: [PT2M]}}")[1] == []


def test_every_run_is_the_same(tmp_path: Path) -> None:
    """Calls side by side get their answers in one order, and one that is given up was made."""
    text = calling("""\
  functions: [{name: read, operation: "rest:GET:https://orders.example/{id}"}, {name: quick, type: custom}]
  retries: [{name: once, delay: PT10S, jitter: 0.5, maxAttempts: 2}]
  states:
    - name: Each
      type: foreach
      inputCollection: "${ .ids }"
      iterationParam: id
      outputCollection: "${ .read }"
      actions: [{functionRef: {refName: read, arguments: {id: "${ .id }"}}, retryRef: once}]
      transition: One
    - name: One
      type: parallel
      completionType: atLeast
      numCompleted: 1
      branches:
        - {name: slow, actions: [{functionRef: {refName: read, arguments: {id: last}}}]}
        - {name: quick, actions: [{functionRef: quick}]}
      end: true
input: {ids: [1, 2, 3, 4, 5, 6, 7, 8]}
functions: {quick: {}}
services:
  https://orders.example:
    GET /1: {n: 1}
    GET /2: {then: [{status: 503}, {n: 2}]}
    GET /3: {n: 3}
    GET /4: {then: [{status: 503}, {n: 4}]}
    GET /5: {n: 5}
    GET /6: {n: 6}
    GET /7: {n: 7}
    GET /8: {n: 8}
    GET /last: {}
""")
    runs = [came_of(tmp_path, text) for _ in range(5)]
    assert [differences for _, differences in runs] == [[]] * 5
    told = [[request["request"] for request in simulation.requests] for simulation, _ in runs]
    assert told == [[*(f"GET /{number}" for number in range(1, 9)), *told[0][8:10], "GET /last"]] * 5
    assert len({simulation.elapsed for simulation, _ in runs}) == 1


def test_an_answer_that_nobody_reads_to_its_end(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "big.txt").write_text("x" * 8_000_000, encoding="utf-8")
    text = READ.replace("      onErrors: [{errorRef: any, end: true}]\n", "")
    simulation, _ = came_of(tmp_path, text + "services: {https://orders.example: {GET /orders/7: {file: big.txt}}}")
    assert simulation.error is not None
    assert simulation.error.code == "AnswerTooLarge"
    assert capfd.readouterr().err == ""


async def test_nothing_starts_when_all_is_over(tmp_path: Path) -> None:
    """A server may begin an attempt when its scenario has ended: services must not start again for it."""
    (tmp_path / "scenario.yaml").write_text(READ + "services: {https://orders.example: {}}", encoding="utf-8")
    services = stub_services_of(find_scenarios([tmp_path / "scenario.yaml"])[0])
    assert services is not None
    services.close()
    before = set(threading.enumerate())
    call = FunctionCall(
        id="1", function=Function(name="read", operation="rest:GET:https://orders.example/"), arguments=None,
        state="read", action="Read",
    )  # fmt: skip
    with pytest.raises(CallFailed, match="the scenario is over"):
        await services.perform(call, source="<definition>", key="1", attempt=1)
    assert set(threading.enumerate()) == before
