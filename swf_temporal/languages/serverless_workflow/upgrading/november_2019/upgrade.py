"""Rewrites a definition of the draft of November 2019 as 0.8."""

from collections.abc import Callable
from typing import Any, Final

from swf_temporal.languages.serverless_workflow.drafts.repetitions import repetition_of
from swf_temporal.languages.serverless_workflow.upgrading import older_words
from swf_temporal.languages.serverless_workflow.upgrading.conditions_to_jq import in_spel, rule_of
from swf_temporal.languages.serverless_workflow.upgrading.may_2020.texts import braced
from swf_temporal.languages.serverless_workflow.upgrading.november_2019 import words
from swf_temporal.languages.serverless_workflow.upgrading.november_2019.actions import Actions
from swf_temporal.languages.serverless_workflow.upgrading.november_2019.events import Events
from swf_temporal.languages.serverless_workflow.upgrading.november_2019.functions import functions_of
from swf_temporal.languages.serverless_workflow.upgrading.november_2019.pipeline import (
    DATA,
    GIVEN,
    filter_of,
    passed,
    selected,
)
from swf_temporal.languages.serverless_workflow.upgrading.paths_to_jq import NotInJqError
from swf_temporal.languages.serverless_workflow.upgrading.report import Report
from swf_temporal.languages.serverless_workflow.upgrading.trees import Tree, children
from swf_temporal.text.round_trip import add, replace

_JOINED: Final = {"single": " or ", "and": " and ", "or": " or ", "not": " or "}


def upgrade(root: Tree, report: Report) -> None:
    """Rewrite *root*, which is of the draft, as 0.8."""
    words.one_spelling(root)
    Rewriting(root, report).rewrite()


