"""Actions: the output of each is the input of the next.

0.8 merges results into the data, while the draft replaces the data. So the draft's data is kept under `data` in that of
0.8, each result under a separate key, and expressions combine them. A path that finds nothing is an error.
"""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Final, NamedTuple

from swf_temporal.base.strict_json import show_json
from swf_temporal.languages.serverless_workflow.upgrading.early_paths_to_jq import JqFinds
from swf_temporal.languages.serverless_workflow.upgrading.lowered import ALL, Lowered, left
from swf_temporal.languages.serverless_workflow.upgrading.paths_to_jq import NotInJqError
from swf_temporal.languages.serverless_workflow.upgrading.trees import Tree, braced, children, template
from swf_temporal.text.round_trip import add

DATA: Final = ".data"
GIVEN: Final = ".given"


class Paths(NamedTuple):
    input: str | None
    result: str | None
    output: str | None

    def passed(self, result: str, before: str) -> str:
        """Return the filter's output for a *result* and the data *before*. Raises NotInJqError."""
        return selected(_put(result, self.result, before), self.output, "outputPath")


def paths_of_state(state: Mapping[str, Any]) -> Paths | None:
    """Return the paths of the filter of *state*, if it has one."""
    given = state.get("stateDataFilter")
    return None if given is None else Paths(given.get("input"), given.get("@result"), given.get("output"))


def paths_of_action(action: Mapping[str, Any]) -> Paths:
    given = action.get("actionDataFilter", {})
    return Paths(given.get("fromStateData"), given.get("toStateData"), given.get("results"))


def selected(value: str, path: str | None, key: str) -> str:
    """Return the expression that selects *path*, written under *key*, from *value*. Raises NotInJqError."""
    if path is None:
        return value
    finds = JqFinds(path)
    if finds.steps == []:
        return value
    if not finds.is_singular:
        return f"({value} | [{finds.found}])"
    complaint = show_json(f"{key} {finds.text} leads to nothing in the data")
    return f"({value} | first(({finds.found}), error({complaint})))"


def _put(value: str, path: str | None, into: str) -> str:
    """Return *into* with *value* at *path*; the value itself if there is no path."""
    steps = [] if path is None else JqFinds(path).steps
    if steps is None:
        raise NotInJqError(f"the resultPath {path!r} is not a path of a single field")
    if not steps:
        return value
    return f"({value} as $result | {into} | setpath({show_json(steps)}; $result))"


_ERRORS: Final = {
    "SYS.MatchAny": (),
    "SYS.Timeout": ("TimedOut", "408", "504"),
    "SYS.Permission": ("401", "403", "PERMISSION_DENIED", "UNAUTHENTICATED"),
    "SYS.InvalidParameter": ("400", "422", "INVALID_ARGUMENT"),
}
"""The codes in 0.8 for the words for errors; any other word is also compared with results."""


