"""Workflows that are broken at random: `python -m tests.languages.direktiv.mutations --count 2000 --seed 0`.

Each is loaded, validated and simulated. It has to be refused with problems that say where they are and what to do, or
to run to an end; the same seed makes the same workflows. What does otherwise is printed, and the command ends with 1.
"""

import argparse
import json
import random
import re
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Final

import typer
import yaml

from swf_temporal import InvalidDefinition, UsageError, simulate
from swf_temporal.base.errors import Problem
from swf_temporal.languages.loading import check, load

PATIENCE = 60
"""Seconds in which every workflow is done with, on a machine that is busy."""

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
_RAW = re.compile(r"Input should|validation error|Traceback|<class|object at 0x")
"""What our own libraries say to us, and not to an author."""


def mutated(seed: int) -> tuple[str, Any]:
    """Return a workflow that is broken in one to four places, in JSON or YAML or as a broken text, and an input."""
    chance = random.Random(seed)  # noqa: S311 - the same mutations every time
    document = {"start": deepcopy(chance.choice(STARTS)), **deepcopy(DOCUMENT)}
    for _ in range(chance.choice([1, 1, 2, 4])):
        places = list(_places(document))
        if places:
            _change(*chance.choice(places), places, chance)
    text: str = json.dumps(document) if chance.random() < 0.5 else yaml.safe_dump(document)
    if chance.random() < 0.1:
        at = chance.randrange(len(text))
        text = (
            text[:at]
            + chance.choice(["", "\t", "{", "]", ": ", "\n", '"', "&a", "*a", "jq("])
            + text[at + chance.randint(0, 9) :]
        )
    return text, chance.choice(_INPUTS)


def _change(owner: Any, key: Any, places: list[tuple[Any, Any]], chance: random.Random) -> None:
    match chance.choice(["delete", "replace", "replace", "copy", "rename"]):
        case "delete":
            del owner[key]
        case "replace":
            owner[key] = deepcopy(chance.choice(_ODD))
        case "copy":
            other, its = chance.choice(places)
            owner[key] = deepcopy(other[its])
        case "rename" if isinstance(key, str):
            owner[chance.choice([*_KEYS, f"{key}s"])] = owner.pop(key)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(items):
        yield value, key
        yield from _places(item)


def outcome(text: str, given: Any) -> str:
    """Load, validate and simulate a workflow; return what came of it. Raises AssertionError if that helps nobody."""
    checked = check(text)
    for problem in checked.problems:
        _assert_helpful(problem, text)
    try:
        definition = load(text)
    except InvalidDefinition:
        assert checked.errors, "it is refused, and validation finds nothing"
        return "refused"
    assert not checked.errors, "it is loaded, and validation finds errors"
    assert definition.outline.parts
    functions = {use.function.name: {"y": 2} for use in definition.functions}
    try:
        run = simulate(
            text, given, functions=functions, definitions=[_OTHER], events=_EVENTS,
            secrets=dict.fromkeys(definition.secrets, "s"),
        )  # fmt: skip
    except UsageError:
        return "not simulated"
    assert run.error is None or (run.error.name and run.error.code and run.error.message), "the error says nothing"
    assert run.error is None or run.error.name != "InternalError", run.error
    return run.status


def _assert_helpful(problem: Problem, text: str) -> None:
    lines = [*text.splitlines(), ""]  # what is missing may be missing at the end
    told = f"{problem}"
    assert 1 <= problem.position.line <= len(lines), f"it is in no line: {told}"
    assert 1 <= problem.position.column <= len(lines[problem.position.line - 1]) + 1, f"it is in no column: {told}"
    assert _RAW.search(told) is None, f"it is told in the words of a library: {told}"


class TakesTooLongError(Exception):
    """A workflow is not done with in its time."""


def _too_long(*_: object) -> None:
    raise TakesTooLongError(f"it takes more than {PATIENCE} seconds")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.languages.direktiv.mutations", description=__doc__)
    parser.add_argument("--count", type=int, default=2000, help="how many workflows")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first; the others follow")
    asked = parser.parse_args()
    outcomes: Counter[str] = Counter()
    signal.signal(signal.SIGALRM, _too_long)
    for seed in range(asked.seed, asked.seed + asked.count):
        signal.alarm(PATIENCE)
        text, given = mutated(seed)
        try:
            outcomes[outcome(text, given)] += 1
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
            outcomes["defect"] += 1
            typer.echo(f"seed {seed}: {type(error).__name__}: {error}")
        finally:
            signal.alarm(0)
    typer.echo(", ".join(f"{count} {name}" for name, count in sorted(outcomes.items())))
    return int(bool(outcomes["defect"]))


if __name__ == "__main__":
    sys.exit(main())
