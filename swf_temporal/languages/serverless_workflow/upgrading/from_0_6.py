"""From 0.6 to 0.8: errors are defined once, actions are retried instead of states, sub-workflows are actions."""

from collections.abc import Iterable, Sequence
from typing import Any

from swf_temporal.languages.serverless_workflow.upgrading import lowered
from swf_temporal.languages.serverless_workflow.upgrading.trees import (
    Tree,
    UpgradeReport,
    action_lists,
    called,
    children,
    free_name,
    states,
)
from swf_temporal.text.round_trip import add, rename

_WILDCARD = "*"


def upgrade(root: Tree, report: UpgradeReport) -> None:
    """Rewrite *root*, a definition of 0.6, as 0.8."""
    root.pop("schemaVersion", None)
    _Errors(root, report).move()
    for state in list(states(root)):
        _action_timeouts(state, report)
        _sub_workflow(root, state, report)
    for retry in children(root, "retries"):
        if "maxAttempts" in retry:
            retry["maxAttempts"] = _with_first(retry["maxAttempts"])
            report.reshaped("maxAttempts includes the first attempt", retry)
    lowered.upgrade(root, report)


def _with_first(attempts: Any) -> Any:
    if isinstance(attempts, str):
        text = attempts.strip()
        if text.startswith("${") and text.endswith("}"):
            return f"${{ ({text[2:-1].strip()} | tonumber) + 1 }}"
        return int(text) + 1 if text.isdigit() else attempts
    return attempts + 1 if isinstance(attempts, int) else attempts


class _Errors:
    """Moves errors from the states to the top level, and their retries to the actions."""

    def __init__(self, root: Tree, report: UpgradeReport) -> None:
        self._root = root
        self._report = report
        self._known: dict[str, Any] = {}

    def move(self) -> None:
        """Rewrite the onErrors of all states."""
        for state in states(self._root):
            entries = state.get("onErrors")
            if not isinstance(entries, list):
                continue
            written = [entry for entry in entries if isinstance(entry, dict)]
            for entry in written:
                if entry.keys().isdisjoint(("transition", "end", "retryRef")):
                    entry["end"] = True
                    self._report.reshaped("an entry of onErrors that leads nowhere has an end", entry)
            if not self._retries(state, written):
                continue
            kept = [one for one in entries if not isinstance(one, dict) or "transition" in one or "end" in one]
            entries[:] = sorted(kept, key=lambda one: isinstance(one, dict) and one.get("error") == _WILDCARD)
            if not entries:
                del state["onErrors"]
            for entry in written:
                self._entry(entry)
        if self._known:
            found = [{"name": name, **({} if code is None else {"code": code})} for name, code in self._known.items()]
            add(self._root, "errors", found, "start" if "start" in self._root else "id")

    def _entry(self, entry: Tree) -> None:
        if "error" not in entry:
            return
        name, code = str(entry["error"]), entry.pop("code", None)
        entry["error"] = self._name(name, code)
        rename(entry, "error", "errorRef")
        self._report.reshaped("errors are defined at the top level, and referred to by errorRef", entry)

    def _name(self, name: str, code: Any) -> str:
        """Return the name under which to define an error: the same name with another code needs a new one."""
        if name == _WILDCARD:
            return name
        number, free = 1, name
        while free in self._known and self._known[free] != code:
            number += 1
            free = f"{name} {number}"
        self._known[free] = code
        return free

    def _retries(self, state: Tree, entries: Sequence[Tree]) -> bool:
        """Move the retries of *entries* to the action of *state*; return True if the entries can be rewritten."""
        retried = [entry for entry in entries if "retryRef" in entry]
        if not retried:
            return True
        lists = list(action_lists(state))
        # If the state may time out waiting for an event, that is an error of the state, and not of the action.
        waits = state.keys() & {"timeout", "eventTimeout"} and state.get("type") != "operation"
        is_one = len(lists) == 1 and state.get("type") in ("operation", "event", "callback") and not waits
        alone = lists[0][1] if is_one else []
        if len(alone) == 0 and "workflowId" in state and "repeat" not in state:
            _not_waited_for(state, self._report)
            lowered.sub_workflow(state, self._report)
            alone = next(iter(action_lists(state)))[1]
        if len(alone) != 1:
            self._report.inexpressible(
                f"{called(state)} is retried as a whole on an error: since 0.7 actions are retried", state
            )
            return False
        if len(retried) > 1:
            reason = "each of several errors has its own attempts: since 0.7 an action counts them together"
            self._report.inexpressible(f"{called(state)}: {reason}", state)
            return False
        [action], [entry] = alone, retried
        is_caught = any(one.get("error") == _WILDCARD for one in entries if one is not entry)
        if is_caught and entry.keys().isdisjoint(("transition", "end")):
            reason = "fails the run once it is retried: since 0.7 the entry for all others handles it"
            self._report.inexpressible(f"{called(state)}: {entry.get('error')!r} {reason}", state)
            return False
        if str(entry.get("error")) == _WILDCARD:
            others = [one for one in entries if one is not entry]
            key = "nonRetryableErrors"
        else:
            others, key = retried, "retryableErrors"
        names = [self._name(str(one.get("error")), one.get("code")) for one in others]
        first = "name" if "name" in action else None
        if names:
            add(action, key, names, first)
        add(action, "retryRef", entry.pop("retryRef"), first)
        self._report.reshaped("retries belong to the action that failed", state)
        return True


