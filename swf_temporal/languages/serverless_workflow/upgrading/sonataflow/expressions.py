r"""Putting texts that SonataFlow evaluates into `${ }`.

In SonataFlow, a text is an expression if it compiles, in braces or not, or if it compiles as a jq text with
interpolation, `Got: \(.id)`. It is one only as a whole: `Got ${ .id }` is plain text.
"""

import re
from collections.abc import Collection, Mapping, MutableMapping
from contextlib import suppress
from typing import Any, Final

from swf_temporal.base.function_types import CONFIG_KEY
from swf_temporal.base.strict_json import show_json
from swf_temporal.expressions.compiled import ANY
from swf_temporal.expressions.evaluation import LANGUAGES, BadExpression, Expressions
from swf_temporal.expressions.lexing import assigns, tokens
from swf_temporal.languages.serverless_workflow.expressions import VARIABLES
from swf_temporal.languages.serverless_workflow.upgrading.sonataflow.constants import Constants
from swf_temporal.languages.serverless_workflow.upgrading.trees import (
    Tree,
    UpgradeReport,
    action_lists,
    actions,
    braced,
    called,
    children,
    function_of,
    leavings,
    name_of,
    states,
)

MARKED: Final = re.compile(r"\s*(?:\$\{(?P<jq>.*)\}|\{\{(?P<old>.*)\}\})\s*", re.DOTALL)
"""An expression in braces."""
_NAMED: Final = "fn:"


def unmarked(text: str) -> str:
    """Return the expression *text* without its braces."""
    found = MARKED.fullmatch(text)
    return (text if found is None else found["jq"] or found["old"] or "").strip()


def functions_of(root: Tree) -> dict[str, str]:
    """Return the expression functions of *root* by name."""
    return {
        str(name_of(one)): one["operation"]
        for one in children(root, "functions")
        if one.get("type") == "expression" and isinstance(one.get("operation"), str) and name_of(one) is not None
    }


def insert_functions(root: Tree, report: UpgradeReport, constants: Constants) -> None:
    """Insert each expression function of *root* with a property that cannot be a constant; remove it if that is all."""
    functions = functions_of(root)
    for function in list(children(root, "functions")):
        name = str(function.get("name"))
        if name not in functions or not constants.exposes(functions[name]):
            continue
        calls = [(action, function_of(action)) for _, action in actions(root)]
        inserted = [
            _insert(reference, "arguments", name, functions[name])
            for action, called in calls
            for reference in children(action, "functionRef")
            if called not in functions
        ]
        if any(inserted):
            message = f"function {name!r}: its expression is inserted into the arguments that name it"
            report.reshaped(message, function)
            if all(called != name for _, called in calls) and not _names(root, name):
                root["functions"].remove(function)


def _insert(node: Any, key: Any, name: str, text: str) -> bool:
    """Write the expression *text* for `fn:name` under *key*; return True if it is named there."""
    value = node.get(key) if isinstance(node, Mapping) else node[key]
    if isinstance(value, MutableMapping | list):
        inside = list(value) if isinstance(value, MutableMapping) else range(len(value))
        return sum(_insert(value, one, name, text) for one in inside) > 0  # all of them, unlike any()
    is_named = isinstance(value, str) and _is_named(value, name)
    if is_named:
        node[key] = braced(text)
    return is_named


def _names(value: Any, name: str) -> bool:
    """Return True if a text in *value* is the expression function *name*."""
    if isinstance(value, Mapping | list):
        return any(_names(one, name) for one in (value.values() if isinstance(value, Mapping) else value))
    return isinstance(value, str) and _is_named(value, name)


def _is_named(text: str, name: str) -> bool:
    inner = unmarked(text)
    return inner.startswith(_NAMED) and inner.removeprefix(_NAMED).strip() == name


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
_WHOLE: Final = "name the fields that are needed, as in '$WORKFLOW.id'"
_WORD: Final = re.compile(r"\$WORKFLOW\.(\w+)")
_QUOTED: Final = re.compile(r'\$\{ "(?:[^"\\]|\\[^(])*" \}')
"""A text in quotes, which evaluates to itself."""
_SHOWN: Final = 80
"""The maximum number of characters of a text in a finding."""
_TRUTH: Final = re.compile(
    r"(?:^|\||\$\{)\s*(?:all|any|contains|endswith|has|in|inside|isempty|isvalid|startswith|test|IN)\b[^|]*$"
)
"""An expression whose last filter yields true or false."""
_UNDEFINED: Final = re.compile(r"\$(\w+) is not defined")
_OF_ELEMENT: Final = re.compile(r"\[-?\d+\]\s*\.?\[\s*\?")
"""A filter in a JSONPath that is applied to an element of an array, which often is an object."""


