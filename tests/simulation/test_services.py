"""Services that a scenario describes: functions are really called, at these and nowhere else."""

import asyncio
import gc
import threading
from pathlib import Path
from typing import Any

import pytest

from swf_temporal.base.errors import UsageError
from swf_temporal.runtime.host import FunctionCall
from swf_temporal.simulation.scenario import context_of, observed, stub_services_of, workflows_of
from tests.simulation.texts import calling, came_of, scenario

READ = calling("""\
  functions: [{name: read, operation: "rest:GET:https://orders.example/orders/7"}]
  states: [{name: Read, type: operation, actions: [{functionRef: read}], end: true}]
""")


def reading(rest: str) -> str:
    return READ + rest


def _threads() -> set[threading.Thread]:
    """Return the threads of services: servers and clients of other tests have theirs, which come and go meanwhile."""
    ours = ("services", "serve_forever", "process_request_thread")
    return {one for one in threading.enumerate() if any(name in one.name for name in ours)}


def test_what_is_asked_is_seen(tmp_path: Path) -> None:
    """Method, path, query, headers and body of every request are there to be compared, and nothing is left running."""
    before = _threads()
    text = calling("""\
  functions: [{name: place, operation: {method: POST, uri: "https://orders.example/orders?dry={dry}"}}]
  states:
    - name: Place
      type: operation
      actions: [{functionRef: {refName: place, arguments: {dry: "yes", item: lamp}}}]
      end: true
services:
  https://orders.example:
    POST /orders: {status: 201, headers: {X-Place: shelf}, body: {id: 8}}
""")
    simulation, differences = came_of(tmp_path, text)
    assert differences == []
    assert simulation.output == {"id": 8}
    [asked] = simulation.requests
    assert (asked["service"], asked["request"]) == ("https://orders.example", "POST /orders?dry=yes")
    assert (asked["query"], asked["body"]) == ({"dry": "yes"}, {"item": "lamp"})
    assert asked["headers"]["host"] == "orders.example"  # type: ignore[index,call-overload]  # JSON of this shape
    assert _threads() <= before


@pytest.mark.parametrize("key", ["headers: {A: b}", "file: users.proto"])
def test_refuses_answers_of_grpc(tmp_path: Path, key: str) -> None:
    (tmp_path / "users.proto").write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match="an answer of gRPC has a body, or a status"):
        scenario(tmp_path, READ + f"services: {{users.proto: {{Users/Add: {{{key}}}}}}}")


def test_a_script_wins(tmp_path: Path) -> None:
    """A function that the scenario answers is not called, and nothing is started for it."""
    simulation, differences = came_of(
        tmp_path, READ + "functions: {read: {id: 1}}\nservices: {https://orders.example: {}}"
    )
    assert (simulation.output, simulation.requests, differences) == ({"id": 1}, (), [])


def test_no_other_service_is_reached(tmp_path: Path) -> None:
    simulation, _ = came_of(tmp_path, READ + "services: {https://elsewhere.example: {GET /orders/7: {}}}")
    assert simulation.error is not None
    assert simulation.error.code == "NotScripted"
    assert "no service at orders.example:443: describe it in `services`" in simulation.error.message


def test_a_service_of_another_protocol_is_none(tmp_path: Path) -> None:
    simulation, _ = came_of(tmp_path, READ + "services: {'http://orders.example:443': {GET /orders/7: {}}}")
    assert simulation.error is not None
    assert simulation.error.message == (
        "the scenario has no service at https://orders.example:443: describe it in `services`"
    )
    (tmp_path / "lights.yaml").write_text(LIGHTS.replace("PROTOCOL", "ws"), encoding="utf-8")
    text = calling("""\
  functions: [{name: hear, type: asyncapi, operation: "lights.yaml#hear"}]
  states: [{name: Hear, type: operation, actions: [{functionRef: hear}], end: true}]
services: {"http://lights.example": {GET /news: {}}}
expect: {error: {code: NotScripted}}
""")
    [told] = came_of(tmp_path, text)[1]
    assert "no service at ws://lights.example:80" in told


