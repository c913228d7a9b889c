"""Rewrites a definition of the draft of May 2020 as 0.8."""

from typing import Any

from swf_temporal.languages.serverless_workflow.drafts.may_2020.lowering import function_type
from swf_temporal.languages.serverless_workflow.drafts.repetitions import repetition_of
from swf_temporal.languages.serverless_workflow.upgrading import older_words
from swf_temporal.languages.serverless_workflow.upgrading.conditions_to_jq import compared
from swf_temporal.languages.serverless_workflow.upgrading.may_2020 import injecting, ways, words
from swf_temporal.languages.serverless_workflow.upgrading.may_2020.errors import ALL, Errors, retried
from swf_temporal.languages.serverless_workflow.upgrading.may_2020.events import Events
from swf_temporal.languages.serverless_workflow.upgrading.may_2020.filters import adds_by_keys, state_filter
from swf_temporal.languages.serverless_workflow.upgrading.may_2020.nested import Nested, rewrite_action, sub_flow
from swf_temporal.languages.serverless_workflow.upgrading.may_2020.texts import SYNONYMS, braced, condition
from swf_temporal.languages.serverless_workflow.upgrading.paths_to_jq import NotInJqError
from swf_temporal.languages.serverless_workflow.upgrading.report import Report
from swf_temporal.languages.serverless_workflow.upgrading.trees import Tree, action_lists, children
from swf_temporal.text.round_trip import add, rename, replace


def upgrade(root: Tree, report: Report) -> None:
    """Rewrite *root*, which is of the draft, as 0.8."""
    report.word = "task" if "tasks" in root else "state"
    start = root.pop("startsAt", None)
    words.one_spelling(root, report)
    _Rewriting(root, report, start).rewrite()


