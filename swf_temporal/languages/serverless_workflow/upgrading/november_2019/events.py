"""Events: an entry leads its own way, so it is a condition of a switch, and its actions are a state that follows."""

import json
from typing import TYPE_CHECKING, Any

from swf_temporal.languages.serverless_workflow.drafts.november_2019.event_expressions import (
    BadEventExpression,
    names_in,
    parsed,
)
from swf_temporal.languages.serverless_workflow.upgrading.early_paths_to_jq import JqFinds, place
from swf_temporal.languages.serverless_workflow.upgrading.may_2020.texts import braced
from swf_temporal.languages.serverless_workflow.upgrading.november_2019.actions import Actions
from swf_temporal.languages.serverless_workflow.upgrading.november_2019.pipeline import DATA, GIVEN, filter_of, passed
from swf_temporal.languages.serverless_workflow.upgrading.paths_to_jq import NotInJqError
from swf_temporal.languages.serverless_workflow.upgrading.trees import Tree, children
from swf_temporal.text.round_trip import add, replace

if TYPE_CHECKING:
    from swf_temporal.languages.serverless_workflow.upgrading.november_2019.upgrade import Rewriting

_LATE = "TimedOut"


class Events:
    """The triggers of a definition, and the states that wait for them."""

    def __init__(self, definition: "Rewriting") -> None:
        self._definition = definition
        self._whole: set[str] = set()

    def define(self) -> None:
        """Make events of the triggers."""
        root, report = self._definition.root, self._definition.report
        self._whole = {name for entry in self._entries() if _path_of(entry) for name in self._refs(entry)}
        for trigger in children(root, "triggerDefs"):
            if trigger.get("correlationToken") is not None:
                report.inexpressible(
                    f"the correlationToken of trigger {trigger.get('name')!r}: since 0.5 events are told by attributes",
                    trigger,
                )
            if trigger.get("name") in self._whole:
                add(trigger, "dataOnly", value=False, after="type")
        if "triggerDefs" in root:
            replace(root, "triggerDefs", {"events": root["triggerDefs"]})
            report.respelled("triggerDefs are events", root)

    def rewrite(self, state: Tree, *, is_start: bool) -> None:
        """Rewrite *state*. Raises NotInJqError."""
        entries = list(children(state, "events"))
        times = {str(entry.get("timeout")) for entry in entries}
        needs = [self._need(entry) for entry in entries]
        each_is_one = all(need.join == "event" or _is_any(need) for need in needs)
        called = self._definition.report.called(state)
        if not each_is_one and not (len(needs) == 1 and _is_all(needs[0])):
            self._inexpressible(f"{called} waits for events that an entry joins by 'and' beside others", state)
            return
        if len(times) > 1:
            self._inexpressible(f"the events of {called} have different timeouts: since 0.5 they share one", state)
            return
        ways = [self._way(state, entry) for entry in entries]
        given = filter_of(state)
        late = self._late(state)
        time = entries[0].get("timeout") if entries else None
        if each_is_one:
            conditions = [
                {"eventRef": name, "eventDataFilter": self._filter(entry, name), "transition": way}
                for entry, way in zip(entries, ways, strict=True)
                for name in self._refs(entry)
            ]
            state["type"] = "switch"
            replace(state, "events", {"eventConditions": conditions})
            # Where the workflow starts it waits for its first event as long as it takes.
            if time is not None and not is_start:
                self._definition.set_timeout(state, "eventTimeout", time)
                add(state, "defaultCondition", {"transition": late}, "type")
        else:
            state["type"] = "event"
            waiting = [
                {"eventRefs": [name], "eventDataFilter": self._filter(entries[0], name), "actions": []}
                for name in self._refs(entries[0])
            ]
            replace(state, "events", {"exclusive": False, "onEvents": waiting})
            if time is not None:
                self._definition.set_timeout(state, "eventTimeout", time)
                error = self._definition.error(_LATE, _LATE)
                add(state, "onErrors", [{"errorRef": error, "transition": late}], "type")
        for key in ("nextState", "end"):
            state.pop(key, None)
        if not each_is_one:
            add(state, "transition", ways[0], "type")
        self._definition.surround(state, None if given else DATA, as_it_is=True)
        self._definition.report.reshaped("the ways of events are those of a switch, and their actions a state", state)

    def _inexpressible(self, message: str, state: Tree) -> None:
        self._definition.report.inexpressible(message, state)

    def _entries(self) -> list[Tree]:
        found: list[Tree] = []
        for state in children(self._definition.root, "states"):
            found += children(state, "events")
        return found

    def _need(self, entry: Tree) -> Any:
        known = [str(one.get("name")) for one in children(self._definition.root, "triggerDefs", "events")]
        try:
            return parsed(str(entry.get("eventExpression")), known)
        except BadEventExpression as error:
            raise NotInJqError(error.message) from None

    def _refs(self, entry: Tree) -> tuple[str, ...]:
        try:
            return names_in(self._need(entry))
        except NotInJqError:
            return ()

    def _filter(self, entry: Tree, name: str) -> dict[str, str]:
        """Return the filter that merges what *entry* selects of the event *name* into the data."""
        given, path = filter_of(entry), _path_of(entry)
        value = DATA if name in self._whole else "."
        if path is not None:
            finds = JqFinds(path)
            complaint = json.dumps(f"inputPath {finds.text} leads to nothing in the event", ensure_ascii=False)
            value = f"(({DATA} | values | {finds.found}), ({finds.found}), error({complaint}))"
            value = f"first({value})" if finds.is_singular else f"[{DATA} | {finds.found}]"
        if given.get("resultPath") is None:
            return {"data": braced(f"{{data: {value}}}")}
        at = JqFinds(str(given["resultPath"])).steps
        if at is None:
            raise NotInJqError(f"the resultPath {given['resultPath']!r} of an event")
        return {"data": braced(value), "toStateData": braced(place(["data", *at]))}

    def _way(self, state: Tree, entry: Tree) -> str:
        """Return the name of the state that follows the events of *entry*: one that runs its actions, if it has any."""
        definition = self._definition
        target = definition.way(entry if entry.get("nextState") is not None else state)
        given = filter_of(state)
        if not list(children(entry, "actions")) and not given:
            return target
        after: dict[str, Any] = {"type": "operation", "actions": entry.get("actions", []), "transition": target}
        actions = Actions(definition, after)
        result = actions.rewrite(after, str(entry.get("actionMode", "SEQUENTIAL")))
        if not actions.made:
            after = {"type": "inject", "data": {}, "transition": target}
        after["stateDataFilter"] = {"output": braced(f"{{data: {passed(given, result, GIVEN)}}}")}
        return definition.insert(f"{state.get('name')} after {' and '.join(self._refs(entry))}", after)

    def _late(self, state: Tree) -> str:
        """Return the name of the state that follows where no event comes in time."""
        definition, given = self._definition, filter_of(state)
        if not given or all(entry.get("timeout") is None for entry in children(state, "events")):
            return definition.output
        text = braced(f"{{data: {passed(given, DATA, GIVEN)}}}")
        rest = {"type": "inject", "data": {}, "stateDataFilter": {"output": text}, "transition": definition.output}
        return definition.insert(f"{state.get('name')} is late", rest)


def _path_of(entry: Tree) -> str | None:
    path = filter_of(entry).get("inputPath")
    return None if path is None or JqFinds(str(path)).steps == [] else str(path)


def _is_any(need: Any) -> bool:
    return need.join == "or" and all(part.join == "event" for part in need.parts)


def _is_all(need: Any) -> bool:
    return need.join == "and" and all(part.join == "event" for part in need.parts)
