"""Compiles the fields of a definition into functions of data and variables.

Two kinds of fields hold expressions. Some hold an expression by definition (filters, conditions, collections,
targets, operations of expression functions, the data of events): there `${ }` may be left out, and the `{{ }}` of older
versions is supported. All others are JSON in which any text may contain `${ … }`. Each is compiled once per definition,
and looked up from then on.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from typing import Final, TypeVar

from swf_temporal.base.data import JSON
from swf_temporal.expressions import paths, template
from swf_temporal.expressions.compiled import (
    NOTHING,
    BadExpression,
    Compiled,
    Constant,
    EvaluationOutcome,
    Variables,
    is_true,
)
from swf_temporal.expressions.jq import JqProgram
from swf_temporal.expressions.jsonpath import Condition, JsonPathProgram, path_of
from swf_temporal.expressions.targets import Target, refused, target

__all__ = [
    "LANGUAGES",
    "NOTHING",
    "BadExpression",
    "Compiled",
    "Constant",
    "EvaluationOutcome",
    "Expressions",
    "Target",
    "Variables",
    "is_true",
]

LANGUAGES: Final = ("jq", "jsonpath")
"""The languages that expressions may be written in."""

_T = TypeVar("_T")
_FUNCTION = "fn:"
_MAX_STRUCTURES = 10_000


class Expressions:
    """Compiles the expressions of one definition, each text once.

    *variables* are the names that they may use. *functions* are the definition's expression functions by name. *texts*
    returns the texts of the definition that have expressions, so that those which need jq are compiled together. With
    *filters_objects*, the filters of a JSONPath apply to objects themselves, and not to their members.
    """

    opening = "${"
    """The beginning of an expression in a text."""

    def __init__(
        self,
        *,
        variables: Collection[str] = (),
        functions: Mapping[str, str] | None = None,
        language: str = "jq",
        texts: Callable[[], Iterable[str]] = tuple,
        filters_objects: bool = False,
    ) -> None:
        if language not in LANGUAGES:
            raise BadExpression(f"expressions are written in jq or jsonpath here, not in '{language}'")
        self.is_jq = language == "jq"
        """Whether they are written in jq."""
        self.declared = frozenset(variables)
        """The variables that these expressions may name."""
        self._functions = dict(functions or {})
        self._filters_objects = filters_objects
        self._texts: Callable[[], Iterable[str]] | None = texts
        self._sources: dict[str, Compiled] = {}
        """The expressions that were compiled ahead, by the text between the braces."""
        self._expressions: dict[str, Compiled] = {}
        self._templates: dict[str, Compiled] = {}
        self._targets: dict[str, Target] = {}
        # By identity, each with its value: an id is valid only as long as its object lives.
        self._structures: dict[int, tuple[JSON, Compiled]] = {}

    def expression(self, value: JSON) -> Compiled:
        """Compile a field that holds an expression by definition.

        Any text is one: `${ … }`, `{{ … }}`, `fn:name`, and a text without such marks. If `${ … }` is only part of the
        text, the result is a text. Objects and arrays are templates. Raises BadExpression.
        """
        if not isinstance(value, str):
            return self.template(value)
        found = self._expressions.get(value)
        if found is None:
            found = self._expressions[value] = self._field(value, ())
        return found

    def condition(self, value: JSON) -> Compiled:
        """Compile a condition: an expression whose outcome is true or not. Raises BadExpression.

        A JSONPath holds if it finds something, which its outcome alone, an array, does not show.
        """
        compiled = self.expression(value)
        return Condition(compiled) if isinstance(compiled, JsonPathProgram) else compiled

    def template(self, value: JSON) -> Compiled:
        """Compile JSON in which texts may hold `${ … }`. Raises BadExpression.

        A text that is one expression becomes its outcome; if there is more around it, the results become
        text as in jq's string interpolation.
        """
        if isinstance(value, str):
            found = self._templates.get(value)
            if found is None:
                found = self._templates[value] = self._template_text(value)
            return found
        if not isinstance(value, dict | list):
            return Constant(value)
        known = self._structures.get(id(value))
        if known is not None:
            return known[1]
        if len(self._structures) >= _MAX_STRUCTURES:
            self._structures.clear()
        compiled = template.filled(value, self.template)
        self._structures[id(value)] = (value, compiled)
        return compiled

    def target(self, text: JSON) -> Target:
        """Compile a field that names a place in the data, such as `toStateData`.

        `.` and an empty text name the root. Raises BadExpression if the text cannot name a place. The result
        raises ExpressionFailed if the expression names none, or more than one, in the data.
        """
        if not isinstance(text, str):
            raise BadExpression("a place in the data is named by an expression such as '.result'")
        found = self._targets.get(text)
        if found is None:
            inner, offset = _unwrapped(text)
            found = self._targets[text] = _moved(lambda: self._target(inner), offset)
        return found

    def _template_text(self, text: str) -> Compiled:
        return template.compiled_text(text, self._source)

    def _target(self, text: str) -> Target:
        if self.is_jq:
            return target(text, self.declared)
        steps = path_of(text, self.declared)
        reason = refused(steps)
        if reason is not None:
            raise BadExpression(reason, 0)
        return lambda _data, _variables: list(steps)

    def _field(self, text: str, within: tuple[str, ...]) -> Compiled:
        stripped = text.strip()
        if stripped.startswith(_FUNCTION):
            return self._source(text, within)
        if _is_old_form(stripped):
            inner, offset = _unwrapped(text)
            return _moved(lambda: self._source(inner, within), offset)
        if stripped.startswith("${"):
            return self._text(text, within)
        try:
            return self._source(text)
        except BadExpression:
            # A bare expression may contain the two characters in a string; otherwise they begin an expression.
            if "${" in text:
                return self._text(text, within)
            raise

    def _text(self, text: str, within: tuple[str, ...]) -> Compiled:
        return template.compiled_text(text, lambda source: self._source(source, within))

    def _source(self, text: str, within: tuple[str, ...] = ()) -> Compiled:
        """Compile the text between braces, *within* the expression functions named."""
        stripped = text.strip()
        if stripped.startswith(_FUNCTION):
            offset = text.index(_FUNCTION)
            return _moved(lambda: self._function(stripped[len(_FUNCTION) :].strip(), within), offset)
        if not self.is_jq:
            return JsonPathProgram(text, self.declared, filters_objects=self._filters_objects)
        try:
            return self._sources.get(text) or paths.compiled(text, self.declared) or self._by_jq(text)
        except RecursionError:
            raise BadExpression("the expression is nested too deeply") from None

    def _by_jq(self, text: str) -> Compiled:
        if self._texts is not None:
            texts, self._texts = self._texts, None
            self._compile_ahead(texts())
        return self._sources.get(text) or JqProgram(text, self.declared)

    def _compile_ahead(self, texts: Iterable[str]) -> None:
        """Compile all expressions in *texts* that compile together; the others are compiled when they are asked for."""
        by_jq = []
        for text in texts:
            with suppress(BadExpression, RecursionError):
                for piece in template.split(text):
                    if isinstance(piece, str) or piece.text.lstrip().startswith(_FUNCTION):
                        continue
                    simple = paths.compiled(piece.text, self.declared)
                    if simple is None:
                        by_jq.append(piece.text)
                    else:
                        self._sources[piece.text] = simple
        self._sources |= JqProgram.together(by_jq, self.declared)

    def _function(self, name: str, within: tuple[str, ...]) -> Compiled:
        if name in within:
            text = f"the expression function '{name}' leads back to itself: its operation must be an expression"
            raise BadExpression(text)
        if name not in self._functions:
            raise BadExpression(f"there is no expression function '{name}'", 0)
        try:
            return self._field(self._functions[name], (*within, name))
        except BadExpression as error:
            # Its offset is one in the function's text, which is elsewhere.
            raise BadExpression(f"in the expression function '{name}': {error.message}", 0) from None


def _is_old_form(stripped: str) -> bool:
    return stripped.startswith("{{") and stripped.endswith("}}")


def _unwrapped(text: str) -> tuple[str, int]:
    """Return an expression without its braces, and its offset in the text."""
    stripped = text.strip()
    start = len(text) - len(text.lstrip())
    if _is_old_form(stripped):
        return stripped[2:-2], start + 2
    only = template.sole(template.split(text))
    return (text, 0) if only is None else only


def _moved(compile_it: Callable[[], _T], offset: int) -> _T:
    try:
        return compile_it()
    except BadExpression as error:
        raise error.moved(offset) from None