class _Rewriting:
    """Rewrites one definition."""

    def __init__(self, root: Tree, report: Report, start: Any) -> None:
        self._root = root
        self._report = report
        self._start_named = start
        self._errors = Errors(report)
        self._nested = Nested(root, report)
        self._names = {state.get("name") for state in children(root, "states")}
        self._by_keys: set[int] = set()
        """States that add to their data by keys alone, by their identity."""
        self._inserted: list[Tree] = []

    def rewrite(self) -> None:
        """Rewrite everything."""
        for key in ("dataInputSchema", "dataOutputSchema"):
            self._document(self._root, key)
        start = self._start()
        try:
            self._by_keys = {id(state) for state in children(self._root, "states") if adds_by_keys(state)}
            Events(self._root, self._report).rewrite()
        except NotInJqError as error:
            self._report.inexpressible(str(error), self._root)
        for function in children(self._root, "functions"):
            self._function(function)
        listed = self._root.get("states")
        if not isinstance(listed, list):
            return
        for state in list(children(self._root, "states")):
            self._inserted = []
            try:
                self._state(state, is_start=state.get("name") == start)
            except NotInJqError as error:
                self._report.inexpressible(f"{self._report.called(state)}: {error}", state)
            at = next(index for index, one in enumerate(listed) if one is state)
            listed[at + 1 : at + 1] = self._inserted
        if self._errors.definitions:
            add(self._root, "errors", self._errors.definitions, "start" if "start" in self._root else "id")

    def _insert(self, name: str, rest: dict[str, Any]) -> str:
        """Put a state behind the present one, and return its name."""
        number, free = 1, name
        while free in self._names:
            number += 1
            free = f"{name} {number}"
        self._names.add(free)
        self._inserted.append({"name": free, **rest})
        return free

    def _document(self, node: Tree, key: str) -> None:
        """Keep what only documents, and is not enforced."""
        if key in node:
            metadata = node.setdefault("metadata", {})
            metadata[key] = node.pop(key)
            self._report.reshaped(f"{key} was not enforced, and is kept in the metadata", node)

    def _start(self) -> Any:
        states = list(children(self._root, "states"))
        named = [one for one in states if self._start_named in (one.get("name"), one.get("id"))]
        says = [one for one in states if isinstance(one.get("start"), dict)]
        found = next(iter((*(named if self._start_named is not None else ()), *says, *states)), None)
        for state in states:
            start = state.pop("start", None)
            if isinstance(start, dict) and "schedule" in start and state is found:
                self._report.inexpressible(
                    f"{self._report.called(state)} starts only within {start['schedule'].get('interval')!r}: since 0.5"
                    " a schedule says when to start",
                    state,
                )
        if found is None:
            return None
        add(self._root, "start", found.get("name"), "version" if "version" in self._root else "id")
        self._report.reshaped(f"the start of {self._report.called(found)} stands at the top", found)
        return found.get("name")

    def _function(self, function: Tree) -> None:
        kind = function_type(
            *(one if isinstance(one := function.get(key), str) else None for key in ("type", "resource"))
        )
        if "resource" in function:
            rename(function, "resource", "operation")
            self._report.respelled("the resource of a function is its operation", function)
        if function.get("type") != kind:
            if "type" in function:
                function["type"] = kind
            elif kind != "rest":
                add(function, "type", kind, "operation" if "operation" in function else "name")

    def _state(self, state: Tree, *, is_start: bool) -> None:
        for key in ("dataInputSchema", "dataOutputSchema"):
            self._document(state, key)
        kind = state.get("type")
        self._timeouts(state, is_start=is_start)
        self._retries(state)
        self._errors.handle(state, self._insert)
        leads_on = "transition" in state or kind == "switch"
        state_filter(state, self._report, leads_on=leads_on, by_keys=id(state) in self._by_keys)
        self._body(state)
        self._ways(state)
        for inserted in self._inserted:
            self._ways(inserted)
        one: Tree = {"states": [state]}
        older_words.upgrade(one, self._report)

    def _ways(self, state: Tree) -> None:
        ways.of_default(state, self._report)
        name = str(state.get("name"))
        others = children(state, "dataConditions", "eventConditions", "onErrors", "defaultCondition")
        for holder in (state, *others):
            ways.rewrite(holder, name, self._insert, self._report)

    def _body(self, state: Tree) -> None:
        match state.get("type"):
            case "event":
                rename(state, "eventsActions", "onEvents")
                self._report.respelled("eventsActions are onEvents", state)
            case "switch":
                for one in children(state, "dataConditions"):
                    self._choice(one)
            case "inject":
                state["data"] = injecting.rewrite(state.get("data", {}))
            case "subflow":
                replace(state, "workflowId", {"actions": [sub_flow(state)]})
                state.pop("waitForCompletion", None)
                self._report.reshaped("workflowId is an action with a subFlowRef", state)
            case "parallel" | "foreach":
                self._nested.rewrite(state)
                return
            case _:
                pass
        for _, actions in action_lists(state):
            for action in actions:
                rewrite_action(action, self._report)

    def _choice(self, one: Tree) -> None:
        operator, value = str(one.get("operator")), one.get("value")
        metadata = one.get("metadata")
        if operator == "custom":
            jq = condition(metadata.get("expression") if isinstance(metadata, dict) else None)
        else:
            jq = compared(str(one.get("path")), operator, value, SYNONYMS)
        one.pop("value", None)
        one.pop("operator", None)
        replace(one, "path", {"condition": braced(jq)})
        self._report.reshaped("comparisons are conditions in jq", one)

    def _timeouts(self, state: Tree, *, is_start: bool) -> None:
        entries = list(children(state, "eventsActions"))
        waits_for = {ref for entry in entries for ref in entry.get("eventRefs", ())}
        if is_start and "timeout" in state and state.get("exclusive") is False and len(waits_for) > 1:
            self._report.inexpressible(
                f"{self._report.called(state)} starts the workflow, and its timeout is the time between events:"
                " since 0.5 it is that for all of them",
                state,
            )
        lists = [children(entry, "actions") for entry in entries] or [children(state, "actions", "action")]
        found = [action for one in lists for action in one]
        times = {str(action.get("timeout")) for action in found}
        if times <= {"None"}:
            return
        if len(times) > 1:
            self._report.inexpressible(
                f"actions of {self._report.called(state)} have different timeouts: since 0.7 they share one", state
            )
            return
        if "retry" in state:
            self._report.inexpressible(
                f"the timeout of an action of {self._report.called(state)}, which is retried: since 0.7 it is one for"
                " all attempts",
                state,
            )
            return
        if "onError" not in state:
            self._errors.go_on_when_late(state, self._insert)
        for action in found:
            time = action.pop("timeout")
        older_words.set_timeout(state, "actionExecTimeout", time)
        self._report.reshaped("the timeout of an action is the actionExecTimeout of its state or branch", state)

    def _retries(self, state: Tree) -> None:
        retries = list(children(state, "retry"))
        if not retries:
            state.pop("retry", None)
            return
        lists = [children(entry, "actions") for entry in children(state, "eventsActions")]
        found = [action for one in lists or [children(state, "actions", "action")] for action in one]
        names = retried(retries[0].get("expression"))
        if len(retries) > 1 or len(found) != 1 or state.get("type") not in ("operation", "event", "callback"):
            self._report.inexpressible(
                f"{self._report.called(state)} runs as a whole once more on an error: since 0.7 an action does", state
            )
            return
        if names is None:
            body = retries[0].get("expression")
            self._report.inexpressible(
                f"{self._report.called(state)} runs once more if {_body(body)!r} holds of its data: since 0.5 errors"
                " are retried, by their names",
                state,
            )
            return
        name = self._retry(str(state.get("name")), retries[0])
        action = found[0]
        first = "name" if "name" in action else None
        if ALL not in names:
            add(action, "retryableErrors", [self._errors.named(one) for one in names], first)
        add(action, "retryRef", name, first)
        del state["retry"]
        self._report.reshaped("retries are those of the action that failed", state)

    def _retry(self, name: str, retry: Tree) -> str:
        interval, times = repetition_of(str(retry["interval"]) if "interval" in retry else None, None)
        given = retry.get("maxAttempts")
        attempts = (1 if times is None else times) if given is None else given
        made = {"name": name, "delay": interval or "PT0S", "maxAttempts": attempts + 1}
        if "multiplier" in retry:
            made["increment"] = retry["multiplier"]
        if "retries" not in self._root:
            add(self._root, "retries", [], "functions" if "functions" in self._root else "id")
        self._root["retries"].append(made)
        return name


def _body(expression: Any) -> Any:
    return expression.get("body") if isinstance(expression, dict) else expression
