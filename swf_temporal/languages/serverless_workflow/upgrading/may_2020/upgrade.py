"""Converting the lowered draft of May 2020 to a definition of 0.8.

The path of a filter of an event selects from the payload or, if it finds nothing there, from the whole event. So the
rewritten definitions use the whole event.
"""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any, Final

from swf_temporal.base.strict_json import show_json
from swf_temporal.expressions.compiled import BadExpression
from swf_temporal.expressions.spel_parsing import (
    Alone,
    Compared,
    Condition,
    Joined,
    Literal,
    Operand,
    PathValues,
    parsed,
)
from swf_temporal.languages.serverless_workflow.upgrading.conditions_to_jq import compared, in_spel
from swf_temporal.languages.serverless_workflow.upgrading.early_paths_to_jq import JqFinds, field, place
from swf_temporal.languages.serverless_workflow.upgrading.lowered import ALL, LATE, Lowered, left
from swf_temporal.languages.serverless_workflow.upgrading.may_2020 import nested
from swf_temporal.languages.serverless_workflow.upgrading.may_2020.nested import (
    Nested,
    adds_by_keys,
    alone,
    goes_one_way,
    keyed,
    output,
    rewrite_action,
    state_filter,
)
from swf_temporal.languages.serverless_workflow.upgrading.paths_to_jq import NotInJqError
from swf_temporal.languages.serverless_workflow.upgrading.trees import (
    SYNONYMS,
    Tree,
    UpgradeReport,
    action_lists,
    braced,
    children,
    path,
    template,
    value,
)
from swf_temporal.text.round_trip import add

_PLACE: Final = (
    """[(["{word}", .state], ["action", .action]) as [$word, $name]"""
    """ | select($name != null) | "\\($word) '\\($name)'"]"""
)
_TRACE: Final = f"""\\(.name): \\(.message)\\({_PLACE} | if . == [] then "" else " (in \\(join(", ")))" end)"""
_ERROR: Final = (
    f'($WORKFLOW.error | {{name, message, trace: "{_TRACE}"}} + ({{code, status, body}} | map_values(values)))'
)


