"""Events: an entry has its own transition, so it becomes a condition of a switch, and its actions the next state."""

from typing import TYPE_CHECKING, Any

from swf_temporal.base.strict_json import show_json
from swf_temporal.languages.serverless_workflow.model.states import EventNeed
from swf_temporal.languages.serverless_workflow.upgrading.early_paths_to_jq import JqFinds, place
from swf_temporal.languages.serverless_workflow.upgrading.lowered import LATE, left
from swf_temporal.languages.serverless_workflow.upgrading.november_2019.actions import (
    DATA,
    GIVEN,
    Actions,
    paths_of_state,
)
from swf_temporal.languages.serverless_workflow.upgrading.paths_to_jq import NotInJqError
from swf_temporal.languages.serverless_workflow.upgrading.trees import Tree, braced, children
from swf_temporal.text.round_trip import add, replace

if TYPE_CHECKING:
    from swf_temporal.languages.serverless_workflow.upgrading.november_2019.upgrade import Rewriting


class Events:
    """The events of a definition, and the states that wait for them."""

    def __init__(self, definition: "Rewriting") -> None:
        self._definition = definition
        self._whole: set[str] = set()

    def define(self) -> None:
        root, report = self._definition.root, self._definition.report
        entries = [entry for state in children(root, "states") for entry in children(state, "onEvents")]
        self._whole = {name for entry in entries if _path_of(entry) for name in entry["eventRefs"]}
        for event in children(root, "events"):
            if "correlation" in event:
                report.inexpressible(
                    f"the correlationToken of trigger {event['name']!r}: since 0.5 events are correlated by attributes",
                    event,
                )
                left(event, "correlation", "@correlation")
            if event["name"] in self._whole:
                add(event, "dataOnly", value=False, after="type")

    def rewrite(self, state: Tree, *, is_start: bool) -> None:
        """Rewrite *state*. Raises NotInJqError."""
        definition = self._definition
        entries = list(children(state, "onEvents"))
        times = {str(entry["@expected"].get("timeout")) for entry in entries}
        needs: list[EventNeed] = [entry["@expected"]["need"] for entry in entries]
        if any(need.join != "event" and not need.parts for need in needs):
            raise NotInJqError("an eventExpression cannot be read")
        each_is_one = all(need.join == "event" or _joins(need, "or") for need in needs)
        called = definition.report.called(state)
        if not each_is_one and not (len(needs) == 1 and _joins(needs[0], "and")):
            self._inexpressible(f"{called} waits for events that an entry joins by 'and' beside others", state)
            return
        if len(times) > 1:
            self._inexpressible(f"the events of {called} have different timeouts: since 0.5 they share one", state)
            return
        ways = [self._way(state, entry) for entry in entries]
        given = paths_of_state(state)
        late = self._late(state)
        time = entries[0]["@expected"].get("timeout") if entries else None
        if each_is_one:
            conditions = [
                {"eventRef": name, "eventDataFilter": self._filter(entry, name), "transition": way}
                for entry, way in zip(entries, ways, strict=True)
                for name in entry["eventRefs"]
            ]
            state["type"] = "switch"
            replace(state, "onEvents", {"eventConditions": conditions})
            # The start state waits for its first event without limit.
            if time is not None and not is_start:
                definition.set_timeout(state, "eventTimeout", time)
                add(state, "defaultCondition", {"transition": late}, "type")
        else:
            waiting = [
                {"eventRefs": [name], "eventDataFilter": self._filter(entries[0], name), "actions": []}
                for name in entries[0]["eventRefs"]
            ]
            replace(state, "onEvents", {"exclusive": False, "onEvents": waiting})
            if time is not None:
                definition.set_timeout(state, "eventTimeout", time)
                add(state, "onErrors", [{"errorRef": definition.error(LATE), "transition": late}], "type")
            add(state, "transition", ways[0], "type")
        definition.surround(state, None if given else DATA, as_it_is=True)
        definition.report.reshaped("the transitions of events are those of a switch, and their actions a state", state)

    def _inexpressible(self, message: str, state: Tree) -> None:
        self._definition.report.inexpressible(message, state)
        state["@left"] = True

    def _filter(self, entry: Tree, name: str) -> dict[str, str]:
        """Return the filter that merges the part of the event *name* that *entry* selects into the data."""
        given, path = entry.get("eventDataFilter", {}), _path_of(entry)
        value = DATA if name in self._whole else "."
        if path is not None:
            finds = JqFinds(path)
            complaint = show_json(f"inputPath {finds.text} leads to nothing in the event")
            value = f"(({DATA} | values | {finds.found}), ({finds.found}), error({complaint}))"
            value = f"first({value})" if finds.is_singular else f"[{DATA} | {finds.found}]"
        if "toStateData" not in given:
            return {"data": braced(f"{value} | if . == null then {{}} else {{data: .}} end")}
        at = JqFinds(given["toStateData"]).steps
        if at is None:
            raise NotInJqError(f"the resultPath {given['toStateData']!r} of an event")
        return {"data": braced(value), "toStateData": braced(place(["data", *at]))}

    def _way(self, state: Tree, entry: Tree) -> str:
        """Return the name of the state after the events of *entry*: one that runs its actions, if it has any."""
        definition = self._definition
        target = definition.way(entry["@expected"])
        given = paths_of_state(state)
        if not entry.get("actions") and given is None:
            return target
        after: dict[str, Any] = {"type": "operation", "actions": entry.get("actions", []), "transition": target}
        actions = Actions(definition, after)
        result = actions.rewrite(after, entry.get("actionMode", "sequential"))
        if not actions.made:
            after = {"type": "inject", "data": {}, "transition": target}
        passed = result if given is None else given.passed(result, GIVEN)
        after["stateDataFilter"] = {"output": braced(f"{{data: {passed}}}")}
        return definition.insert(f"{state['name']} after {' and '.join(entry['eventRefs'])}", after)

    def _late(self, state: Tree) -> str:
        """Return the name of the state after a timeout."""
        definition, given = self._definition, paths_of_state(state)
        if given is None or all(entry["@expected"].get("timeout") is None for entry in children(state, "onEvents")):
            return definition.output
        text = braced(f"{{data: {given.passed(DATA, GIVEN)}}}")
        rest = {"type": "inject", "data": {}, "stateDataFilter": {"output": text}, "transition": definition.output}
        return definition.insert(f"{state['name']} is late", rest)


def _path_of(entry: Tree) -> str | None:
    path = entry.get("eventDataFilter", {}).get("data")
    return None if path is None or JqFinds(path).steps == [] else path


def _joins(need: EventNeed, word: str) -> bool:
    return need.join == word and all(part.join == "event" for part in need.parts)
