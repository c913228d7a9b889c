"""Generated definitions of older versions: those of `tests/agreement`, in the words and with the means of before."""

from copy import deepcopy
from random import Random
from typing import Any, TypeAlias

from tests.agreement.generating import scenario

Document: TypeAlias = dict[str, Any]

VERSIONS = ("0.5", "0.6", "0.7", "0.8")

_PATHS = {
    "${ . }": "{{ $ }}", "${ .n }": "{{ $.n }}", "${ .e }": "{{ $.e }}", "${ .items }": "{{ $.items }}",
    "${ .results }": "{{ $.results }}", "${ .got }": "{{ $.got }}", "${ .all }": "{{ $.all }}",
    "${ .result }": "{{ $.result }}", "${ .called }": "{{ $.called }}", "${ .items // [] }": "{{ $.items[*] }}",
    "${ .n > 2 }": "{{ $.items[?(@.i > 1)] }}", "${ .go == true }": "{{ $.go }}", '${ has("r") }': "{{ $.r }}",
    "${ {n, items} }": "{{ $.items }}", "${ {only: .} }": "{{ $.r }}", "${ {n} }": "{{ $.n }}",
    "${ {n: 1} }": "{{ $.n }}", "${ [1, 2, 3] }": "{{ $.items }}", "${ $WORKFLOW.id }": "n is {{ $.n }}",
}  # fmt: skip


def older(seed: int, version: str) -> Document:
    document = deepcopy(scenario(seed))
    random = Random(seed)  # noqa: S311 - the same seed is to make the same
    workflow = document["workflow"]
    if version in ("0.5", "0.6"):
        children = [one["id"] for one in document["definitions"]]
        _as_0_6(workflow, random, children)
        document.pop("cancel", None)
    if version == "0.5":
        document["workflow"] = _as_0_5(workflow)
    if version in ("0.7", "0.8"):
        workflow["specVersion"] = version
        _tolerated(workflow, random, is_before_0_8=version == "0.7")
    return document


def _as_0_6(workflow: Document, random: Random, children: list[str]) -> None:
    for key in ("specVersion", "autoRetries", "metadata", "keepActive"):
        workflow.pop(key, None)
    codes = {error["name"]: error["code"] for error in workflow.pop("errors")}
    workflow["schemaVersion"] = "0.6"
    workflow["start"] = workflow["states"][0]["name"]
    timeout = workflow.pop("timeouts", {}).get("workflowExecTimeout")
    if timeout is not None:
        workflow["execTimeout"] = {"duration": timeout} if isinstance(timeout, str) else timeout
    for retry in workflow["retries"]:
        retry["maxAttempts"] -= 1
        retry.pop("jitter", None)
    for state in workflow["states"]:
        _state(state, random, codes, children)


def _state(state: Document, random: Random, codes: dict[str, str], children: list[str]) -> None:
    timeouts = state.pop("timeouts", {})
    if children and state["type"] == "operation" and random.random() < 0.4:
        _subflow(state, random, children)
    _names_of_0_6(state)
    if "eventTimeout" in timeouts:
        state["eventTimeout" if state["type"] == "switch" else "timeout"] = timeouts["eventTimeout"]
    for branch in state.get("branches", ()):
        branch.pop("timeouts", None)
    for action in _all_actions(state):
        _action(action, timeouts.get("actionExecTimeout"))
    for entry in state.get("onErrors", ()):
        entry["error"] = entry.pop("errorRef")
        entry["code"] = codes[entry["error"]]
        if random.random() < 0.3:
            entry["retryRef"] = random.choice(["R0", "R1"])
    for way in (
        state,
        *(one for key in ("onErrors", "dataConditions", "eventConditions") for one in state.get(key, ())),
    ):
        _way(way)
    _way(state.get("default", {}))


def _names_of_0_6(state: Document) -> None:
    if state["type"] == "sleep":
        state["type"], state["timeDelay"] = "delay", state.pop("duration")
    if state.pop("completionType", None):
        number = state.pop("numCompleted")
        state.update({"completionType": "xor"} if number == 1 else {"completionType": "n_of_m", "n": number})
    state.pop("mode", None)
    for new, old in (("defaultCondition", "default"), ("batchSize", "max")):
        if new in state:
            state[old] = state.pop(new)


def _way(node: Document) -> None:
    if isinstance(node.get("end"), dict):
        node["end"].pop("continueAs", None)
        node["end"] = node["end"] or True


def _subflow(state: Document, random: Random, children: list[str]) -> None:
    for key in ("actions", "actionMode"):
        state.pop(key, None)
    state.update(type="subflow", workflowId=random.choice(children))
    chance = random.random()
    if chance < 0.3:
        state["waitForCompletion"] = chance < 0.15
    elif chance < 0.5:
        # One that ends: the data of the sub-workflow decide, or that it ran once.
        state["repeat"] = {"expression": "${ .go == true and (.items | length) > 9 }", "checkBefore": chance < 0.4}