def _action_timeouts(state: Tree, report: UpgradeReport) -> None:
    """Move the timeouts of actions to the state or branch, where they apply to all its actions."""
    groups: dict[int, tuple[Tree, list[Tree]]] = {}
    for holder, found in action_lists(state):
        place = holder if state.get("type") == "parallel" else state
        groups.setdefault(id(place), (place, []))[1].extend(found)
    for place, found in groups.values():
        times = {str(action.get("timeout")) for action in found}
        if times == {"None"}:
            continue
        if len(times) > 1:
            report.inexpressible(f"actions of {called(state)} have different timeouts: since 0.7 they share one", state)
            continue
        if any("retryRef" in action for action in found):
            reason = f"an action of {called(state)} is retried, and its timeout is for each attempt"
            report.inexpressible(f"{reason}: since 0.7 it is for all of them", state)
            continue
        for action in found:
            time = action.pop("timeout")
        lowered.set_timeout(place, "actionExecTimeout", time)
        report.reshaped("the timeout of an action is the actionExecTimeout of its state or branch", place)


def _sub_workflow(root: Tree, state: Tree, report: UpgradeReport) -> None:
    if state.get("type") != "subflow":
        return
    repeat = state.pop("repeat", None)
    if repeat is None:
        _not_waited_for(state, report)
    state.pop("waitForCompletion", None)
    if isinstance(repeat, dict) and not _as_loop(root, state, repeat, report):
        state["repeat"] = repeat


def _not_waited_for(state: Tree, report: UpgradeReport) -> None:
    if state.pop("waitForCompletion", True) in (False, "false") and "workflowId" in state:
        state["workflowId"] = {
            "workflowId": state["workflowId"], "invoke": "async", "onParentComplete": "continue",
        }  # fmt: skip
        report.reshaped("a sub-workflow that is not awaited is invoked async, and outlives its parent", state)


def _as_loop(root: Tree, state: Tree, repeat: Tree, report: UpgradeReport) -> bool:
    """Express a repeat by a switch that leads back; return True if that was possible."""
    plain = repeat.keys() <= {"expression", "checkBefore"} and "expression" in repeat
    special = state.keys() & {"stateDataFilter", "onErrors", "compensatedBy", "usedForCompensation", "metadata"}
    name = state.get("name")
    ways = [key for key in ("transition", "end") if key in state]
    if not plain or special or not isinstance(name, str) or len(ways) != 1:
        report.inexpressible(f"the repeat of {called(state)}, {_obstacle(repeat, special)}", state)
        return False
    listed = root["states"]
    names = {one.get("name") for one in states(root)}
    checks_before = repeat.get("checkBefore", True) not in (False, "false")
    other = free_name(f"{name} once" if checks_before else f"{name} again", names)
    loop: dict[str, Any] = {
        "name": name if checks_before else other,
        "type": "switch",
        "dataConditions": [
            {"condition": repeat["expression"], "transition": other if checks_before else name}
        ],
        "defaultCondition": {ways[0]: state.pop(ways[0])},
    }  # fmt: skip
    add(state, "transition", loop["name"], "type")
    if checks_before:
        state["name"] = other
    position = next(index for index, one in enumerate(listed) if one is state)
    listed.insert(position if checks_before else position + 1, loop)
    report.reshaped(f"the repeat of state {name!r} is a switch that leads back", state)
    return True


def _obstacle(repeat: Tree, special: Iterable[str]) -> str:
    """Return the reason why *repeat* cannot be a loop, if its state has the keys in *special*."""
    others = sorted(repeat.keys() - {"expression", "checkBefore"})
    if others:
        return f"which has {' and '.join(others)}"
    kept = sorted(special)
    if kept:
        return f"since the state has {' and '.join(kept)}"
    return "which has no expression, or whose state has no single transition or end"
