r"""Putting texts that SonataFlow evaluates into `${ }`.

In SonataFlow, a text is an expression if it compiles, in braces or not, or if it compiles as a jq text with
interpolation, `Got: \(.id)`. It is one only as a whole: `Got ${ .id }` is plain text.
"""

import re
from collections.abc import Mapping, MutableMapping
from typing import Any, Final

from swf_temporal.base.function_types import CONFIG_KEY
from swf_temporal.base.strict_json import show_json
from swf_temporal.expressions.evaluation import LANGUAGES, BadExpression, Expressions
from swf_temporal.expressions.lexing import tokens
from swf_temporal.languages.serverless_workflow.expressions import VARIABLES
from swf_temporal.languages.serverless_workflow.upgrading.report import UpgradeReport
from swf_temporal.languages.serverless_workflow.upgrading.sonataflow.constants import Constants
from swf_temporal.languages.serverless_workflow.upgrading.trees import (
    Tree,
    action_lists,
    braced,
    called,
    children,
    leavings,
    name_of,
    states,
)

_MARKED: Final = re.compile(r"\s*(?:\$\{(?P<jq>.*)\}|\{\{(?P<old>.*)\}\})\s*", re.DOTALL)
_UNKNOWN_HERE: Final = {
    "headers": "pass the required ones in the input or in the event's data",
    "identity": "pass the name of the user in the input",
    "prevActionResult": "keep the result in the data with toStateData",
    "statusCode": "with 'failOnStatusCode: false' the result has the status, the headers and the body",
    "statusMessage": "with 'failOnStatusCode: false' the result has the status, the headers and the body",
    "responseHeaders": "with 'failOnStatusCode: false' the result has the status, the headers and the body",
    "python": "return the value from the function, and keep it with toStateData",
}
"""The fields of `$WORKFLOW` in SonataFlow only, with hints."""
_WORD: Final = re.compile(r"\$WORKFLOW\.(\w+)")
_QUOTED: Final = re.compile(r'\$\{ "(?:[^"\\]|\\[^(])*" \}')
"""A text in quotes, which evaluates to itself."""
_SHOWN: Final = 80
"""The maximum number of characters of a text in a finding."""
_TRUTH: Final = re.compile(
    r"(?:^|\||\$\{)\s*(?:all|any|contains|endswith|has|in|inside|isempty|isvalid|startswith|test|IN)\b[^|]*$"
)
"""An expression whose last filter yields true or false."""


def expressions_of(root: Tree) -> Expressions:
    """Return a compiler for the expressions of *root*, with SonataFlow's variables and functions."""
    functions = {
        str(name_of(one)): one["operation"]
        for one in children(root, "functions")
        if one.get("type") == "expression" and isinstance(one.get("operation"), str) and name_of(one) is not None
    }
    items = {str(state["iterationParam"]) for state in states(root) if "iterationParam" in state}
    named = root.get("expressionLang")
    language = named if named in LANGUAGES else "jq"  # validation reports others
    return Expressions(variables={*VARIABLES, *items, "item", "SECRET"}, functions=functions, language=language)