class Errors:
    """The errors that the states of one definition handle."""

    def __init__(self, definition: Lowered) -> None:
        self._definition = definition
        self._report = definition.report

    @property
    def error(self) -> str:
        """The error caught last, in the draft's form."""
        return _ERROR.replace("{word}", self._report.word)

    def handle(self, state: Tree) -> None:
        """Rewrite the onErrors of *state*, before its own transition. Raises NotInJqError."""
        if not state.get("onErrors"):
            state.pop("onErrors", None)
            return
        entries = list(children(state, "onErrors"))
        asked = [names_asked(entry["@condition"]) for entry in entries]
        handlers: list[dict[str, Any]] = []
        for index, names in enumerate(asked):
            if names is None:
                rest = self._chosen(state, entries[index:], asked[index:])
                if rest is None:
                    return
                handlers.append({"errorRef": ALL, "transition": rest})
                break
            target = self._target(state, entries[index])
            named = (name if name == ALL else self._definition.error(name) for name in names)
            handlers += [{"errorRef": name, "transition": target} for name in named]
            if ALL in names:
                break
        state["onErrors"] = handlers
        self._report.reshaped("errors are defined at the top level, and referred to by errorRef", state)

    def _chosen(self, state: Tree, entries: Sequence[Tree], asked: Sequence[list[str] | None]) -> str | None:
        """Insert a switch by the conditions of *entries*, and return its name; None without a handler of the rest."""
        last = next((index for index, names in enumerate(asked) if names == [ALL]), None)
        if last is None:
            self._report.inexpressible(
                f"the onError of {self._report.called(state)} has the condition {entries[0]['@condition']!r} on an"
                " error: since 0.5 errors are identified by name",
                entries[0],
            )
            left(state, "onErrors", "@onErrors")
            return None
        known = '(if type == "object" then . else {} end) + $error + {$error, exception: $error}'
        seen = f"{self.error} as $error | {known}"
        choices = [
            {
                "condition": braced(f"{seen} | {in_spel(entry['@condition'])}"),
                "transition": self._target(state, entry),
            }
            for entry in entries[:last]
        ]
        default = {"transition": self._target(state, entries[last])}
        kept = {"type": "switch", "dataConditions": choices, "defaultCondition": default}
        self._report.reshaped("conditions on more than the name of an error are those of a switch", state)
        return self._definition.insert(f"{state.get('name')} met an error", kept)

    def _target(self, state: Tree, entry: Tree) -> str:
        """Insert a state that puts the error into the data, and leads where *entry* does; return its name."""
        way = deepcopy({key: entry[key] for key in ("transition", "end") if key in entry} or {"end": True})
        text = state.get("stateDataFilter", {}).get("output")
        jq = self._with_error(entry.get("@data"))
        if text is not None:
            jq = f"{jq} | {output(text, leads_on='transition' in way)}"
        inject = {"type": "inject", "data": {}, "stateDataFilter": {"output": braced(jq)}, **way}
        return self._definition.insert(f"{state.get('name')} has failed", inject)

    def _with_error(self, text: Any) -> str:
        """Return the data with the error, or with the part that the path *text* selects."""
        data = 'if type == "object" then . else {} end'
        if text is None:
            return f"({data}) + {{error: {self.error}}}"
        finds = path(text)
        whole_error, body = f"$error + {{$error, exception: $error}} | {finds.found}", f"$error.body | {finds.found}"
        known = f"({whole_error}), ({body})"
        if not finds.is_singular:
            known = f"first(([{whole_error}], [{body}]) | select(. != []))"
            found = f"[{known}] | if . == [] then . elif .[0] | length == 1 then .[0] else . end"
        else:
            found = f"[first({known})]"
        last = place([finds.last_key or "error"])
        whole = place(list(finds.steps)) if finds.steps and all(isinstance(one, str) for one in finds.steps) else last
        one = f"if $found == [] then ({whole} = $error) else ({last} = $found[0]) end"
        return f"({data}) | {self.error} as $error | ({found}) as $found | {one}"

    def go_on_when_late(self, state: Tree) -> None:
        """Let *state* continue after a timeout of an action, as in the draft for states without onError."""
        way = deepcopy({key: state[key] for key in ("transition", "end") if key in state} or {"end": True})
        text = state.get("stateDataFilter", {}).get("output")
        if text is not None:
            filters = {"output": braced(output(text, leads_on="transition" in way))}
            passing = {"type": "inject", "data": {}, "stateDataFilter": filters, **way}
            way = {"transition": self._definition.insert(f"{state.get('name')} is late", passing)}
        add(state, "onErrors", [{"errorRef": self._definition.error(LATE), **way}], "type")
        self._report.reshaped("a state that continues after the timeout of an action handles the error TimedOut", state)


def names_asked(condition: str) -> list[str] | None:
    """Return the names of the errors for which *condition* holds, [ALL] for all; None for any other condition."""
    try:
        return _names_in(parsed(condition))
    except BadExpression as error:
        raise NotInJqError(error.message) from None


def _names_in(asked: Condition) -> list[str] | None:
    match asked:
        case Compared("!=", operand, Literal(None)) | Alone(operand):
            return [ALL] if _steps(operand) in (["error"], ["exception"]) else None
        case Compared("==", operand, Literal(str(name))):
            return [name] if _steps(operand) in (["name"], ["error", "name"], ["exception", "name"]) else None
        case Joined("or", parts):
            found = [_names_in(part) for part in parts]
            names = [name for one in found for name in one or ()]
            return None if None in found else [ALL] if ALL in names else names
        case _:
            return None


def _steps(operand: Operand) -> list[str | int] | None:
    return operand.path.steps if isinstance(operand, PathValues) and operand.of is None else None


