"""The runtime expressions of a definition, in jq or JavaScript, in strict or loose mode."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import ExpressionFailed
from swf_temporal.expressions.compiled import (
    NOTHING,
    BadExpression,
    Compiled,
    Constant,
    EvaluationOutcome,
    Several,
    Variables,
)
from swf_temporal.expressions.evaluation import Expressions
from swf_temporal.expressions.js import JsExpression
from swf_temporal.expressions.lexing import tokens

ARGUMENTS: Final = frozenset({"context", "input", "output", "secrets", "authorization", "task", "workflow", "runtime"})
"""The arguments that the text defines, without the `$`."""
LANGUAGES: Final = ("jq", "js", "javascript")
"""The languages of expressions, as `evaluate.language` names them."""


class RuntimeExpressions(Expressions):
    """Compiles the expressions of one definition."""

    def __init__(
        self,
        variables: Collection[str],
        language: str = "jq",
        *,
        is_loose: bool = False,
        texts: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        """Compile expressions that may name *variables*. Raises BadExpression for an unsupported language."""
        if language not in LANGUAGES:
            raise BadExpression(f"expressions are written in jq or JavaScript here, not in {language!r}")
        super().__init__(variables=ARGUMENTS.union(variables), texts=texts)
        self.is_jq = language == "jq"
        self._is_loose = is_loose
        self.dialect = f"{'loose ' if is_loose else ''}{'jq' if self.is_jq else 'js'}"
        """The name of language and mode in records."""

    @classmethod
    def named(cls, dialect: str, variables: Collection[str]) -> "RuntimeExpressions":
        """Return a compiler for the *dialect* of a record."""
        mode, _, language = dialect.rpartition(" ")
        return cls(variables, language, is_loose=bool(mode))

    def _template_text(self, text: str) -> Compiled:
        if not self._is_loose or self.opening in text:
            return super()._template_text(text)
        try:
            return _Perhaps(text, self._source(text))
        except BadExpression:
            return Constant(text)

    def _source(self, text: str, within: tuple[str, ...] = ()) -> Compiled:
        return super()._source(text, within) if self.is_jq else JsExpression(text, self.declared)


class _Modified:
    """A compiled expression whose outcome is modified."""

    __slots__ = ("_compiled", "_text", "mentions")

    constant = False

    def __init__(self, text: str, compiled: Compiled) -> None:
        self._text = text
        self._compiled = compiled
        self.mentions = compiled.mentions

    @property
    def kinds(self) -> frozenset[str]:
        return self._compiled.kinds


class _Perhaps(_Modified):
    """A text in loose mode: its value if it can be evaluated, or else the text itself."""

    __slots__ = ()

    @property
    def kinds(self) -> frozenset[str]:
        return super().kinds | {"string"}

    def __call__(self, data: JSON, variables: Variables) -> EvaluationOutcome:
        """Return the value of the text as an expression, or the text."""
        try:
            return self._compiled(data, variables)
        except ExpressionFailed:
            return self._text


_WITHOUT_BRACES: Final = frozenset({
    ("", "if"), ("", "when"), ("", "exceptWhen"), ("", "while"), ("for", "in"), ("input", "from"), ("output", "as"),
    ("export", "as"), ("to", "until"),
})  # fmt: skip
"""The keys whose texts are expressions also without braces: each with the key of its object, if that matters."""
BARE: Final = re.compile(
    rf"""^[\s-]*(?:{"|".join(sorted({key for _, key in _WITHOUT_BRACES}))})\s*:\s*"""
    r"""(["']?)(?P<whole>(?!\$\{)(?P<jq>.+?))\1\s*$"""
)
"""A line with one of these keys, and an expression without braces as its value."""


def texts_in(value: Any, within: str = "") -> Iterator[str]:
    """Yield the texts with expressions in *value*, JSON that is under the key *within*."""
    if isinstance(value, str):
        if Expressions.opening in value:
            yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            bare = not {("", key), (within, key)}.isdisjoint(_WITHOUT_BRACES)
            if bare and isinstance(item, str) and Expressions.opening not in item:
                yield f"${{{item}}}"
            else:
                yield from texts_in(item, key)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_in(item, within)


# The expressions of zigflow documents

STATE: Final = frozenset({"context", "data", "env", "input", "output"})
"""The variables of a zigflow document, without the `$`."""
UUID: Final = "__uuid"
"""The variable that has another id each time it is looked up."""
_FUNCTIONS: Final = {
    "uuid": f"${UUID}",
    "timestamp": "(now | floor)",
    "timestamp_iso8601": "(now | floor | todate)",
}
"""The jq of zigflow's own functions, which take their time from the workflow."""


def is_whole_expression(text: str) -> bool:
    """Return whether *text* is one runtime expression in its marks, and nothing else."""
    text = text.strip()
    return text.startswith("${") and text.endswith("}")


class StrictExpressions(RuntimeExpressions):
    """Compiles the expressions of a zigflow document: the texts that begin with `${` and end with `}`, as a whole."""

    def __init__(self, texts: Callable[[], Iterable[str]] = tuple) -> None:
        super().__init__((), texts=lambda: (f"${{{_in_jq(inner)}}}" for inner in map(_inner, texts()) if inner))
        self.declared = STATE | {UUID}

    def expression(self, value: JSON) -> Compiled:
        """Compile a field that holds an expression by definition: without the marks it is a text like any other."""
        return self.template(value)

    def _template_text(self, text: str) -> Compiled:
        inner = _inner(text)
        if inner is None:
            return Constant(text)
        try:
            return _First(text, self._source(_in_jq(inner)))
        except BadExpression as error:
            raise error.moved(len(self.opening)) from None


def _inner(text: str) -> str | None:
    return text[2:-1] if text.startswith("${") and text.endswith("}") else None


def _in_jq(text: str) -> str:
    """Return an expression with zigflow's own functions replaced; `'` is another `"` there."""
    text = text.replace("'", '"')
    if not any(name in text for name in _FUNCTIONS):
        return text
    try:
        words = list(tokens(text))
    except BadExpression:
        return text  # it is reported when it is compiled
    opened, before, found = [""], "", []
    for word, following in zip(words, [*words[1:], None], strict=True):
        after = "" if following is None else following.text
        is_key = opened[-1] == "{" and before in ("{", ",") and after in (":", "}", ",")
        if word.kind == "name" and word.text in _FUNCTIONS and not is_key:
            found.append(word)
        if word.kind == "open":
            opened.append(word.text)
        elif word.kind == "close":
            opened.pop()
        before = word.text
    for word in reversed(found):
        text = f"{text[: word.offset]}{_FUNCTIONS[word.text]}{text[word.offset + len(word.text) :]}"
    return text


class _First(_Modified):
    """The first output of an expression, which has to have one."""

    __slots__ = ()

    def __call__(self, data: JSON, variables: Variables) -> EvaluationOutcome:
        """Return the first output. Raises ExpressionFailed if there is none."""
        outcome = self._compiled(data, variables)
        if outcome is NOTHING:
            raise ExpressionFailed(f"{self._text!r} yields nothing")
        return outcome[0] if isinstance(outcome, Several) else outcome
