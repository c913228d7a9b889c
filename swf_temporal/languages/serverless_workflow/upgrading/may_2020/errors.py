"""Errors: those that conditions tell by their names are defined once, and the data get what they had of an error.

0.8 knows errors by names and codes. A condition that asks for more is asked by a switch, where another one handles what
is left: if nothing handled an error, there would be no way to let the run fail with it.
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, Final

from swf_temporal.expressions.compiled import BadExpression
from swf_temporal.expressions.spel_parsing import Alone, Compared, Condition, Found, Joined, Literal, Operand, parsed
from swf_temporal.languages.serverless_workflow.upgrading.early_paths_to_jq import place
from swf_temporal.languages.serverless_workflow.upgrading.may_2020.filters import output
from swf_temporal.languages.serverless_workflow.upgrading.may_2020.texts import body_of, braced, condition, path
from swf_temporal.languages.serverless_workflow.upgrading.may_2020.ways import Insert
from swf_temporal.languages.serverless_workflow.upgrading.paths_to_jq import NotInJqError
from swf_temporal.languages.serverless_workflow.upgrading.report import Report
from swf_temporal.languages.serverless_workflow.upgrading.trees import Tree, children
from swf_temporal.text.round_trip import add, replace

ALL: Final = "*"
LATE: Final = "TimedOut"
_PLACE: Final = (
    """[(["{word}", .state], ["action", .action]) as [$word, $name]"""
    """ | select($name != null) | "\\($word) '\\($name)'"]"""
)
_TRACE: Final = f"""\\(.name): \\(.message)\\({_PLACE} | if . == [] then "" else " (in \\(join(", ")))" end)"""
_ERROR: Final = (
    f'($WORKFLOW.error | {{name, message, trace: "{_TRACE}"}} + ({{code, status, body}} | map_values(values)))'
)


class Errors:
    """The errors that the states of one definition name."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._known: dict[str, dict[str, str]] = {}

    @property
    def error(self) -> str:
        """The error that was caught last, as the draft has it in the data."""
        return _ERROR.replace("{word}", self._report.word)

    @property
    def definitions(self) -> list[dict[str, str]]:
        """The errors to be defined."""
        return list(self._known.values())

    def named(self, name: str) -> str:
        """Return the reference to the error *name*."""
        self._known.setdefault(name, {"name": name, **({"code": LATE} if name == LATE else {})})
        return name

    def handle(self, state: Tree, insert: Insert) -> None:
        """Rewrite the onError of *state*, before its own way is rewritten. Raises NotInJqError."""
        entries = list(children(state, "onError"))
        if not entries:
            state.pop("onError", None)
            return
        asked = [_asked(entry) for entry in entries]
        handlers: list[dict[str, Any]] = []
        for index, names in enumerate(asked):
            if names is None:
                rest = self._chosen(state, entries[index:], asked[index:], insert)
                if rest is None:
                    return
                handlers.append({"errorRef": ALL, "transition": rest})
                break
            target = self._target(state, entries[index], insert)
            handlers += [
                {"errorRef": name if name == ALL else self.named(name), "transition": target} for name in names
            ]
            if ALL in names:
                break
        replace(state, "onError", {"onErrors": handlers})
        self._report.reshaped("errors are defined at the top, and referred to by errorRef", state)

    def _chosen(
        self, state: Tree, entries: Sequence[Tree], asked: Sequence[list[str] | None], insert: Insert
    ) -> str | None:
        """Insert a switch by the conditions of *entries*, and return its name; None if nothing handles the rest."""
        last = next((index for index, names in enumerate(asked) if names == [ALL]), None)
        if last is None:
            self._report.inexpressible(
                f"the onError of {self._report.called(state)} asks {body_of(entries[0].get('expression'))!r} of an"
                " error: since 0.5 errors are known by their names",
                entries[0],
            )
            return None
        known = '(if type == "object" then . else {} end) + $error + {$error, exception: $error}'
        seen = f"{self.error} as $error | {known}"
        choices = [
            {
                "condition": braced(f"{seen} | {condition(entry.get('expression'))}"),
                "transition": self._target(state, entry, insert),
            }
            for entry in entries[:last]
        ]
        default = {"transition": self._target(state, entries[last], insert)}
        kept = {"type": "switch", "dataConditions": choices, "defaultCondition": default}
        self._report.reshaped("conditions of an error that are more than its name are those of a switch", state)
        return insert(f"{state.get('name')} met an error", kept)

    def _target(self, state: Tree, entry: Tree, insert: Insert) -> str:
        """Insert a state that has the error in its data, and leads where *entry* does; return its name."""
        own = "transition" in entry
        way = entry["transition"] if own else state.get("transition")
        leading: dict[str, Any] = {"end": deepcopy(state.get("end", True))} if way is None else {}
        if way is not None:
            leading = {"transition": deepcopy(way)}
        filters = state.get("stateDataFilter")
        text = filters.get("dataOutputPath") if isinstance(filters, dict) else None
        given = entry.get("errorDataFilter")
        jq = self._with_error(given.get("dataOutputPath") if isinstance(given, dict) else None)
        if text is not None:
            jq = f"{jq} | {output(text, leads_on=way is not None)}"
        inject = {"type": "inject", "data": {}, "stateDataFilter": {"output": braced(jq)}, **leading}
        return insert(f"{state.get('name')} has failed", inject)

    def _with_error(self, text: Any) -> str:
        """Return the data with the error, or what the path *text* selects of it."""
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

    def go_on_when_late(self, state: Tree, insert: Insert) -> None:
        """Let *state* lead on where an action took too long, as the draft has it where nothing is said of errors."""
        way = {key: deepcopy(state[key]) for key in ("transition", "end") if key in state} or {"end": True}
        filters = state.get("stateDataFilter")
        if isinstance(filters, dict) and "dataOutputPath" in filters:
            text = braced(output(filters["dataOutputPath"], leads_on="transition" in way))
            passing = {"type": "inject", "data": {}, "stateDataFilter": {"output": text}, **way}
            way = {"transition": insert(f"{state.get('name')} is late", passing)}
        add(state, "onErrors", [{"errorRef": self.named(LATE), **way}], "type")
        self._report.reshaped("a state that goes on after the timeout of an action handles the error TimedOut", state)


def retried(expression: Any) -> list[str] | None:
    """Return the names of the errors that a retry is for, [ALL] for all; None if it asks for something else."""
    return _names(expression)


def _asked(entry: Tree) -> list[str] | None:
    return _names(entry.get("expression"))


def _names(expression: Any) -> list[str] | None:
    try:
        return _names_in(parsed(body_of(expression)))
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
    return operand.path.steps if isinstance(operand, Found) and operand.of is None else None
