"""Errors: those that conditions identify by name are defined once, and the data get the same part of an error.

0.8 identifies errors by names and codes. Any other condition becomes one of a switch, if another handler covers the
remaining errors: without a handler, the run could not fail with the error.
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, Final

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
from swf_temporal.languages.serverless_workflow.upgrading.conditions_to_jq import in_spel
from swf_temporal.languages.serverless_workflow.upgrading.early_paths_to_jq import place
from swf_temporal.languages.serverless_workflow.upgrading.lowered import ALL, LATE, Lowered, left
from swf_temporal.languages.serverless_workflow.upgrading.may_2020.nested import output
from swf_temporal.languages.serverless_workflow.upgrading.paths_to_jq import NotInJqError
from swf_temporal.languages.serverless_workflow.upgrading.trees import Tree, braced, children, path
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
