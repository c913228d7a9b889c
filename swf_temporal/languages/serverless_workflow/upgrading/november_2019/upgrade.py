"""Converting the lowered draft of November 2019 to a definition of 0.8.

An entry of an event state has its own transition: it becomes a condition of a switch, and its actions the next state.
"""

from collections.abc import Iterator
from typing import Any, Final

from swf_temporal.base.strict_json import show_json
from swf_temporal.languages.serverless_workflow.model.states import EventNeed
from swf_temporal.languages.serverless_workflow.upgrading.conditions_to_jq import compared
from swf_temporal.languages.serverless_workflow.upgrading.early_paths_to_jq import JqFinds, place
from swf_temporal.languages.serverless_workflow.upgrading.lowered import LATE, Lowered, left
from swf_temporal.languages.serverless_workflow.upgrading.november_2019.actions import (
    DATA,
    GIVEN,
    Actions,
    paths_of_state,
    selected,
)
from swf_temporal.languages.serverless_workflow.upgrading.paths_to_jq import NotInJqError
from swf_temporal.languages.serverless_workflow.upgrading.trees import Tree, UpgradeReport, braced, children
from swf_temporal.text.round_trip import add, replace


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


_JOINED: Final = {"any": " or ", "all": " and ", "none": " or "}


def upgrade(root: Tree, report: UpgradeReport) -> None:
    """Rewrite *root*, which was lowered from the draft, as 0.8."""
    Rewriting(root, report).rewrite()


