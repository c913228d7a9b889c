"""Definitions in every language whose instances make calls, some of which fail first, and the service they call."""

from collections import Counter
from http.server import ThreadingHTTPServer
from typing import cast

from tests.definitions import definition
from tests.listening import Quiet

_STEPS = 40
_LAST = _STEPS - 1


class Service(ThreadingHTTPServer):
    """Answers every path that begins with `/flaky` first with 503."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.asked: Counter[str] = Counter()
        self.parents: list[str | None] = []


class _Answering(Quiet):
    def respond(self, content: bytes) -> None:  # noqa: ARG002 - there is none
        service, path = cast("Service", self.server), self.path.partition("?")[0]
        service.asked[path] += 1
        service.parents.append(self.headers.get("traceparent"))
        if path.startswith("/flaky") and service.asked[path] == 1:
            self.answer(b"{}", status=503, headers={"Direktiv-ErrorCode": "shop.busy", "Direktiv-ErrorMessage": "busy"})
        else:
            self.answer(b"{}")


def _chain() -> str:
    states = [
        f"  - {{name: Step {number}, type: inject, data: {{a: 1}}, transition: Step {number + 1}}}"
        if number % 10
        else f"  - {{name: Step {number}, type: operation, actions: [{{functionRef: ask, retryRef: Again}}], "
        f"transition: Step {number + 1}}}"
        for number in range(1, _STEPS)
    ]
    return definition(
        """\
id: chain
functions: [{name: ask, type: http, operation: "rest:GET:http://127.0.0.1:PORT/flaky-08?key=4111"}]
retries: [{name: Again, delay: PT0.01S, maxAttempts: 3}]
states:
"""
        + "\n".join(states)
        + f"\n  - {{name: Step {_STEPS}, type: parallel, branches: ["
        "{name: left, actions: [{functionRef: ask}]}, {name: right, actions: [{subFlowRef: beneath}]}], end: true}\n"
    )


_BENEATH = definition("""\
id: beneath
functions: [{name: look, type: http, operation: "rest:GET:http://127.0.0.1:PORT/beneath"}]
states: [{name: Look, type: operation, actions: [{functionRef: look}], end: true}]
""")
_DIREKTIV = """\
functions: [{type: knative-workflow, id: ask, image: shop/ask:1}]
states:
- id: first
  type: action
  action: {function: ask, retries: {max_attempts: 2, delay: PT0.01S, codes: ["shop.*"]}}
  transition: second
- {id: second, type: noop, transition: third}
- {id: third, type: parallel, actions: [{function: ask}, {function: ask}]}
"""
_DSL = """\
document: {dsl: 1.0.3, namespace: shop, name: dsl, version: 1.2.3}
do:
- first:
    try:
    - ask: {call: http, with: {method: get, endpoint: "http://127.0.0.1:PORT/flaky-dsl"}}
    catch: {retry: {limit: {attempt: {count: 2}}}}
- second:
    for: {each: one, in: "${ [1, 2] }"}
    do: [{again: {call: http, with: {method: get, endpoint: "http://127.0.0.1:PORT/dsl"}}}]
- third:
    fork:
      branches:
      - left: {call: http, with: {method: get, endpoint: "http://127.0.0.1:PORT/left"}}
      - right: {do: [{deep: {set: {a: 1}}}]}
"""
FILES = {"chain.yaml": _chain(), "beneath.yaml": _BENEATH, "flow.yaml": _DIREKTIV, "dsl.yaml": _DSL}
CONFIG = 'services: {"shop/ask": {baseUrl: "http://127.0.0.1:PORT/flaky-direktiv"}}\n'
STARTED = {"0.8": "chain", "Direktiv": "/flow.yaml", "DSL 1.0": "shop.dsl"}
"""The definitions that are started, by their languages."""
