"""Events: the kinds, the correlation, and the filters.

The path of a filter selects from the payload or, if it finds nothing there, from the whole event, and a correlation
attribute is put into the data under its name. So the rewritten definitions use the whole event.
"""

from collections.abc import Iterator
from typing import Any

from swf_temporal.base.strict_json import show_json
from swf_temporal.languages.serverless_workflow.upgrading.early_paths_to_jq import JqFinds, field, place
from swf_temporal.languages.serverless_workflow.upgrading.may_2020.filters import alone, goes_one_way, keyed
from swf_temporal.languages.serverless_workflow.upgrading.report import UpgradeReport
from swf_temporal.languages.serverless_workflow.upgrading.trees import Tree, braced, children, path
from swf_temporal.text.round_trip import add


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
