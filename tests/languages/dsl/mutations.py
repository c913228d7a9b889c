"""Definitions in DSL 1.0 that are broken at random, and what has to come of each.

It has to be refused with problems that say where they are and what is wrong, or to run to an end; the same seed makes
the same definitions.
"""

import random
from copy import deepcopy
from typing import Any, Final

import yaml

from swf_temporal import Simulation, UsageError, simulate
from swf_temporal.languages.port import Definition
from tests.loading.mutations import broken, loaded, status_of

DOCUMENT: Final[dict[str, Any]] = yaml.safe_load("""
document:
  {dsl: 1.0.3, namespace: test, name: all-of-it, version: 0.1.0, title: All, summary: All, tags: {a: b},
   metadata: {a: 1}}
input: {schema: {format: json, document: {type: object}}, from: .}
output: {schema: {document: {}}, as: .}
timeout: long
evaluate: {language: jq, mode: strict}
use:
  secrets: [token, login]
  authentications:
    me: {basic: {use: login}}
    mine: {bearer: {token: "${ $secrets.token }"}}
    digest: {digest: {username: me, password: "${ $secrets.token }"}}
    openid: {oidc: {use: login}}
    token: {bearer: {use: login}}
    tls: {certificate: {use: login}}
    oauth:
      oauth2:
        authority: https://example.com/{n}
        endpoints: {token: /token, revocation: /revoke, introspection: /introspect}
        grant: urn:ietf:params:oauth:grant-type:token-exchange
        client: {id: me, secret: "${ $secrets.token }", assertion: jwt, authentication: private_key_jwt}
        request: {encoding: application/json}
        issuers: [me]
        scopes: [api]
        audiences: [them]
        username: me
        password: "${ $secrets.token }"
        subject: {token: jwt, type: urn:ietf:params:oauth:token-type:jwt}
        actor: {token: jwt, type: urn:ietf:params:oauth:token-type:jwt}
  catalogs: {global: {endpoint: {uri: "https://example.com/catalog"}}}
  errors:
    soldOut:
      {type: https://example.com/errors/sold-out, status: 400, instance: /do, title: "${ .n }", detail: "${ .n }"}
  retries:
    often:
      when: $error.status >= 500
      exceptWhen: .never
      delay: {seconds: 1}
      backoff: {exponential: {}}
      limit: {attempt: {count: 2, duration: PT1M}, duration: {hours: 1}}
      jitter: {from: {seconds: 0}, to: {milliseconds: 500}}
  timeouts: {long: {after: {days: 1, minutes: 1}}}
  functions:
    double: {set: {n: "${ .n * 2 }"}, input: {schema: {document: {type: object}}}}
    remote: {call: http, with: {method: get, endpoint: https://example.com}}
  extensions:
    - log: {extend: set, when: $task.name == "a", before: [{note: {set: "${ . }"}}], after: [{note: {set: "${ . }"}}]}
do:
  - a:
      if: .n != null
      set: {n: "${ .n }", items: [{i: 1}, {i: 2}], text: "n is ${ .n }"}
      export: {as: ., schema: {document: {}}}
  - b: {call: double, with: {n: "${ .n }"}, output: {as: $context + .}}
  - c: {switch: [{big: {when: .n > 10, then: d}}, {small: {when: .n < 0, then: end}}, {other: {then: continue}}]}
  - d: {for: {each: one, in: .items, at: at}, while: $at < 5, do: [{e: {set: {n: "${ $one.i + $at }"}}}]}
  - f: {fork: {compete: false, branches: [{left: {set: {l: 1}}}, {right: {do: [{inner: {wait: PT1S}}]}}]}}
  - g: {set: {n: 1}, timeout: {after: PT1M}, metadata: {a: 1}, input: {from: "${ .[0] }"}}
  - h:
      try:
        - call:
            call: http
            with:
              method: post
              endpoint: {uri: "https://example.com/{n}", authentication: {use: me}}
              headers: {x: "${ $secrets.token }"}
              query: {q: "${ .n }"}
              body: {n: "${ .n }"}
              output: content
              redirect: true
        - fail: {raise: {error: soldOut}}
      catch: {errors: {with: {status: 400}}, as: error, when: .n != 0, retry: often, do: [{i: {set: {n: 2}}}], then: j}
  - j: {emit: {event: {with: {source: https://example.com, type: placed, data: {n: "${ .n }"}}}}}
  - k: {listen: {to: {any: [{with: {type: paid}}, {with: {type: pid.*, data: "${ .n > 0 }"}}]}, read: envelope}}
  - l:
      listen: {to: {one: {with: {type: paid}, correlate: {n: {from: .data.n, expect: "${ 1 }"}}}}}
      foreach: {item: event, at: at, do: [{m: {set: {n: "${ $event }"}}}], output: {as: .n}, export: {as: $context}}
      timeout: {after: PT1M}
  - n: {run: {workflow: {namespace: test, name: other, version: latest, input: {n: 1}}, await: true}}
  - o: {run: {shell: {command: ls, arguments: [-l], environment: {A: "${ .n }"}}, return: all}}
  - p: {run: {container: {image: alpine, lifetime: {cleanup: eventually, after: PT1M}, pullPolicy: always}}}
  - q: {run: {script: {language: python, code: print(1), stdin: "${ .n }"}}}
  - r:
      call: openapi
      with:
        document: {name: api, endpoint: https://example.com/api.json}
        operationId: get
        parameters: {n: 1}
        authentication: {use: oauth}
        output: raw
        redirect: false
  - s:
      call: grpc
      with:
        proto: {endpoint: a.proto}
        service: {name: S, host: localhost, port: 80, authentication: {use: mine}}
        method: M
        arguments: {n: 1}
        authentication: {use: mine}
  - t:
      call: asyncapi
      with:
        document: {endpoint: a.json}
        operation: o
        authentication: {use: me}
        server: {name: s, variables: {n: "${ .n }"}}
        subscription: {filter: "${ .n }", consume: {amount: 1, for: PT1S}, foreach: {item: message}}
  - u:
      call: mcp
      with: {method: tools/call, parameters: {name: t}, timeout: PT1S, transport: {http: {endpoint: https://e.com}}}
  - v: {call: a2a, with: {method: message/send, server: https://example.com, parameters: {message: {}}}}
  - w: {wait: {milliseconds: 10}, then: x}
  - x:
      try: [{set: {set: {n: 1}}}]
      catch:
        errors: {with: {type: a, instance: /do, title: a, detail: a, details: a}}
        exceptWhen: .never
        retry: {backoff: {linear: {}}}
  - y: {try: [{again: {set: {n: 1}}}], catch: {retry: {backoff: {constant: {}}}}}
  - z:
      call: asyncapi
      with: {document: {endpoint: a.json}, channel: c, protocol: kafka, message: {payload: {n: 1}, headers: {n: "1"}}}
  - aa:
      if: .never
      call: asyncapi
      with: {document: {endpoint: a.json}, channel: c, subscription: {consume: {while: "${ .n }"}}}
  - bb:
      if: .never
      call: asyncapi
      with: {document: {endpoint: a.json}, channel: c, subscription: {consume: {until: "${ .n }"}}}
  - cc:
      call: mcp
      with:
        protocolVersion: "2025-06-18"
        method: tools/list
        client: {name: me, version: 1.0.0, description: tests}
        transport: {stdio: {command: ls, arguments: ["${ .n }"], environment: {A: "${ .n }"}}, options: {a: b}}
  - dd: {call: mcp, with: {method: tools/list, transport: {http: {endpoint: https://e.com, headers: {a: "${ .n }"}}}}}
  - ee:
      run:
        container:
          image: alpine
          name: "${ $task.name }"
          command: ls
          ports: {8080: 80}
          volumes: {/a: /b}
          environment: {A: "${ .n }"}
          stdin: "${ .n }"
          arguments: [a, "${ .n }"]
  - ff: {run: {script: {language: js, source: {endpoint: a.js}, arguments: ["${ .n }"], environment: {A: "${ .n }"}}}}
  - gg: {run: {shell: {command: ls, stdin: "${ .n }"}}}
  - hh: {call: a2a, with: {method: tasks/list, agentCard: {endpoint: https://example.com/card.json}}}
  - ii: {listen: {to: {any: [], until: {all: [{with: {type: paid}}]}}}, if: .never}
  - jj: {listen: {to: {any: [{with: {type: paid}}], until: ". | length > 0"}}, then: exit}
""")
SCHEDULES: Final[list[Any]] = [
    None,
    {"every": {"hours": 1}},
    {"cron": "0 9 * * 1-5"},
    {"after": "PT1H"},
    {"on": {"any": [{"with": {"type": "a", "data": "${ .n > 1 }"}}]}, "read": "envelope"},
    {"on": {"all": [{"with": {"type": "a"}, "correlate": {"k": {"from": ".data.k"}}}, {"with": {"type": "b"}}]}},
]
_OTHER: Final = {
    "document": {"dsl": "1.0.3", "namespace": "test", "name": "other", "version": "0.1.0"},
    "do": [{"a": {"set": {"n": 1}}}],
}
ODD: Final[list[Any]] = [
    None, True, False, 0, -1, 1.5, 10**40, "", "x", "${", "${ .a | }", "${ $secrets.token }", "${ $output }", "$x",
    ".n", "${ .n", "x ${ .n } y", "P", "PT1S",
    "P1Y2M", "end", "exit", "a", "1.0.0", "https://[", "{", [], {}, [None], [[]],
    {"a": None}, {"@": 1}, {"set": {}}, {"do": []}, {"use": "me"}, {"with": {}}, [{"a": {"set": {"x": 1}}}], "\u0000",
    "é\U0001f600", "a" * 5000,
]  # fmt: skip
KEYS: Final = ["@", "where", "*only*", "name", "do", "call", "set", "with", "use", "then", "if", "document", "x"]
INPUTS: Final[list[Any]] = [{"n": 1, "items": [{"i": 1}]}, {}, [], None, "text", {"n": {"n": []}, "items": [1, None]}]
_EVENTS: Final = [{"type": "paid", "source": "s", "data": {"n": number}} for number in range(3)]
_BREAKS: Final = ["", "\t", "{", "]", ": ", "\n", '"', "&a", "*a", "${"]


