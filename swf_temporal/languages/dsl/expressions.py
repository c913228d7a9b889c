"""The runtime expressions of a definition, in jq or JavaScript, in strict or loose mode."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import ExpressionFailed
from swf_temporal.expressions.compiled import BadExpression, Compiled, Constant, EvaluationOutcome, Variables
from swf_temporal.expressions.evaluation import Expressions
from swf_temporal.expressions.js import JsExpression

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


class _Perhaps:
    """A text in loose mode: its value if it can be evaluated, or else the text itself."""

    __slots__ = ("_compiled", "_text", "mentions")

    constant = False

    def __init__(self, text: str, compiled: Compiled) -> None:
        self._text = text
        self._compiled = compiled
        self.mentions = compiled.mentions

    @property
    def kinds(self) -> frozenset[str]:
        return self._compiled.kinds | {"string"}

    def __call__(self, data: JSON, variables: Variables) -> EvaluationOutcome:
        """Return the value of the text as an expression, or the text."""
        try:
            return self._compiled(data, variables)
        except ExpressionFailed:
            return self._text


_WITHOUT_BRACES: Final = frozenset({
    ("", "if"), ("", "when"), ("", "exceptWhen"), ("", "while"), ("for", "in"), ("input", "from"), ("output", "as"),
    ("export", "as"),
})  # fmt: skip
"""The keys whose texts are expressions also without braces: each with the key of its object, if that matters."""


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
