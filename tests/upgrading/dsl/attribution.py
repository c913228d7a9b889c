"""Takes what an upgrade reports out of a scenario: without it, the original and the rewritten one have to agree.

That two runs differ, and that the report says something, would not show that the one is why. So what the report names
is replaced in the original by the plainest that there is; whatever then still differs is not what was reported.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final, TypeAlias

from swf_temporal.languages.serverless_workflow.upgrading.dsl.actions import LATE, WHOLE
from swf_temporal.languages.serverless_workflow.upgrading.dsl.errors import ALWAYS, GIVEN, STATUSES
from swf_temporal.languages.serverless_workflow.upgrading.dsl.events import CORRELATED
from swf_temporal.languages.serverless_workflow.upgrading.dsl.expressions import ERROR_PARTS, MESSAGES
from swf_temporal.languages.serverless_workflow.upgrading.dsl.iterations import COLLECTING, IN_TURN, SEEN
from swf_temporal.languages.serverless_workflow.upgrading.dsl.merging import ARRAYS, DEEP, PLACED, RESPONSE
from swf_temporal.languages.serverless_workflow.upgrading.dsl.states import FIRST, LOST, ORDER
from swf_temporal.languages.serverless_workflow.upgrading.dsl.upgrade import INTERRUPT, KEPT, STARTED
from tests.upgrading.agreeing import Document
from tests.upgrading.dsl.agreeing import Compared, Outcome, compared, differences, run

Edit: TypeAlias = Callable[[Document], None]
"""Takes something out of a scenario."""
_CALL: Final = {"functionRef": {"refName": "f0", "arguments": {"a": 1}}}
_CALLING: Final = ("functionRef", "name", "retryRef", "retryableErrors", "sleep")


def attributed(found: Compared, document: Document) -> Compared | None:
    """Return how the scenario *document* compares without what was reported; None if it cannot run then.

    At last calls that would be answered at once take some time, and their order does not matter: which of
    several branches comes first at one moment is up to a runtime, also whether a call is made before another fails.
    """
    general = {ARRAYS, RESPONSE}
    reported = set(found.reported) - general
    for more in (set[str](), general, {AT_ONCE}):
        reported |= more & {*found.reported, AT_ONCE}  # what is left may be reported where something else was before
        while (edited := _without(document, reported)) != document:
            document = edited
            again = compared(found.name, document)
            if again is None or again.outcome is not Outcome.REPORTED:
                return again
            found = again
            reported |= set(found.reported) - general  # what is left may be reported in other words
    before, after = (run(one) for one in found.both)
    assert before is not None
    assert after is not None
    return found if differences(before, after, ordered=False) else replace(found, outcome=Outcome.AGREE)


AT_ONCE: Final = "branches at the same moment"


def _without(document: Document, reported: set[str]) -> Document:
    edited: Document = json.loads(json.dumps(document))
    for text, edit in _EDITS:
        if any(text in one for one in reported):
            edit(edited)
    return edited


def _drop(*keys: str) -> Edit:
    """Take *keys* out of the definitions, wherever they are in them."""

    def edit(document: Document) -> None:
        for node in _nodes(document):
            for key in keys:
                node.pop(key, None)

    return edit


def _same_arguments(document: Document) -> None:
    """Let all calls give the same arguments."""
    for node in _nodes(document):
        reference = node.get("functionRef")
        if isinstance(reference, dict):
            reference.pop("parameters", None)
            reference["arguments"] = {"a": 1}


def _of_states(change: Callable[[Document], None], *kinds: str) -> Edit:
    """Let *change* change the states of these *kinds*; without any, all."""

    def edit(document: Document) -> None:
        for node in _nodes(document):
            for state in node.get("states", ()):
                if not kinds or state["type"] in kinds:
                    change(state)

    return edit


def _nodes(document: Document) -> Iterator[Document]:
    """Yield all objects in the definitions of a scenario."""
    found: list[object] = [document["workflow"], *document.get("definitions", [])]
    while found:
        node = found.pop()
        if isinstance(node, dict):
            yield node
            found += node.values()
        elif isinstance(node, list):
            found += node


def _plain_branches(state: Document) -> None:
    for several in (state, *state.get("branches", ()), *state.get("onEvents", ())):
        if several in state.get("branches", ()) or several.get("actionMode") == "parallel":
            for action in several.get("actions", ()):
                for key in ("condition", "sleep"):
                    action.pop(key, None)
                if "eventRef" in action:
                    del action["eventRef"]
                    action.update(_CALL)
    for branch in state.get("branches", ()):
        branch["actions"] = branch.get("actions", [])[:1]


def _plain_iterations(state: Document) -> None:
    """Let iterations not see what those before them did: they run in turn in 1.0, each on the data of the last."""
    state["mode"] = "sequential"
    state.pop("batchSize", None)
    for action in state.get("actions", ()):
        kept = {key: action[key] for key in _CALLING if key in action}
        filter_ = {key: value for key, value in action.get("actionDataFilter", {}).items() if key != "fromStateData"}
        action.clear()
        action.update(_CALL, **kept, **({"actionDataFilter": filter_} if filter_ else {}))
        reference = action["functionRef"]
        if reference == "calc" or isinstance(reference, dict):
            action["functionRef"] = {
                "refName": "f0" if reference == "calc" else reference["refName"],
                "arguments": {"a": 1},
            }


def _without_data(state: Document) -> None:
    for entry in state.get("onEvents", ()):
        entry["eventDataFilter"] = {"useData": False}


def _without_timeout(state: Document) -> None:
    state.get("timeouts", {}).pop("eventTimeout", None)


def _without_run_before(document: Document) -> None:
    for node in _nodes(document):
        timeout = node.get("timeouts", {}).get("workflowExecTimeout") if "states" in node else None
        if isinstance(timeout, dict) and "runBefore" in timeout:
            name = timeout.pop("runBefore")
            if f'"{name}"' not in json.dumps([{**one, "name": ""} for one in node["states"]]):
                node["states"] = [one for one in node["states"] if one["name"] != name]


def _not_started_by_events(document: Document) -> None:
    for node in _nodes(document):
        if node.get("states") and node["states"][0]["type"] == "event":
            first = node["states"][0]["name"]
            node["states"].insert(0, {"name": "First", "type": "inject", "data": {}, "transition": first})
            node.pop("start", None)


def _only_objects(document: Document) -> None:
    """Let nothing that is merged into data be an array, or have one, or be no object."""
    for answer in _answers(document):
        if "returns" in answer:
            made = _without_arrays(answer["returns"])
            answer["returns"] = made if isinstance(made, dict) else {"r": 1}
    if isinstance(document.get("input"), dict):
        document["input"] = {key: [] if isinstance(value, list) else value for key, value in document["input"].items()}
    for node in _nodes(document):
        node.pop("outputCollection", None)
        if node.get("type") == "inject":
            node["data"] = _without_arrays(node.get("data", {}))


def _without_arrays(value: object) -> object:
    """Return *value* with objects in the place of arrays: two that are merged have the members of both."""
    if isinstance(value, list):
        return {json.dumps(one): True for one in value}
    return {key: _without_arrays(one) for key, one in value.items()} if isinstance(value, dict) else value


def _not_at_once(document: Document) -> None:
    for index, answer in enumerate(_answers(document)):
        answer.setdefault("takes", f"PT0.{index + 1:03}S")


def _answers(document: Document) -> Iterator[Document]:
    """Yield the answers of functions that are written as objects."""
    for script in document.get("functions", {}).values():
        several = script.get("then", [script]) if isinstance(script, dict) else ()
        yield from (one for one in several if isinstance(one, dict) and {"returns", "raises"} & one.keys())


_EDITS: Final[tuple[tuple[str, Edit], ...]] = (
    ("that a call does not give are null", _same_arguments),
    (KEPT, _drop("keepActive")),
    (IN_TURN, _of_states(_plain_iterations, "foreach")),
    (COLLECTING, _drop("outputCollection")),
    (SEEN, _of_states(_plain_iterations, "foreach")),
    ("iterations remove a key", _of_states(_plain_iterations, "foreach")),
    (FIRST, _drop("completionType", "numCompleted", "n")),
    ("1.0 waits for all branches, or for one", _drop("completionType", "numCompleted", "n")),
    (WHOLE, _of_states(_plain_branches)),
    (ALWAYS, _drop("retryRef", "autoRetries")),
    ("the delays of the retry", _drop("maxDelay", "increment", "multiplier")),
    ("the jitter of the retry", _drop("jitter")),
    ("1.0 awaits every call", _drop("invoke")),
    ("outlives this one", _drop("invoke", "onParentComplete")),
    ("ends with this one", _drop("onParentComplete")),
    ("1.0 has no continueAs", _drop("continueAs")),
    ("1.0 cannot leave a try task by a switch", _drop("onErrors")),
    (GIVEN, _drop("onErrors")),
    (STATUSES, _drop("onErrors")),
    ("is looked for in the detail of errors", _drop("onErrors", "retryableErrors")),
    (ERROR_PARTS, _drop("onErrors")),
    (MESSAGES, _drop("onErrors")),
    (CORRELATED, _drop("correlation")),
    (PLACED, _drop("toStateData")),
    (DEEP, _drop("toStateData")),
    (LATE, _drop("actionExecTimeout")),
    ("in its metadata, which 1.0 does not have", _drop("metadata")),
    ("are written for runBefore", _without_run_before),
    (INTERRUPT, _drop("interrupt")),
    (STARTED, _not_started_by_events),
    (ORDER, _of_states(_without_data, "event")),
    (LOST, _of_states(_without_timeout, "event")),
    ("compensateOnCancel", _drop("metadata")),
    (AT_ONCE, _not_at_once),
    (ARRAYS, _only_objects),
    (RESPONSE, _only_objects),
)
"""What is taken out of a scenario, by a part of what is reported."""