class Rewriting:
    """Rewrites one definition."""

    def __init__(self, root: Tree, report: Report) -> None:
        self.root = root
        self.report = report
        self.names = {state.get("name") for state in children(root, "states")}
        self.output = self.free("Output")
        self.functions: list[dict[str, Any]] = []
        self.errors: dict[str, dict[str, str]] = {}
        self.retries: list[dict[str, Any]] = []
        self.events = Events(self)
        self._inserted: list[dict[str, Any]] = []
        self._is_start = False

    def rewrite(self) -> None:
        """Rewrite everything."""
        root = self.root
        for key in ("schemaVersion", "execStatus"):
            root.pop(key, None)
        self.functions = functions_of(root)
        listed = root.get("states")
        if not isinstance(listed, list):
            return
        start = self._start()
        wraps = start is None or self.is_led_to(start)
        self.events.define()
        for state in list(children(root, "states")):
            self._inserted = []
            try:
                self._state(state, is_start=state is start and not wraps)
                if state is start and wraps:
                    self._put_in(state)
            except NotInJqError as error:
                self.report.inexpressible(f"{self.report.called(state)}: {error}", state)
            at = next(index for index, one in enumerate(listed) if one is state)
            listed[at + 1 : at + 1] = self._inserted
        for key, made in (
            ("retries", self.retries),
            ("errors", list(self.errors.values())),
            ("functions", self.functions),
        ):
            if made:
                add(root, key, [*root.get(key, []), *made], "start") if key not in root else root[key].extend(made)
        self._take_out(listed)
        self.report.reshaped("the data of the draft stand under 'data', since results are merged now", root)

    def free(self, name: str) -> str:
        """Return *name*, or one like it that no state has, which is then taken."""
        number, found = 1, name
        while found in self.names:
            number += 1
            found = f"{name} {number}"
        self.names.add(found)
        return found

    def insert(self, name: str, rest: dict[str, Any]) -> str:
        """Put a state behind the one at hand, and return its name."""
        found = self.free(name)
        self._inserted.append({"name": found, **rest})
        return found

    def way(self, node: Tree) -> str:
        """Return the name of the state that *node* leads to: that which gives the output, if it is an end."""
        following = node.get("nextState")
        return self.output if node.get("end") or following is None else str(following)

    def _start(self) -> Tree | None:
        root = self.root
        named = root.pop("startsAt", None)
        found = next((one for one in children(root, "states") if named in (one.get("name"), one.get("id"))), None)
        if found is not None:
            add(root, "start", found["name"], "version" if "version" in root else "id")
            self.report.respelled("startsAt is start", root)
        return found

    def is_led_to(self, state: Tree) -> bool:
        """Tell whether a state leads to *state*."""
        known = {str(state.get("name")), str(state.get("id"))}
        return any(str(value) in known for one in children(self.root, "states") for value in _targets(one))

    def _put_in(self, start: Tree) -> None:
        """Insert a state before *start*, to which others lead back, that puts the workflow's input where data stand."""
        if start.get("type") in ("event", "switch") and "timeouts" in start:
            called = self.report.called(start)
            self.report.inexpressible(f"the timeouts of {called}, which starts the workflow, and is led back to", start)
        rest = {"type": "inject", "data": {}, "stateDataFilter": {"input": braced("{data: .}")}}
        self.root["start"] = self.insert("Input", {**rest, "transition": start["name"]})

    def _take_out(self, states: Any) -> None:
        """Add the state that takes what the workflow gives out of the data, which may be anything."""
        alone = f'{DATA} | if type == "object" then {{}} else . end'
        states.append({
            "name": self.output,
            "type": "inject",
            "data": braced(alone),
            "stateDataFilter": {"output": braced(f'if type == "object" then {DATA} else . end')},
            "end": True,
        })  # fmt: skip

    def _state(self, state: Tree, *, is_start: bool) -> None:
        report = self.report
        for key in ("loop", "onError"):
            if state.get(key):
                report.inexpressible(f"the {key} of {report.called(state)}", state)
                return
        kind = str(state.get("type"))
        bodies: dict[str, Callable[[Tree], None]] = {
            "OPERATION": self._operation, "SWITCH": self._switch, "DELAY": self._delay, "PARALLEL": self._parallel,
            "SUBFLOW": self._sub_flow, "RELAY": self._relay, "EVENT": self._event,
        }  # fmt: skip
        if kind not in bodies:
            return
        self._is_start = is_start
        bodies[kind](state)
        if kind not in ("SWITCH", "EVENT"):
            self._leave(state)

    # What surrounds the body of a state

    def surround(self, state: Tree, result: str | None, *, as_it_is: bool = False) -> None:
        """Write the filter of *state*, whose body comes to *result*, or has nothing to do with the data."""
        given = filter_of(state)
        before = "{data: .} | " if self._is_start else ""
        made: dict[str, str] = {}
        if given:
            entering = selected(DATA, given.get("inputPath"), "inputPath")
            made["input"] = braced(f"{before}{{given: {DATA}, data: {entering}}}")
        elif before:
            made["input"] = braced("{data: .}")
        if result is not None and not as_it_is and (given or result != DATA):
            made["output"] = braced(f"{{data: {passed(given, result, GIVEN)}}}")
        if "filter" in state:
            replace(state, "filter", {"stateDataFilter": made} if made else {})
        elif made:
            add(state, "stateDataFilter", made, "type")

    def _leave(self, state: Tree) -> None:
        target = self.way(state)
        asked = state.pop("condition", None)
        if asked is not None:
            body = asked.get("body") if isinstance(asked, dict) else asked
            condition = braced(f"{DATA} | {in_spel(str(body))}")
            choice = {"condition": condition, "transition": target}
            target = self.insert(f"{state.get('name')} may lead on", {"type": "switch", "dataConditions": [choice]})
            self.report.reshaped(
                "the condition of a transition is a switch without a default: a run that it stops fails with"
                " NoConditionMatched in place of TransitionRefused",
                state,
            )
        self.lead(state, target)

    def lead(self, state: Tree, target: str) -> None:
        """Let *state* lead to *target*."""
        if "nextState" in state:
            replace(state, "nextState", {"transition": target})
            state.pop("end", None)
        elif "end" in state:
            replace(state, "end", {"transition": target})
        else:
            add(state, "transition", target, "type")
        self.report.respelled("nextState is transition", state)

    # The bodies

    def _operation(self, state: Tree) -> None:
        actions = Actions(self, state)
        result = actions.rewrite(state, str(state.pop("actionMode", "SEQUENTIAL")))
        state["type"] = "operation" if actions.made else "inject"
        if not actions.made:
            state.pop("actions", None)
            add(state, "data", {}, "type")
        self.surround(state, result)

    def _switch(self, state: Tree) -> None:
        state["type"] = "switch"
        for choice in children(state, "choices"):
            self._choice(choice)
        replace(state, "choices", {"dataConditions": state["choices"]})
        if state.get("default") is not None:
            replace(state, "default", {"defaultCondition": {"transition": state["default"]}})
        self.surround(state, DATA)
        self.report.reshaped("choices are conditions in jq", state)

    def _choice(self, choice: Tree) -> None:
        kind = next((key for key in _JOINED if key in choice), None)
        if kind is None:
            raise NotInJqError("a choice has no rules")
        rules = [rule_of(rule) for rule in children(choice, kind)]
        jq = _JOINED[kind].join(rules) or ("true" if kind == "and" else "false")
        jq = f"({jq}) | not" if kind == "not" else jq
        replace(choice, kind, {"condition": braced(f"{DATA} | {jq}")})
        replace(choice, "nextState", {"transition": choice["nextState"]})

    def _delay(self, state: Tree) -> None:
        state["type"] = "sleep"
        replace(state, "timeDelay", {"duration": state["timeDelay"]})
        self.surround(state, DATA)
        self.report.respelled("the state type 'DELAY' is 'sleep', and timeDelay is duration", state)

    def _parallel(self, state: Tree) -> None:
        state["type"] = "parallel"
        actions = Actions(self, state)
        results = []
        for branch in children(state, "branches"):
            name = f"branch {branch.get('name')!r} of {self.report.called(state)}"
            if not branch.pop("waitForCompletion", False):
                self.report.inexpressible(
                    f"{name} is not waited for: since 0.5 a parallel state waits for its branches", branch
                )
                return
            found = actions.branch(branch, name)
            if found is None:
                return
            results.append(found)
        self.surround(state, f"[{', '.join(results)}]")
        self.report.reshaped("branches run actions in place of states", state)

    def _sub_flow(self, state: Tree) -> None:
        state["type"] = "operation"
        name, waits = state.pop("workflowId"), state.pop("waitForCompletion", False)
        reference: dict[str, Any] = {"workflowId": name, "onParentComplete": "continue"}
        if waits:
            keeping = {"fromStateData": braced(DATA), "toStateData": braced(".output")}
            add(state, "actions", [{"subFlowRef": reference, "actionDataFilter": keeping}], "type")
            self.surround(state, ".output")
        else:
            # The filter of an action that is not waited for is ignored: the state has to see what it gets.
            if filter_of(state):
                raise NotInJqError("a sub-workflow that is not waited for, with a filter")
            add(state, "actions", [{"subFlowRef": {**reference, "invoke": "async"}}], "type")
            seen = {"output": braced("{data: .}")}
            if not self._is_start:
                seen["input"] = braced(DATA)
            add(state, "stateDataFilter", seen, "type")
        self.report.reshaped("workflowId is an action with a subFlowRef", state)

    def _relay(self, state: Tree) -> None:
        state["type"] = "inject"
        data = state.pop("inject", {})
        if "$" in repr(data):
            raise NotInJqError("paths in injected data")
        add(state, "data", {"data": data}, "type")
        self.surround(state, DATA)

    def _event(self, state: Tree) -> None:
        self.events.rewrite(state, is_start=self._is_start)

    # What is defined at the top

    def retry(self, name: str, retry: Tree) -> str:
        """Define a retry, and return its name."""
        interval, times = repetition_of(retry.get("retryInterval"))
        times = times if retry.get("maxRetry") is None else int(retry["maxRetry"])
        made: dict[str, Any] = {"name": name, "delay": interval or "PT0S"}
        if times is not None:
            made["maxAttempts"] = times + 1
        number = sum(one["name"].startswith(name) for one in self.retries)
        made["name"] = name if not number else f"{name} {number + 1}"
        self.retries.append(made)
        return str(made["name"])

    def expression(self, name: str, jq: str) -> str:
        """Define a function that is the expression *jq*, and return its name."""
        number, free = 1, name
        taken = {one["name"]: one for one in self.functions}
        while free in taken and taken[free].get("operation") != braced(jq):
            number += 1
            free = f"{name} {number}"
        if free not in taken:
            self.functions.append({"name": free, "type": "expression", "operation": braced(jq)})
        return free

    def error(self, name: str, code: str) -> str:
        """Define an error, and return its name."""
        self.errors.setdefault(name, {"name": name, "code": code})
        return name

    def set_timeout(self, node: Tree, key: str, value: Any) -> None:
        """Set one of the timeouts of *node*."""
        older_words.set_timeout(node, key, value)


def _targets(state: Tree) -> list[Any]:
    found = [state.get("nextState"), state.get("default")]
    found += [one.get("nextState") for one in children(state, "choices", "events", "onError")]
    for action in words.actions_of(state):
        found += [retry.get("nextState") for retry in children(action, "retry")]
    return [one for one in found if one is not None]