def expressions_of(root: Tree) -> Expressions:
    """Return a compiler for the expressions of *root*, with SonataFlow's variables and functions."""
    items = {str(state.get("iterationParam", "item")) for state in states(root) if state.get("type") == "foreach"}
    named = root.get("expressionLang")
    language = named if named in LANGUAGES else "jq"  # validation reports others
    return Expressions(variables={*VARIABLES, *items, "SECRET"}, functions=functions_of(root), language=language)


class Marking:
    """Puts the expressions of one definition into `${ }`."""

    def __init__(self, root: Tree, report: UpgradeReport, constants: Constants, *, keeps_effects: bool) -> None:
        self._root, self._report, self._constants = root, report, constants
        self._keeps_effects = keeps_effects
        self._expressions = expressions_of(root)
        self._functions = functions_of(root)

    def run(self) -> None:
        """Mark all expressions."""
        root = self._root
        self._of_functions()
        for state in states(root):
            self._state(state)
        for node in leavings(root):
            for way in children(node, "end", "transition"):
                for produced in children(way, "produceEvents"):
                    self._event(produced, called(node) if "name" in node else "produceEvents")
        for timeouts in (root, *states(root)):
            for holder in children(timeouts, "timeouts"):
                self._field(holder, "eventTimeout", "timeouts")

    def _of_functions(self) -> None:
        root = self._root
        if self._expressions.is_jq:
            insert_functions(root, self._report, self._constants)
        for function in children(root, "functions"):
            self._operation(function)
        self._expressions, self._functions = expressions_of(root), functions_of(root)
        for function in children(root, "functions"):
            for metadata in children(function, "metadata"):
                self._field(metadata, CONFIG_KEY, f"function {function.get('name')!r}")

    def _operation(self, function: Tree) -> None:
        """Rewrite the expression of an expression function, which needs no braces."""
        text = function.get("operation")
        if function.get("type") != "expression" or not isinstance(text, str):
            return
        who = f"function {function.get('name')!r}"
        self._look_at(text, who, function)
        if self._expressions.is_jq:
            inner = text if MARKED.fullmatch(text) is None else unmarked(text)
            defined = self._defined(inner, who, function, self._arguments_of(function.get("name")))
            text = text if defined == inner else defined
            self._put(function, "operation", self._constants.written(text, who, function), who)

    def _arguments_of(self, name: Any) -> set[str]:
        """Return the names of the arguments of calls of the function *name*."""
        given = (
            reference.get("arguments")
            for _, action in actions(self._root)
            for reference in children(action, "functionRef")
            if function_of(action) == name
        )
        return {str(key) for one in given if isinstance(one, Mapping) for key in one}

    def _defined(
        self, text: str, who: str, node: Any, arguments: Collection[str] = (), *, or_text: bool = False
    ) -> str:
        """Return the expression *text* with variables that it does not define itself, if it compiles so.

        They are the *arguments* of an expression function, or of iterations that call the workflow. Without such an
        iteration the expression fails, or with *or_text* is the text itself, as SonataFlow sends it.
        """
        defined, inherited = text, list[str]()
        while (undefined := self._undefined_in(defined)) is not None:
            inherited += [] if undefined in arguments else [undefined]
            holder = "args" if undefined in arguments else "WORKFLOW.variables"
            before, defined = defined, _renamed(defined, undefined, f"{holder}.{undefined}")
            if defined == before:
                return text
        if not self._compiles(defined):
            return text
        if not inherited:
            return defined
        name, place = f"${inherited[0]}", node if isinstance(node, Mapping) else None
        passed = f"'fromStateData: . + {{{name[1:]}: {name}}}'"
        hint = f"pass it where the workflow is called, {passed}, and use .{name[1:]} here"
        if or_text:
            message = (
                f"{who}: {_short(text)} is read as text; if an iteration calls this workflow, SonataFlow knows {name}"
            )
            self._report.differs(message, hint, place)
        else:
            self._report.inexpressible(f"{who}: {name} of an iteration that calls this workflow", place, hint)
        if not self._keeps_effects:
            return text
        has = " and ".join(f'has("{one}")' for one in inherited)
        other = show_json(text) if or_text else f"error({show_json(f'{name} is not defined')})"
        return f"if $WORKFLOW.variables | {has} then {defined} else {other} end"

    def _undefined_in(self, text: str) -> str | None:
        """Return the name of a variable that the expression *text* uses, and that is not defined."""
        try:
            self._expressions.expression(braced(text))
        except BadExpression as bad:
            found = _UNDEFINED.fullmatch(bad.message)
            return None if found is None else found[1]
        return None

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
        inner = unmarked(text)
        return text if self._expressions.is_jq or not inner or inner[0] in "$@" else f"$.{inner}"

    def _condition(self, node: Tree, who: str) -> None:
        """Mark a condition; one that is known not to yield true or false is compared as SonataFlow does."""
        written = node.get("condition")
        text = show_json(written) if isinstance(written, int | float) and not isinstance(written, bool) else written
        if not isinstance(text, str):
            return
        marked = self._expression(self._from_root(text), who, node) or text
        kinds = self._kinds(marked)
        compared = None if kinds is None else self._compared(marked, kinds)
        self._put(node, "condition", compared or marked, f"{who}: condition")
        if kinds is not None and compared is None and not kinds <= {"boolean", "null"}:
            message = f"{who}: {_short(marked)} holds for all values but false and null; SonataFlow requires true"
            hint = "compare it if it can be something other than true and false, as in '.count > 0'"
            self._report.differs(message, hint, node)

    def _kinds(self, condition: str) -> frozenset[str] | None:
        """Return the kinds of values that a condition in jq may yield; None if its form shows that it is a truth."""
        if not self._expressions.is_jq or _TRUTH.search(condition) is not None:
            return None
        with suppress(BadExpression):
            return frozenset(self._expressions.condition(condition).kinds)
        return None

    def _compared(self, text: str, kinds: frozenset[str]) -> str | None:
        """Return the condition *text*, which yields values of *kinds*, as one that is true if it holds in SonataFlow.

        That is for true, the text "true", and numbers except 0. Return None if it is one already, or yields anything.
        """
        inner = unmarked(text)
        if inner.startswith("fn:"):
            inner = str(self._functions.get(inner.removeprefix("fn:").strip(), "")).strip()
            if not inner or MARKED.fullmatch(inner) is not None or inner.startswith("fn:"):
                return None
        if kinds == ANY:
            if not assigns(inner):
                return None
            kinds = frozenset({"object"})  # the data, with what was assigned
        elif "boolean" in kinds and kinds <= {"boolean", "null"}:
            return None
        if kinds == {"number"}:
            compared = f"({inner}) != 0"
        elif kinds == {"string"}:
            compared = f'({inner}) == "true"'
        elif not {"number", "string"} & kinds:
            compared = f"({inner}) == true"
        else:
            compared = f'({inner}) | . == true or . == "true" or (type == "number" and . != 0)'
        return braced(compared) if self._compiles(compared) else None

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
            found = self._expression(value, who, node, is_argument=is_argument, is_text=True)
            if found is not None:
                self._put(node, key, found, f"{who}: {key!r}" if isinstance(key, str) else who)
            elif "${" in value and MARKED.fullmatch(value) is None:
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

    def _expression(
        self, text: str, who: str, node: Any, *, is_argument: bool = False, is_text: bool = False
    ) -> str | None:
        """Return *text* in `${ }` if SonataFlow evaluates it, else None; *is_text* if it may be a text as it is.

        Arguments may use secrets.
        """
        found = MARKED.fullmatch(text)
        written = inner = unmarked(text)
        if not inner or (not self._expressions.is_jq and found is None and not inner.startswith("$")):
            return None
        if self._expressions.is_jq:
            inner = self._defined(inner, who, node, or_text=is_text)
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
        if found is not None and found["jq"] is not None and changed == written:
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
        """Report fields of `$WORKFLOW` in the expression *text* that do not exist here, and filters of an element."""
        place = node if isinstance(node, Mapping) else None
        if not self._expressions.is_jq and _OF_ELEMENT.search(text) is not None:
            message = (
                f"{who}: the filter in {_short(text)} applies to the members of an object; SonataFlow tries itself"
            )
            self._report.differs(message, "filter the array that has the object", place)
        if "$WORKFLOW" not in text:
            return
        for word in tokens(text):
            if word.kind != "variable" or word.text != "$WORKFLOW":
                continue
            found = _WORD.match(text, word.offset)
            if found is None:
                self._report.differs(f"{who}: $WORKFLOW has no {', '.join(_UNKNOWN_HERE)} here", _WHOLE, place)
            elif found[1] in _UNKNOWN_HERE:
                self._report.inexpressible(f"{who}: $WORKFLOW.{found[1]}", place, _UNKNOWN_HERE[found[1]])


def _renamed(text: str, variable: str, name: str) -> str:
    """Return the expression *text* with another *name* for a *variable*."""
    made, end = "", 0
    with suppress(BadExpression):
        for word in tokens(text):
            if word.kind == "variable" and word.text == f"${variable}":
                made += f"{text[end : word.offset]}${name}"
                end = word.offset + len(word.text)
    return made + text[end:]


def mark(root: Tree, report: UpgradeReport, constants: Constants, *, keeps_effects: bool) -> None:
    """Put the expressions of *root* into `${ }`, with *constants* for properties."""
    Marking(root, report, constants, keeps_effects=keeps_effects).run()


def _short(text: Any) -> str:
    shown = show_json(text)
    return shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 1]}…"