class Events:
    """The events of a definition, and their uses."""

    def __init__(self, root: Tree, report: UpgradeReport) -> None:
        self._root = root
        self._report = report
        self._tokens = {
            event["name"]: event["correlation"][0]["contextAttributeName"]
            for event in children(root, "events")
            if "correlation" in event
        }
        uses = list(_uses(root))
        filtered = {ref for holder, refs, _ in uses if _path_of(holder) is not None for ref in refs}
        # Definitions are shared: an event that is used as a whole once is seen as a whole by all its users.
        self._whole = filtered | {ref for _, refs, _ in uses for ref in refs if ref in self._tokens}

    def rewrite(self) -> None:
        """Rewrite the definitions, and the filters of all consumers of events."""
        for holder, refs, owner in list(_uses(self._root)):
            self._filter(holder, refs, owner)
        for event in children(self._root, "events"):
            if event["name"] in self._whole:
                add(event, "dataOnly", value=False, after="type")

    def _filter(self, holder: Tree, refs: list[str], owner: Tree) -> None:
        text = _path_of(holder)
        whole = [ref for ref in refs if ref in self._whole]
        if not whole:
            holder.pop("eventDataFilter", None)
            return
        tokens = {self._tokens.get(ref) for ref in refs}
        if len(tokens) > 1 or len(whole) < len(refs):
            self._report.inexpressible(
                f"{self._report.called(owner)} waits for events with and without the same correlationToken", holder
            )
            return
        made = _selected(None if text is None else path(text), next(iter(tokens)))
        if "eventDataFilter" in holder:
            holder["eventDataFilter"] = made
        else:
            add(
                holder, "eventDataFilter", made, next((key for key in ("eventRefs", "eventRef") if key in holder), None)
            )
        self._report.reshaped("the filter of an event sees the whole event, with dataOnly: false", holder)


def _selected(finds: JqFinds | None, token: str | None) -> dict[str, str]:
    """Return the filter that selects the values of *finds*, or the payload, and the attribute *token*."""
    if finds is None and token is None:
        return {"data": braced(".data")}
    if finds is None:
        return {"data": braced(f"{_PAYLOAD}{_attribute(token)}")}
    inside = f".data | values | {finds.found}"
    if finds.is_singular:
        either = f"first(({inside}), ({finds.found}))" if finds.steps else "first((.data | values), .)"
        found = f"[{either}]"
        or_all = f"first(({inside}), ({finds.found}), .)" if finds.steps else either
    else:
        found = f"first((([{inside}], [{finds.found}]) | select(. != [])), [])"
        or_all = f"first((([{inside}], [{finds.found}]) | select(. != [])), .)"
    value = alone(finds, or_all)
    if finds.last_key is None and token is None:
        return {"data": braced(value)}
    if goes_one_way(finds) and token is None:
        return {"data": braced(value), "toStateData": braced(place([finds.last_key or ""]))}
    if finds.last_key is None:
        made = f"({value} | {_AS_OBJECT})"
    elif goes_one_way(finds):
        made = f"({value} | if . == null then {{}} else {{{field(finds.last_key)}: .}} end)"
    elif token is None:
        return {"data": braced(keyed(finds, found, "."))}
    else:
        made = f"(({keyed(finds, found, '.')}) // {{}})"
    return {"data": braced(f"{made}{_attribute(token)}")}


_AS_OBJECT = 'if type == "object" then . elif . == null then {} else {response: .} end'
_PAYLOAD = f"(.data | {_AS_OBJECT})"


def _attribute(token: str | None) -> str:
    """Return the expression that adds the attribute *token*, case-insensitively, to an object made of an event."""
    if token is None:
        return ""
    name = show_json(token)
    lower = show_json(token.lower())
    return f" + with_entries(select((.key | ascii_downcase) == {lower} and .value != null) | .key = {name})"


def _uses(root: Tree) -> Iterator[tuple[Tree, list[str], Tree]]:
    """Yield the consumers of events, at any depth: the node with the filter, the names of the events, and the state."""
    for state in _all_states(root):
        for entry in children(state, "onEvents"):
            yield entry, entry["eventRefs"], state
        for one in (*children(state, "eventConditions"), *([state] if state["type"] == "callback" else ())):
            yield one, [one["eventRef"]], state


def _all_states(holder: Tree) -> Iterator[Tree]:
    for state in children(holder, "states"):
        yield state
        for one in (state, *children(state, "branches")):
            for scope in children(one, "@scope"):
                yield from _all_states(scope)


def _path_of(holder: Tree) -> Any:
    given = holder.get("eventDataFilter")
    return given.get("data") if isinstance(given, dict) else None


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