def test_a_request_without_an_answer_is_told(tmp_path: Path) -> None:
    text = READ.replace("end: true}]", "onErrors: [{errorRef: any, end: true}], end: true}]").replace(
        "  functions", "  errors: [{name: any, code: '501'}]\n  functions"
    )
    simulation, differences = came_of(tmp_path, text + "services: {https://orders.example: {GET /orders/8: {}}}")
    assert simulation.status == "completed"
    assert differences == ["services: https://orders.example received GET /orders/7, for which there is no answer"]


def test_answers_follow_each_other(tmp_path: Path) -> None:
    """The last one repeats, a path with the query that was asked for comes first, and time passes only in pauses."""
    text = calling("""\
  functions: [{name: read, operation: "rest:GET:https://orders.example/orders?page={page}"}]
  retries: [{name: often, delay: PT1H, maxAttempts: 4}]
  states:
    - name: Read
      type: operation
      actions:
        - {functionRef: {refName: read, arguments: {page: 1}}, retryRef: often}
        - {functionRef: {refName: read, arguments: {page: 2}}, actionDataFilter: {toStateData: "${ .second }"}}
      end: true
services:
  https://orders.example:
    GET /orders: {then: [{status: 503}, {status: 429, body: slow down}, {page: 1}]}
    GET /orders?page=2: {page: 2}
expect: {output: {page: 1, second: {page: 2}}, calls: {read: 4}, elapsed: PT2H}
""")
    assert came_of(tmp_path, text)[1] == []


def test_redirects_lead_to_other_services(tmp_path: Path) -> None:
    text = reading("""\
services:
  https://orders.example:
    GET /orders/7: {status: 302, headers: {Location: "http://archive.example/7"}}
  http://archive.example:
    GET /7: {archived: true}
expect:
  output: {archived: true}
  requests: [GET /orders/7, {service: "http://archive.example", request: GET /7}]
""")
    assert came_of(tmp_path, text)[1] == []


def test_texts_and_forms(tmp_path: Path) -> None:
    """An answer of a media type of its own is sent as the text that it is; a form is seen as an object."""
    document = """\
openapi: 3.0.3
info: {title: Forms, version: "1"}
servers: [{url: https://forms.example}]
paths:
  /greet:
    post:
      operationId: greet
      requestBody:
        content:
          application/x-www-form-urlencoded: {schema: {type: object, properties: {name: {type: string}}}}
      responses: {"200": {description: a greeting}}
"""
    (tmp_path / "forms.yaml").write_text(document, encoding="utf-8")
    text = calling("""\
  functions: [{name: greet, operation: "forms.yaml#greet"}]
  states:
    - name: Greet
      type: operation
      actions:
        - functionRef: {refName: greet, arguments: {name: "A & B"}}
          actionDataFilter: {toStateData: "${ .said }"}
      end: true
services:
  https://forms.example:
    POST /greet: {headers: {Content-Type: text/plain}, body: "Hello!"}
expect:
  output: {said: Hello!}
  requests: [{request: POST /greet, body: {name: A & B}}]
""")
    assert came_of(tmp_path, text)[1] == []


LIGHTS = """\
asyncapi: 3.0.0
info: {title: Lights, version: 1.0.0}
servers: {lights: {host: lights.example, protocol: PROTOCOL}}
channels:
  questions: {address: questions, messages: {asked: {correlationId: {location: "$message.header#/id"}}}}
  answers: {messages: {told: {correlationId: {location: "$message.header#/id"}}}}
  news: {address: news, messages: {told: {payload: {type: object}}}}
operations:
  hear: {action: receive, channel: {$ref: "#/channels/news"}}
  ask:
    action: send
    channel: {$ref: "#/channels/questions"}
    reply: {address: {location: "$message.header#/replyTo"}, channel: {$ref: "#/channels/answers"}}
"""