def mutated(seed: int) -> tuple[str, Any]:
    """Return a definition that is broken in one to four places, in JSON or YAML or as a broken text, and an input."""
    chance = random.Random(f"1.0 {seed}")  # noqa: S311 - the same mutations every time
    schedule = chance.choice(SCHEDULES)
    document = {**deepcopy(DOCUMENT), **({} if schedule is None else {"schedule": deepcopy(schedule)})}
    text = broken(document, chance, ODD, KEYS)
    if chance.random() < 0.1:
        at = chance.randrange(len(text))
        text = text[:at] + chance.choice(_BREAKS) + text[at + chance.randint(0, 9) :]
    return text, chance.choice(INPUTS)


def outcome(text: str, given: Any) -> str:
    """Load, validate and simulate a definition; return what came of it. Raises AssertionError if that helps nobody."""
    definition = loaded(text)
    if definition is None:
        return "refused"
    try:
        run = simulated(text, definition, given)
    except UsageError:
        return "not simulated"
    return status_of(run)


def simulated(text: str, definition: Definition, given: Any) -> Simulation:
    """Simulate a definition: each of its functions answers, and events come."""
    return simulate(
        text, given, functions={use.function.name: {"y": 2} for use in definition.functions}, definitions=[_OTHER],
        events=_EVENTS, secrets=dict.fromkeys(definition.secrets, "s"),
    )  # fmt: skip
