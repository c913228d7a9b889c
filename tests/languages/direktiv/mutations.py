"""Workflows that are broken at random, and what has to come of each.

It has to be refused with problems that say where they are and what to do, or to run to an end; the same seed makes the
same workflows.
"""

import random
from copy import deepcopy
from typing import Any, Final

import yaml

from swf_temporal import UsageError, simulate
from tests.loading.mutations import broken, loaded, status_of

DOCUMENT: Final[dict[str, Any]] = yaml.safe_load("""
url: https://example.com
description: All of it
functions:
- {type: knative-workflow, id: f, image: x, size: small, cmd: run, scale: 1}
- {type: knative-namespace, id: g, service: x}
- {type: kubernetes-job, id: h, image: x, size: large}
- {type: subflow, id: sub, workflow: other}
timeouts: {interrupt: PT1H, kill: PT2H}
states:
- {id: a, type: noop, log: "n is jq(.n)", metadata: {m: "jq(.n)"}, transition: b}
- id: b
  type: switch
  conditions: [{condition: "jq(.n)", transform: "jq(.)", transition: c}]
  defaultTransform: {n: 1}
  defaultTransition: d
  catch: [{error: "*", transition: d}]
- id: c
  type: action
  timeout: PT1M
  action:
    function: f
    input: {a: ["jq(.n + 1)", "a jq(.list[0].n) b"]}
    secrets: [token]
    retries: [{max_attempts: 1, delay: PT1S, multiplier: 1.5, codes: ["f.*"]}]
  catch: [{error: "f.*", transition: d}, {error: direktiv.jq.badCommand}]
  transition: d
- {id: d, type: foreach, array: "jq(.list)", action: {function: g, input: "jq(.n)"}, timeout: PT1M, transition: e}
- {id: e, type: parallel, mode: or, actions: [{function: g}, {function: h}], transform: "jq(.)", transition: g}
- id: g
  type: eventsXor
  timeout: PT1S
  events: [{event: {type: x, context: {k: "jq(.n)"}}, transform: {a: 1}, transition: h}, {type: y}]
  catch: [{error: "direktiv.*", transition: h}]
- id: h
  type: setter
  variables:
  - {key: k, scope: workflow, value: "jq(.n)"}
  - {key: t, mimeType: application/octet-stream, value: aGk=}
  transition: i
- {id: i, type: getter, variables: [{key: k, scope: workflow, as: v}, {key: uuid, scope: system}], transition: j}
- {id: j, type: validate, subject: "jq(.)", schema: {type: object, properties: {n: {pattern: "^1"}}}, transition: k}
- {id: k, type: eventsAnd, timeout: PT1S, events: [{type: paid}, {type: paid}], catch: [{error: "*", transition: l}]}
- id: l
  type: generateEvent
  delay: PT1S
  event: {type: t, source: s, data: "jq(.n)", datacontenttype: text/plain, context: {k: 1}}
  transition: m
- {id: m, type: delay, duration: PT1S, transition: n}
- {id: n, type: consumeEvent, event: {type: paid}, timeout: PT1S, catch: [{error: "*", transition: o}], transition: o}
- {id: o, type: action, async: true, action: {function: sub}, transition: p}
- {id: p, type: error, error: an.error, message: "jq(.n) %v", args: ["jq(.n)"]}
""")
STARTS: Final[list[Any]] = [
    {"type": "default", "state": "a"},
    {"type": "scheduled", "cron": "0 9 * * 1-5"},
    {"type": "event", "event": {"type": "a", "filters": {"k": "v*"}}},
    {"type": "eventsXor", "events": [{"type": "a"}, {"type": "b", "context": {"k": 1}}]},
    {"type": "eventsAnd", "lifespan": "PT1H", "correlate": ["k"], "events": [{"type": "a"}, {"type": "b"}]},
]
_OTHER: Final = {"id": "other", "states": [{"id": "a", "type": "noop"}]}
_ODD: Final[list[Any]] = [
    None, True, False, 0, -1, 1.5, 10**40, 1e300, "", "x", "jq(", "jq(.a)", "jq(.n |)", "jq(empty)", "jq(.list[])",
    "x jq(.n", "jq(1, 2)", "js(1)", 'jq("(")', "*", "(", "(a+)+$", "P", "PT1S", "P1Y2M", "immediate", "system",
    "a", "p", [], {}, [None], [[]], {"a": None}, {"@": 1}, {"type": "noop"}, {"id": "a", "type": "noop"}, "\u0000",
    "é\U0001f600", "a" * 5000,
]  # fmt: skip
_KEYS: Final = ["@", "where", "id", "type", "name", "event", "events", "action", "states", "context", "Transform", "x"]
_INPUTS: Final[list[Any]] = [{"n": 1, "list": [{"n": 1}]}, {}, [], None, "text", {"n": {"n": []}, "list": [1, None]}]
_EVENTS: Final = [{"type": "paid", "source": "s", "data": number} for number in range(3)]
_BREAKS: Final = ["", "\t", "{", "]", ": ", "\n", '"', "&a", "*a", "jq("]


def mutated(seed: int) -> tuple[str, Any]:
    """Return a workflow that is broken in one to four places, in JSON or YAML or as a broken text, and an input."""
    chance = random.Random(seed)  # noqa: S311 - the same mutations every time
    document = {"start": deepcopy(chance.choice(STARTS)), **deepcopy(DOCUMENT)}
    text = broken(document, chance, _ODD, _KEYS)
    if chance.random() < 0.1:
        at = chance.randrange(len(text))
        text = text[:at] + chance.choice(_BREAKS) + text[at + chance.randint(0, 9) :]
    return text, chance.choice(_INPUTS)


def outcome(text: str, given: Any) -> str:
    """Load, validate and simulate a workflow; return what came of it. Raises AssertionError if that helps nobody."""
    definition = loaded(text)
    if definition is None:
        return "refused"
    assert definition.outline.parts
    functions = {use.function.name: {"y": 2} for use in definition.functions}
    try:
        run = simulate(
            text, given, functions=functions, definitions=[_OTHER], events=_EVENTS,
            secrets=dict.fromkeys(definition.secrets, "s"),
        )  # fmt: skip
    except UsageError:
        return "not simulated"
    return status_of(run)
