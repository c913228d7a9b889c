"""Converting the lowered draft of May 2020 to a definition of 0.8."""

from typing import Any

from swf_temporal.languages.serverless_workflow.upgrading.conditions_to_jq import compared, in_spel
from swf_temporal.languages.serverless_workflow.upgrading.lowered import ALL, Lowered
from swf_temporal.languages.serverless_workflow.upgrading.may_2020 import nested
from swf_temporal.languages.serverless_workflow.upgrading.may_2020.errors import Errors, names_asked
from swf_temporal.languages.serverless_workflow.upgrading.may_2020.events import Events
from swf_temporal.languages.serverless_workflow.upgrading.may_2020.filters import adds_by_keys, state_filter
from swf_temporal.languages.serverless_workflow.upgrading.may_2020.nested import Nested, rewrite_action
from swf_temporal.languages.serverless_workflow.upgrading.paths_to_jq import NotInJqError
from swf_temporal.languages.serverless_workflow.upgrading.report import UpgradeReport
from swf_temporal.languages.serverless_workflow.upgrading.trees import (
    SYNONYMS,
    Tree,
    action_lists,
    braced,
    children,
    template,
    value,
)
from swf_temporal.text.round_trip import add


def upgrade(root: Tree, report: UpgradeReport) -> None:
    """Rewrite *root*, which was lowered from the draft, as 0.8."""
    _Rewriting(root, report).rewrite()


class _Rewriting(Lowered):
    def __init__(self, root: Tree, report: UpgradeReport) -> None:
        super().__init__(root, report)
        self._start = root["start"]["stateName"]
        self._errors_handled = Errors(self)
        self._nested = Nested(self)
        self._by_keys: set[int] = set()
        """The ids of the states that add to their data only under keys."""

    def rewrite(self) -> None:
        self._window()
        try:
            self._by_keys = {id(state) for state in children(self.root, "states") if adds_by_keys(state)}
            Events(self.root, self.report).rewrite()
        except NotInJqError as error:
            self.report.inexpressible(str(error), self.root)
        self.rewrite_states(self._state)
        self.define()

    def _window(self) -> None:
        interval = self.root["start"].get("@window")
        start = next((state for state in children(self.root, "states") if state["name"] == self._start), None)
        if start is None:
            return
        if interval is not None:
            self.report.inexpressible(
                f"{self.report.called(start)} starts only within {interval!r}: since 0.5 a schedule creates instances",
                start,
            )
        self.root["start"] = self._start
        self.report.reshaped(f"the start of {self.report.called(start)} is at the top level", start)

    def _state(self, state: Tree) -> None:
        kind = state["type"]
        is_late = self._timeouts(state)
        self._retries(state)
        self._errors_handled.handle(state)
        if is_late:
            self._errors_handled.go_on_when_late(state)
        leads_on = "transition" in state or kind == "switch"
        state_filter(state, self.report, leads_on=leads_on, by_keys=id(state) in self._by_keys)
        self._body(state)
        for one in (state, *self.inserted()):
            for holder in (one, *children(one, "dataConditions", "eventConditions", "onErrors", "defaultCondition")):
                for way in children(holder, "transition", "end"):
                    _produced(way)
                self.leave(holder, str(one["name"]))

    def _body(self, state: Tree) -> None:
        for one in children(state, "dataConditions"):
            asked = one["condition"]
            jq = in_spel(asked) if isinstance(asked, str) else compared(**asked, synonyms=SYNONYMS)
            one["condition"] = braced(jq)
        if state["type"] == "inject":
            state["data"] = nested.rewrite(state["data"])
        if state["type"] in ("parallel", "foreach"):
            self._nested.rewrite(state)
            return
        for _, actions in action_lists(state):
            for action in actions:
                rewrite_action(action, self)

    def _timeouts(self, state: Tree) -> bool:
        """Rewrite the timeouts of *state*; return True if it continues after the timeout of an action."""
        waits_for = {ref for entry in children(state, "onEvents") for ref in entry["eventRefs"]}
        is_start = state["name"] == self._start
        if is_start and "timeouts" in state and state.get("exclusive") is False and len(waits_for) > 1:
            self.report.inexpressible(
                f"{self.report.called(state)} starts the workflow, and its timeout applies between events:"
                " since 0.5 it applies to all of them together",
                state,
            )
        found = _actions(state)
        time = self.shared_timeout(state, found)
        if time is None:
            return False
        if "@retries" in state:
            self.report.inexpressible(
                f"the timeout of an action of {self.report.called(state)}, which is retried: since 0.7 it applies to"
                " all attempts together",
                state,
            )
            return False
        self.set_action_timeout(state, found, time)
        return "onErrors" not in state

    def _retries(self, state: Tree) -> None:
        retries = list(children(state, "@retries"))
        if not retries:
            state.pop("@retries", None)
            return
        found = _actions(state)
        first = retries[0]
        names = names_asked(first["condition"])
        if len(retries) > 1 or len(found) != 1 or state["type"] not in ("operation", "event", "callback"):
            self.report.inexpressible(
                f"{self.report.called(state)} is retried as a whole on an error: since 0.7 actions are retried", state
            )
            return
        if names is None:
            self.report.inexpressible(
                f"{self.report.called(state)} is retried if {first['condition']!r} holds for its data: since 0.5"
                " retries are on errors, by name",
                state,
            )
            return
        more: dict[str, Any] = {"maxAttempts": first["maxAttempts"] + 1}
        if "increment" in first:
            more["increment"] = first["increment"]
        action, after = found[0], "name" if "name" in found[0] else None
        if ALL not in names:
            add(action, "retryableErrors", [self.error(one) for one in names], after)
        add(action, "retryRef", self.retry(str(state["name"]), first.get("delay"), **more), after)
        del state["@retries"]
        self.report.reshaped("retries belong to the action that failed", state)


def _actions(state: Tree) -> list[Tree]:
    """Return the actions of *state* itself, or of its entries."""
    return [
        action for holder in (state, *children(state, "onEvents")) for action in children(holder, "actions", "action")
    ]


def _produced(way: Tree) -> None:
    for produced in children(way, "produceEvents"):
        if "data" in produced:
            given = produced["data"]
            produced["data"] = value(given) if isinstance(given, str) else template(given)