@pytest.mark.parametrize("protocol", ["mqtt", "amqp", "nats", "kafka", "ws"])
def test_messages_come_once(tmp_path: Path, protocol: str) -> None:
    (tmp_path / "lights.yaml").write_text(LIGHTS.replace("PROTOCOL", protocol), encoding="utf-8")
    text = calling(f"""\
  functions: [{{name: hear, type: asyncapi, operation: "lights.yaml#hear"}}]
  states:
    - name: Hear
      type: operation
      actions:
        - {{functionRef: hear, actionDataFilter: {{toStateData: "${{ .first }}"}}}}
        - {{functionRef: hear, actionDataFilter: {{toStateData: "${{ .second }}"}}}}
        - {{functionRef: hear}}
      end: true
services:
  {protocol}://lights.example:
    news: {{then: [{{on: true}}, {{on: false}}]}}
expect:
  error: {{code: ConnectionLost, message: before the expected message arrived}}
  requests: [RECEIVE news, RECEIVE news, RECEIVE news]
""")
    simulation, differences = came_of(tmp_path, text)
    assert differences == []
    completed = [entry.detail.get("result") for entry in simulation.trace if entry.kind == "action-completed"]
    assert len(completed) == 2


@pytest.mark.parametrize("protocol", ["mqtt", "ws"])
def test_a_subscription_has_the_messages_that_wait(tmp_path: Path, protocol: str) -> None:
    (tmp_path / "lights.yaml").write_text(LIGHTS.replace("PROTOCOL", protocol), encoding="utf-8")
    text = calling(f"""\
  functions: [{{name: hear, type: asyncapi, operation: {{document: lights.yaml, operation: hear}}}}]
  states:
    - name: Hear
      type: operation
      actions:
        - functionRef: {{refName: hear, arguments: {{subscription: s, amount: 2}}}}
          actionDataFilter: {{results: "${{ [.messages[].payload.on] }}", toStateData: "${{ .first }}"}}
        - functionRef: {{refName: hear, arguments: {{subscription: s, for: 60}}}}
          actionDataFilter: {{results: "${{ [.messages[].payload.on] }}", toStateData: "${{ .second }}"}}
        - functionRef: {{refName: hear, arguments: {{subscription: s, for: 60}}}}
          actionDataFilter: {{toStateData: "${{ .third }}"}}
        - functionRef: {{refName: hear, arguments: {{subscription: s, end: true}}}}
          actionDataFilter: {{useResults: false}}
      end: true
services:
  {protocol}://lights.example:
    news: {{then: [{{on: 1}}, {{on: 2}}, {{on: 3}}]}}
expect:
  output: {{first: [1, 2], second: [3], third: {{messages: [], receipt: null}}}}
""")
    assert came_of(tmp_path, text)[1] == []


def test_a_message_is_answered(tmp_path: Path) -> None:
    """What waits on the channel that was asked is the reply, at whatever address it was asked for."""
    (tmp_path / "lights.yaml").write_text(LIGHTS.replace("PROTOCOL", "amqp"), encoding="utf-8")
    text = calling("""\
  functions: [{name: ask, type: asyncapi, operation: "lights.yaml#ask"}]
  states:
    - name: Ask
      type: operation
      actions: [{functionRef: {refName: ask, arguments: {payload: {lamp: 3}}}}]
      end: true
services: {"amqp://lights.example": {questions: {on: true}}}
expect: {output: {on: true}}
""")
    simulation, differences = came_of(tmp_path, text)
    assert differences == []
    receiving, sending = simulation.requests
    assert str(receiving["request"]).startswith("RECEIVE swf-")
    assert (sending["request"], sending["body"]) == ("SEND questions", {"lamp": 3})


def test_a_proto_file_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "users.proto").write_text("service Users", encoding="utf-8")
    text = calling("""\
  functions: [{name: add, type: rpc, operation: "users.proto#Users#Add"}]
  states: [{name: Add, type: operation, actions: [{functionRef: add}], end: true}]
services: {users.proto: {Users/Add: {}}}
expect: {error: {code: BadDocument, message: users.proto}}
""")
    assert came_of(tmp_path, text)[1] == []