class Rewriting(Lowered):
    holders = "branches"

    def __init__(self, root: Tree, report: UpgradeReport) -> None:
        super().__init__(root, report)
        self.output = self.free("Output")
        self._start = root["start"] = root["start"]["stateName"]
        self._events = Events(self)
        self._is_start = False

    def rewrite(self) -> None:
        wraps = any(self._start in _targets(state) for state in children(self.root, "states"))
        self._events.define()

        def rewrite(state: Tree) -> None:
            is_start = state["name"] == self._start
            self._is_start = is_start and not wraps
            self._state(state)
            if is_start and wraps:
                self._put_in(state)

        self.rewrite_states(rewrite)
        self.define()
        self._take_out()
        self.report.reshaped("the data of the draft is under 'data', since results are merged now", self.root)

    def way(self, node: Tree) -> str:
        """Return the name of the state that *node* leads to: the output state, if it is an end."""
        return str(node["transition"]["nextState"]) if "transition" in node else self.output

    def _put_in(self, start: Tree) -> None:
        """Insert a state before *start*, to which others lead back, that puts the workflow's input under `data`."""
        if start.get("type") in ("event", "switch") and "timeouts" in start:
            called = self.report.called(start)
            message = f"the timeouts of {called}, which starts the workflow, and is entered again"
            self.report.inexpressible(message, start)
        rest = {"type": "inject", "data": {}, "stateDataFilter": {"input": braced("{data: .}")}}
        self.root["start"] = self.insert("Input", {**rest, "transition": start["name"]})

    def _take_out(self) -> None:
        """Add the state that extracts the workflow's output, which may be anything, from the data."""
        self.root["states"].append({
            "name": self.output,
            "type": "inject",
            "data": braced(f'{DATA} | if type == "object" then {{}} else . end'),
            "stateDataFilter": {"output": braced(f'if type == "object" then {DATA} else . end')},
            "end": True,
        })  # fmt: skip

    def _state(self, state: Tree) -> None:
        for key, is_there in (("loop", state["type"] == "foreach"), ("onError", bool(state.get("onErrors")))):
            if is_there:
                self.report.inexpressible(f"the {key} of {self.report.called(state)}", state)
                state["@left"] = True
                return
        state.pop("onErrors", None)
        match state["type"]:
            case "event":
                self._events.rewrite(state, is_start=self._is_start)
                return
            case "switch":
                self._switch(state)
                return
            case "sleep":
                self.surround(state, DATA)
            case "parallel":
                self._parallel(state)
            case "inject":
                self._relay(state)
            case _ if any("subFlowRef" in action for action in children(state, "actions")):
                self._sub_flow(state)
            case _:
                self._operation(state)
        self._lead(state)

    # The filters around the body of a state

    def surround(self, state: Tree, result: str | None, *, as_it_is: bool = False) -> None:
        """Write the filter of *state*, whose body yields *result*, or None if it does not use the data."""
        given = paths_of_state(state)
        before = "{data: .} | " if self._is_start else ""
        made: dict[str, str] = {}
        if given is not None:
            entering = selected(DATA, given.input, "inputPath")
            made["input"] = braced(f"{before}{{given: {DATA}, data: {entering}}}")
        elif before:
            made["input"] = braced("{data: .}")
        if result is not None and not as_it_is and (given is not None or result != DATA):
            passed = result if given is None else given.passed(result, GIVEN)
            made["output"] = braced(f"{{data: {passed}}}")
        if "stateDataFilter" in state:
            replace(state, "stateDataFilter", {"stateDataFilter": made} if made else {})
        elif made:
            add(state, "stateDataFilter", made, "type")

    def _lead(self, state: Tree) -> None:
        if "end" in state:
            replace(state, "end", {"transition": self.output})
        self.leave(state, str(state["name"]), f"{DATA} | ")

    # The bodies

    def _operation(self, state: Tree) -> None:
        actions = Actions(self, state)
        result = actions.rewrite(state, str(state.pop("actionMode", "sequential")))
        if not actions.made:
            state["type"] = "inject"
            state.pop("actions", None)
            add(state, "data", {}, "type")
        self.surround(state, result)

    def _switch(self, state: Tree) -> None:
        for choice in children(state, "dataConditions"):
            ((kind, rules),) = choice["condition"].items()
            tests = [compared(**rule) for rule in rules]
            jq = _JOINED[kind].join(tests) or ("true" if kind == "all" else "false")
            choice["condition"] = braced(f"{DATA} | {f'({jq}) | not' if kind == 'none' else jq}")
        for one in children(state, "dataConditions", "defaultCondition"):
            self.leave(one, "")
        self.surround(state, DATA)
        self.report.reshaped("choices are conditions in jq", state)

    def _parallel(self, state: Tree) -> None:
        actions = Actions(self, state)
        results: list[str | None] = []
        for branch in children(state, "branches"):
            name = f"branch {branch.get('name')!r} of {self.report.called(state)}"
            if not branch["@awaited"]:
                self.report.inexpressible(
                    f"{name} is not awaited: since 0.5 a parallel state waits for its branches", branch
                )
            results.append(actions.branch(branch, name) if branch["@awaited"] else None)
            if results[-1] is None:
                state["@left"] = True
                return
        self.surround(state, f"[{', '.join(map(str, results))}]")
        self.report.reshaped("branches run actions instead of states", state)

    def _sub_flow(self, state: Tree) -> None:
        (action,) = children(state, "actions")
        if action["subFlowRef"].get("invoke") != "async":
            keeping = {"fromStateData": braced(DATA), "toStateData": braced(".output")}
            add(action, "actionDataFilter", keeping, "subFlowRef")
            self.surround(state, ".output")
            return
        # The filter of an action that is not awaited is ignored: the state must see the same data.
        if "stateDataFilter" in state:
            raise NotInJqError("a sub-workflow that is not awaited, with a filter")
        seen = {"output": braced("{data: .}")}
        if not self._is_start:
            seen["input"] = braced(DATA)
        add(state, "stateDataFilter", seen, "type")

    def _relay(self, state: Tree) -> None:
        data = state["data"]
        if "$" in repr(data):
            raise NotInJqError("paths in injected data")
        state["data"] = {"data": data}
        self.surround(state, DATA)


def _targets(state: Tree) -> Iterator[Any]:
    entries = list(children(state, "onEvents"))
    expected = (one["@expected"] for one in entries)
    for holder in (state, *children(state, "dataConditions", "defaultCondition", "onErrors"), *expected):
        yield from (way["nextState"] for way in children(holder, "transition"))
    for holder in (state, *entries):
        for action in children(holder, "actions"):
            yield from (retry.get("nextState") for retry in children(action, "@resultRetries"))