def _action(action: Document, timeout: str | None) -> None:
    for key in ("sleep", "condition", "retryRef", "retryableErrors"):
        action.pop(key, None)
    action.get("actionDataFilter", {}).pop("useResults", None)
    if "subFlowRef" in action:
        del action["subFlowRef"]
        action["functionRef"] = {"refName": "f0", "arguments": {"a": 1}}
    reference = action.get("functionRef")
    if isinstance(reference, dict):
        reference.pop("invoke", None)
    if "eventRef" in action:
        action["eventRef"].pop("consumeEventTimeout", None)
        _event_names(action["eventRef"])
    if timeout is not None:
        action["timeout"] = timeout


def _event_names(reference: Document) -> None:
    names = {"produceEventRef": "triggerEventRef", "consumeEventRef": "resultEventRef"}
    names["consumeEventTimeout"] = "resultEventTimeout"
    for new, old in names.items():
        if new in reference:
            reference[old] = reference.pop(new)


def _as_0_5(workflow: Document) -> Document:
    workflow = _paths(workflow)
    workflow.pop("schemaVersion")
    workflow.pop("execTimeout", None)
    start = workflow.pop("start")
    # Functions that are expressions came with 0.6.
    workflow["functions"] = [one for one in workflow["functions"] if one.pop("type", None) != "expression"]
    for state in workflow["states"]:
        if state["name"] == start:
            state["start"] = {"kind": "default"}
        for action in _all_actions(state):
            if action.get("functionRef") == "calc":
                action["functionRef"] = {"refName": "f0"}
        _respelled(state)
    for retry in workflow["retries"]:
        for key in ("increment", "maxDelay", "multiplier"):
            retry.pop(key, None)
        retry["multiplier"] = "PT2S"
    return workflow


def _paths(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _paths(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_paths(item) for item in value]
    if isinstance(value, str) and value.startswith("${"):
        return _PATHS.get(value, "{{ $.n }}")
    return value


def _all_actions(state: Document) -> list[Document]:
    holders = (state, *state.get("onEvents", ()), *state.get("branches", ()))
    inside = [action for holder in holders for action in holder.get("actions", ())]
    return [*inside, *([state["action"]] if "action" in state else [])]


def _respelled(state: Document) -> None:
    state.pop("repeat", None)
    names = {"input": "dataInputPath", "output": "dataOutputPath"}
    if "stateDataFilter" in state:
        state["stateDataFilter"] = {names[key]: value for key, value in state["stateDataFilter"].items()}
    for action in _all_actions(state):
        given = action.get("actionDataFilter", {})
        for old, new in (("fromStateData", "dataInputPath"), ("results", "dataResultsPath")):
            if old in given:
                given[new] = given.pop(old)
        if isinstance(action.get("functionRef"), dict) and "arguments" in action["functionRef"]:
            action["functionRef"]["parameters"] = action["functionRef"].pop("arguments")
    ways = [state, state.get("default", {})]
    ways += [one for key in ("onErrors", "dataConditions", "eventConditions") for one in state.get(key, ())]
    for way in ways:
        if way.get("end") is True:
            way["end"] = {"kind": "default"}
        elif isinstance(way.get("end"), dict):
            end = way["end"]
            end["kind"] = (
                "terminate" if end.pop("terminate", False) else "event" if "produceEvents" in end else "default"
            )
        if isinstance(way.get("transition"), str):
            way["transition"] = {"nextState": way["transition"]}


def _tolerated(workflow: Document, random: Random, *, is_before_0_8: bool) -> None:
    """Write some things as 0.7 and 0.8 tolerate them, and nothing that came later."""
    for state in workflow["states"]:
        if "defaultCondition" in state and random.random() < 0.5:
            state["default"] = state.pop("defaultCondition")
        if state["type"] == "sleep" and random.random() < 0.5:
            state["type"], state["timeDelay"] = "delay", state.pop("duration")
        if state.get("completionType") == "atLeast" and random.random() < 0.5:
            state["completionType"], state["n"] = "n_of_m", state.pop("numCompleted")
        for action in _all_actions(state):
            if is_before_0_8:
                _without_words_of_0_8(action)
            _tolerated_action(action, random)


def _without_words_of_0_8(action: Document) -> None:
    action.pop("condition", None)
    action.get("actionDataFilter", {}).pop("useResults", None)
    for key in ("functionRef", "subFlowRef"):
        if isinstance(action.get(key), dict):
            action[key].pop("invoke", None)


def _tolerated_action(action: Document, random: Random) -> None:
    if "eventRef" in action:
        _event_names(action["eventRef"])
    reference = action.get("functionRef")
    if isinstance(reference, dict) and random.random() < 0.3:
        reference["parameters"] = reference.pop("arguments")
    if "actionDataFilter" in action and random.random() < 0.3:
        action["actionFilter"] = action.pop("actionDataFilter")