class Actions:
    """The actions of one state, at any depth: each result has a separate key."""

    def __init__(self, definition: Lowered, state: Tree) -> None:
        self._definition = definition
        self._state = state
        self.made = 0
        """The number of actions so far."""

    def rewrite(self, holder: Tree, mode: str, value: str = DATA) -> str:
        """Rewrite the actions of *holder*, with the input *value*; return their result. Raises NotInJqError."""
        actions = list(children(holder, "actions"))
        if not any(action.get("@resultRetries") for action in actions):  # reported with the retry
            time = self._definition.shared_timeout(self._state, actions)
            if time is not None:
                self._definition.set_action_timeout(holder, actions, time)
        results = []
        for action in actions:
            found = self._action(action, value, len(actions))
            if mode == "parallel" and len(actions) > 1:
                results.append(found)
            else:
                value = found
        if results:
            add(holder, "actionMode", "parallel", "type" if "type" in holder else "name")
        return f"[{', '.join(results)}]" if results else value

    def branch(self, branch: Tree, owner: str) -> str | None:
        """Convert the states of *branch* to actions; return their result, None if they are not a sequence."""
        found = self._definition.sequence(branch["@scope"], owner, _why_not)
        if found is None:
            return None
        actions: list[Any] = []
        value = DATA
        for state in found:
            value = self._nested(state, value, actions)
        left(branch, "@scope", "actions")
        nothing = [{"functionRef": self._definition.nothing()}] if not actions else []
        branch["actions"] = self._definition.with_sleeps(actions) + nothing
        return value

    def _nested(self, state: Tree, before: str, actions: list[Any]) -> str:
        given = paths_of_state(state)
        entered = self._now(before if given is None else selected(before, given.input, "inputPath"), actions)
        result = entered
        if state["type"] == "sleep":
            actions.append(state["duration"])
        elif reference := _sub_flow(state):
            result = self._key()
            keeping = {"fromStateData": braced(entered), "toStateData": braced(result)}
            actions.append({"subFlowRef": deepcopy(reference), "actionDataFilter": keeping})
        else:
            result = self.rewrite(state, "sequential", entered)
            actions += children(state, "actions")
        return self._now(result if given is None else given.passed(result, before), actions)

    def _now(self, value: str, actions: list[Any]) -> str:
        """Return the key of *value*; an action evaluates it at once, so that a path that finds nothing fails there."""
        if value == DATA or value.startswith(".output"):
            return value
        key = self._key()
        name = self._definition.expression(f"{self._state.get('name')} {key.removeprefix('.')}", value)
        actions.append({"functionRef": name, "actionDataFilter": {"toStateData": braced(key)}})
        return key

    def _key(self) -> str:
        self.made += 1
        return f".output{self.made}" if self.made > 1 else ".output"

    def _action(self, action: Tree, value: str, count: int) -> str:
        given, key = paths_of_action(action), self._key()
        reference = action["functionRef"]
        reference["arguments"] = template(reference["arguments"])
        self._retry(action, count)
        keeping = {
            "fromStateData": braced(selected(value, given.input, "inputPath")),
            "toStateData": braced(key),
        }
        if "actionDataFilter" in action:
            action["actionDataFilter"] = keeping
        else:
            add(action, "actionDataFilter", keeping, "functionRef")
        return given.passed(key, value)

    def _retry(self, action: Tree, count: int) -> None:
        retries = list(children(action, "@resultRetries"))
        action.pop("@resultRetries", None)
        if not retries:
            return
        report, called, retry = self._definition.report, self._definition.report.called(self._state), retries[0]
        match, following = retry["match"], retry.get("nextState")
        if len(retries) > 1 or match not in _ERRORS:
            report.inexpressible(
                f"an action of {called} is repeated if its result or an error matches {match!r}: since 0.5 retries"
                " are on errors only, by code",
                action,
            )
            return
        if "@timeout" in action or (following is not None and (count > 1 or self._is_nested(action))):
            what = "its timeout is for each attempt" if "@timeout" in action else "its retry has a nextState"
            report.inexpressible(f"an action of {called} is repeated, and {what}", action)
            return
        codes = [self._definition.error(code, code) for code in _ERRORS[match]]
        more = {} if retry.get("times") is None else {"maxAttempts": retry["times"] + 1}
        add(
            action,
            "retryRef",
            self._definition.retry(str(self._state.get("name")), retry.get("interval"), **more),
            "name",
        )
        if codes:
            add(action, "retryableErrors", codes, "retryRef")
        if following is not None:
            paths = paths_of_state(self._state)
            if paths is not None and paths.result is not None:
                report.inexpressible(f"the error of a used-up retry of {called} is put at the resultPath", action)
                return
            if paths_of_action(action).output or (paths is not None and paths.output):
                # If that path finds nothing, the result from which it selects is in the data already.
                kept = {"type": "inject", "data": {}, "stateDataFilter": {"input": braced("{data}")}}
                name = f"{self._state.get('name')} has failed"
                following = self._definition.insert(name, {**kept, "transition": following})
            handlers = [{"errorRef": code, "transition": following} for code in codes or [ALL]]
            add(self._state, "onErrors", handlers, "type")
        report.reshaped("a retry of an action is defined at the top level, and referred to", action)

    def _is_nested(self, action: Tree) -> bool:
        return all(action is not one for one in children(self._state, "actions"))


def _sub_flow(state: Tree) -> Tree | None:
    """Return the reference of *state* to a sub-workflow, if it runs one."""
    return next((one["subFlowRef"] for one in children(state, "actions") if "subFlowRef" in one), None)


def _why_not(state: Tree) -> str | None:
    kind = state["type"]
    if kind == "foreach":
        return "has loop"
    if kind not in ("operation", "sleep"):
        return f"is of the type {state['@writtenType']!r}"
    reference = _sub_flow(state)
    if reference is not None and reference.get("invoke") == "async":
        return "runs a workflow that is not awaited"
    return "has onError" if state.get("onErrors") else None