class Marking:
    """Puts the expressions of one definition into `${ }`."""

    def __init__(self, root: Tree, report: UpgradeReport, constants: Constants) -> None:
        self._root, self._report, self._constants = root, report, constants
        self._expressions = expressions_of(root)

    def run(self) -> None:
        """Mark all expressions."""
        root = self._root
        for function in children(root, "functions"):
            self._operation(function)
            for metadata in children(function, "metadata"):
                self._field(metadata, CONFIG_KEY, f"function {function.get('name')!r}")
        for state in states(root):
            self._state(state)
        for node in leavings(root):
            for way in children(node, "end", "transition"):
                for produced in children(way, "produceEvents"):
                    self._event(produced, called(node) if "name" in node else "produceEvents")
        for timeouts in (root, *states(root)):
            for holder in children(timeouts, "timeouts"):
                self._field(holder, "eventTimeout", "timeouts")

    def _operation(self, function: Tree) -> None:
        """Rewrite the expression of an expression function, which needs no braces."""
        text = function.get("operation")
        if function.get("type") == "expression" and isinstance(text, str) and self._expressions.is_jq:
            who = f"function {function.get('name')!r}"
            self._look_at(text, who, function)
            self._put(function, "operation", self._constants.written(text, who, function), who)

    def _state(self, state: Tree) -> None:
        who = called(state)
        for key in ("inputCollection", "outputCollection", "numCompleted"):
            self._field(state, key, who)
        for holder in (state, *children(state, "onEvents", "eventConditions")):
            for filter_ in children(holder, "eventDataFilter"):
                self._fields(filter_, ("data", "toStateData"), who)
        for filter_ in children(state, "stateDataFilter"):
            self._fields(filter_, ("input", "output"), who)
        for condition in children(state, "dataConditions"):
            self._condition(condition, who)
        for metadata in children(state, "metadata"):
            self._field(metadata, "errorMessage", who)
        if state.get("type") == "inject" and "data" in state:
            self._literal(state, "data", who)
        for _, found in action_lists(state):
            for action in found:
                self._action(action, who)

    def _action(self, action: Tree, who: str) -> None:
        self._condition(action, who)
        for filter_ in children(action, "actionDataFilter"):
            self._fields(filter_, ("fromStateData", "results", "toStateData"), who)
        for reference in children(action, "functionRef"):
            self._value(reference, "arguments", who, is_argument=True)
        for reference in children(action, "eventRef"):
            self._event(reference, who)

    def _event(self, node: Tree, who: str) -> None:
        for key in ("data", "contextAttributes"):
            self._value(node, key, who)

    def _fields(self, node: Tree, keys: tuple[str, ...], who: str) -> None:
        for key in keys:
            self._field(node, key, who)

    def _field(self, node: Tree, key: str, who: str) -> None:
        """Mark the text under *key*, which always is an expression."""
        text = node.get(key)
        if isinstance(text, str):
            marked = self._expression(self._from_root(text), who, node)
            if marked is not None:
                self._put(node, key, marked, f"{who}: {key}")

    def _from_root(self, text: str) -> str:
        """Return *text*, which always is an expression, with `$` before a path without it."""
        found = _MARKED.fullmatch(text)
        inner = (text if found is None else found["jq"] or found["old"] or "").strip()
        return text if self._expressions.is_jq or not inner or inner[0] in "$@" else f"$.{inner}"

    def _condition(self, node: Tree, who: str) -> None:
        """Mark a condition, and report one that may yield something other than true or false."""
        self._field(node, "condition", who)
        text = node.get("condition")
        if not isinstance(text, str) or not self._expressions.is_jq or _TRUTH.search(text) is not None:
            return
        try:
            kinds = self._expressions.condition(text).kinds
        except BadExpression:
            return
        if not kinds <= {"boolean", "null"}:
            message = f"{who}: {_short(text)} holds for all values but false and null; SonataFlow requires true"
            hint = "compare it if it can be something other than true and false, as in '.count > 0'"
            self._report.differs(message, hint, node)

    def _value(self, node: Any, key: Any, who: str, *, is_argument: bool = False) -> None:
        """Mark the expressions among the texts under *key*."""
        value = node[key] if not isinstance(node, Mapping) or key in node else None
        if isinstance(value, MutableMapping):
            for name in list(value):
                self._value(value, name, who, is_argument=is_argument)
        elif isinstance(value, list):
            for index in range(len(value)):
                self._value(value, index, who, is_argument=is_argument)
        elif isinstance(value, str):
            found = self._expression(value, who, node, is_argument=is_argument)
            if found is not None:
                self._put(node, key, found, f"{who}: {key!r}" if isinstance(key, str) else who)
            elif "${" in value and _MARKED.fullmatch(value) is None:
                self._put(
                    node, key, braced(show_json(value)), f"{who}: a text with embedded expressions is not a template"
                )

    def _literal(self, node: Any, key: Any, who: str) -> None:
        """Quote the texts under *key*, so that they are not evaluated."""
        value = node[key]
        if isinstance(value, MutableMapping):
            for name in value:
                self._literal(value, name, who)
        elif isinstance(value, list):
            for index in range(len(value)):
                self._literal(value, index, who)
        elif isinstance(value, str) and "${" in value and _QUOTED.fullmatch(value) is None:
            self._put(node, key, braced(show_json(value)), f"{who}: injected data are not evaluated in SonataFlow")

    def _put(self, node: Any, key: Any, text: str, what: str) -> None:
        if node[key] != text:
            old = node[key]
            node[key] = text
            self._report.reshaped(
                f"{what}: {_short(old)} is {_short(text)}", node if isinstance(node, Mapping) else None
            )

    def _expression(self, text: str, who: str, node: Any, *, is_argument: bool = False) -> str | None:
        """Return *text* in `${ }` if SonataFlow evaluates it, else None. Arguments may use secrets."""
        found = _MARKED.fullmatch(text)
        inner = (text if found is None else found["jq"] or found["old"] or "").strip()
        if not inner or (not self._expressions.is_jq and found is None and not inner.startswith("$")):
            return None
        if not self._compiles(inner):
            if not self._expressions.is_jq:
                if found is not None:
                    return braced(inner)
                self._no_path(inner, who, node)
                return None
            interpolated = f'"{inner}"'
            if found is not None or "\\(" not in inner or '"' in inner or not self._compiles(interpolated):
                return None
            inner = interpolated
        self._look_at(inner, who, node)
        place = node if isinstance(node, Mapping) else None
        changed = self._constants.written(inner, who, place, is_argument=is_argument)
        if found is not None and found["jq"] is not None and changed == inner:
            return text
        return braced(changed)

    def _no_path(self, text: str, who: str, node: Any) -> None:
        """Report a text that looks like a JSONPath but is not one: it is sent as it is."""
        place = node if isinstance(node, Mapping) else None
        hint = 'write each path in separate braces, as in "${ $.a } ${ $.b }"'
        self._report.differs(f"{who}: {_short(text)} is not a single JSONPath, and is read as text", hint, place)

    def _compiles(self, text: str) -> bool:
        try:
            self._expressions.expression(braced(text))
        except BadExpression:
            return False
        return True

    def _look_at(self, text: str, who: str, node: Any) -> None:
        """Report fields of `$WORKFLOW` in the expression *text* that do not exist here."""
        if "$WORKFLOW" not in text:
            return
        place = node if isinstance(node, Mapping) else None
        for word in tokens(text):
            if word.kind == "variable" and (found := _WORD.match(text, word.offset)) and found[1] in _UNKNOWN_HERE:
                self._report.inexpressible(f"{who}: $WORKFLOW.{found[1]}", place, _UNKNOWN_HERE[found[1]])


def mark(root: Tree, report: UpgradeReport, constants: Constants) -> None:
    """Put the expressions of *root* into `${ }`, with *constants* for properties."""
    Marking(root, report, constants).run()


def _short(text: Any) -> str:
    shown = show_json(text)
    return shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 1]}…"