def test_two_runs_know_nothing_of_each_other(tmp_path: Path) -> None:
    text = READ + "services: {https://orders.example: {GET /orders/7: {then: [{n: 1}, {n: 2}]}}}"
    one = scenario(tmp_path, text)
    outputs: list[Any] = [observed(one, context_of(one).run({})).output for _ in range(2)]
    assert outputs == [{"n": 1}, {"n": 1}]


@pytest.mark.parametrize(("services", "message"), [
    ("{https://a.example/v1: {}}", "'https://a.example/v1' has a path: a service is an origin"),
    ("{ftp://a.example: {}}", "no stub service supports the protocol of 'ftp://a.example'"),
    ("{ftp://a.example: {}}", "there are mqtt"),
    ("{users.proto: {}}", "there is no file 'users.proto' beside this one"),
    ("{https://a.example: []}", "'https://a.example' must be an object, not a list"),
    ("{https://a.example: {/orders: {}}}",
     "'/orders' is not a request of 'https://a.example': write a method and a path"),
    ("{'mqtt://a.example': {' ': {}}}", "write the address of a channel"),
    ("{https://a.example: {GET /: {then: []}}}", "'then' must list at least one entry"),
    ("{https://a.example: {GET /: {status: 99}}}", "99 is not an HTTP status that ends a request"),
    ("{https://a.example: {GET /: {status: ok}}}", "'status' is a status of HTTP"),
    ("{https://a.example: {GET /: {headers: {A: 1}}}}", "'A' must be a text, not a number"),
    ("{https://a.example: {GET /: {file: a.json}}}", "there is no file 'a.json' beside this one"),
    ("{https://a.example: {GET /: {file: scenario.yaml, body: 1}}}", "an answer has a body or a file, not both"),
    ("{'mqtt://a.example': {a: {status: 200}}}", "a message has no status"),
    ("{orders.yaml: orders.example}", "'orders.example' is not an origin, such as https://orders.example"),
    ("{orders.yaml: 'https://a.example/v1'}", "'https://a.example/v1' has a path: a service is an origin"),
    ("{'https://a.example:x': {}}", "'https://a.example:x' is not a URL"),
    ("{'mqtt://a.example:99999': {}}", "'mqtt://a.example:99999' is not a URL"),
    ("{'https://[::1': {}}", "'https://[::1' is not a URL"),
    ("{'https://☃.example': {}}", "'https://☃.example' is not a URL"),
    ("{'https://': {}}", "'https://' names no host"),
    ("{'amqp://a.example/shop': {}}", "'amqp://a.example/shop' has a path"),
    ("{'https://me@a.example': {}}", "'https://me@a.example' has a user: leave it out"),
    ("{https://a.example: {}, 'https://A.example:443/': {}}", "is the same server as 'https://a.example'"),
    ("{mqtt://a.example: {}, 'mqtt5://a.example': {}}", "is the same server as 'mqtt://a.example'"),
    ("{https://a.example: {GET /: {status: sent}}}", "an answer that itself has the key `status` is written {body:"),
    ("{'mqtt://a.example': {a: {status: sent}}}", "an answer that itself has the key `status` is written {body:"),
    ("{https://a.example: {GET /: {status: 204, body: 1}}}", "an answer with the status 204 has no body"),
    ("{https://a.example: {GET /: {then: [1], status: 201}}}", "write 'status' in each of them"),
    ("{https://a.example: {GET /: {headers: {A: →}}}}", "the header 'A' has characters that HTTP does not allow"),
    ('{https://a.example: {GET /: {headers: {A: "a\\nB: b"}}}}', "the header 'A' has characters that HTTP"),
    ("{https://a.example: {GET /: {headers: {A b: c}}}}", "the header 'A b' has characters that HTTP does not"),
    ("{https://a.example: {GET /: {headers: {Content-Length: '1'}}}}", "the header 'Content-Length' must be left out"),
])  # fmt: skip
def test_refuses_services(tmp_path: Path, services: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        scenario(tmp_path, READ + f"services: {services}")
    assert message in str(caught.value)
    assert "scenario.yaml:8:" in str(caught.value)


@pytest.mark.parametrize(("requests", "message"), [
    ("GET /", "'requests' must be a list of all requests, or an object with some of them"),
    ("{GET /: {}}", "'GET /' must be the number of requests, or a list of their contents, not an object"),
    ("{GET /: [{asks: GET /}]}", "there are service, request, query, headers, body"),
    ("[7]", "must be a text such as GET /orders/7, or an object"),
    ("[{asks: GET /}]", "there are service, request, query, headers, body"),
    ("[{request: 7}]", "'request' must be a text, not a number"),
    ("[{headers: {A: 1}}]", "'A' must be a text, or null if it must be missing, not a number"),
    ("[{query: a}]", "'query' must be an object, not the text 'a'"),
    ("[GET orders]", "'GET orders' is not a request"),
    ("{get /orders: 0}", "'get /orders' is not a request"),
    ("[{request: SEND}]", "'SEND' is not a request"),
])  # fmt: skip
def test_refuses_requests(tmp_path: Path, requests: str, message: str) -> None:
    with pytest.raises(UsageError, match=r"scenario\.yaml:8:") as caught:
        scenario(tmp_path, READ + f"expect: {{requests: {requests}}}")
    assert message in str(caught.value)


@pytest.mark.parametrize(("requests", "difference"), [
    ("[]", "requests: expected 0, but there were 1: GET /orders/7"),
    ("[GET /orders/8]", 'requests[0].request: expected "GET /orders/8", but it is "GET /orders/7"'),
    ("[{query: {a: b}}]", 'requests[0].query: expected {"a": "b"}, but it is {}'),
    ("[{headers: {Accept: null}}]", "requests[0].headers.Accept: expected null, but it is "),
    ("[{headers: {X-Key: k}}]", 'requests[0].headers.X-Key: expected "k", but it is null'),
    ("[{body: {}}]", "requests[0].body: expected {}, but it is null"),
    ("{GET /orders/7: 2}", "requests GET /orders/7: expected 2, but there were 1"),
    ("{GET /orders/8: [{body: 1}]}", "requests GET /orders/8: expected 1, but there were 0: none"),
    ("{GET /orders/7: [{body: 1}]}", "requests GET /orders/7[0].body: expected 1, but it is null"),
    ("[{service: a}]", 'requests[0].service: expected "a", but it is "https://orders.example"'),
])  # fmt: skip
def test_tells_how_requests_differ(tmp_path: Path, requests: str, difference: str) -> None:
    text = READ + "services: {https://orders.example: {GET /orders/7: {}}}\n" + f"expect: {{requests: {requests}}}"
    [told] = came_of(tmp_path, text)[1]
    assert difference in told


async def test_a_call_that_fails_when_nobody_asks_any_more_fails_quietly(tmp_path: Path) -> None:
    """Where a call side by side with it was first to fail, its own failure is nothing to complain of."""
    text = reading("""\
services:
  https://orders.example:
    GET /orders/7: {status: 500}
""")
    one = scenario(tmp_path, text)
    services = stub_services_of(one)
    assert services is not None
    function = workflows_of(one)[0].functions[0].function
    call = FunctionCall(id="Read/read#1", function=function, arguments=None, state="Read", action="read")
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    try:
        calling = asyncio.create_task(services.perform(call, source="", key="", attempt=1))
        await asyncio.sleep(0)
        calling.cancel()
        await asyncio.wait([calling])
        assert calling.cancelled()
        assert [request["request"] for request in services.recorded.requests] == ["GET /orders/7"]
        del calling
        gc.collect()
    finally:
        await asyncio.to_thread(services.close)
        asyncio.get_running_loop().set_exception_handler(None)
    assert complaints == []
