"""Compiles the fields of definitions in the drafts of 2019 and 2020.

There are no braces: a filter is a path, a text in parameters is or contains paths, and a condition is a comparison,
several of them, or a text in the Spring Expression Language.

Comparisons (`eq` or `==`, `ne`, `lt`, `le`, `gt`, `ge`, `is`, `matches`) of what paths find with literals, joined by
`and`, `or` and `not`, with parentheses. A value is a literal, a JSONPath such as `$.error.name`, the call
`#jsonPath(taskOutputData, '$..title')`, or a name such as `name` or `error.name`, which is looked up in the data. Other
features of the language (methods, types, beans, assignments) would need a JVM, and are refused.

If an operand has several values, as `$..title`, a comparison holds if it does for one of them.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from swf_temporal.base.data import JSON, identity
from swf_temporal.base.errors import ExpressionFailed
from swf_temporal.expressions.comparing import OPERATORS, OPERATORS_OF_2019, Test, matches
from swf_temporal.expressions.compiled import (
    ANY,
    NOTHING,
    BadExpression,
    Compiled,
    Constant,
    EvaluationOutcome,
    Variables,
    is_true,
)
from swf_temporal.expressions.evaluation import Expressions
from swf_temporal.expressions.jsonpath import JsonPathProgram
from swf_temporal.expressions.spel_parsing import (
    Alone,
    Compared,
    Condition,
    Joined,
    Literal,
    Named,
    Negated,
    Operand,
    PathValues,
    parsed,
)
from swf_temporal.expressions.targets import Target, refused
from swf_temporal.expressions.template import Joined as JoinedText

_NAME = r"\w+(?:-+\w+)*"
_STEP: Final = re.compile(rf"""\.({_NAME})|\[\s*'([^'\\]*)'\s*\]|\[\s*"([^"\\]*)"\s*\]|\[\s*(-?\d+)\s*\]""")
_IN_A_TEXT: Final = re.compile(rf"\$(?:\.{_NAME}|{_NAME}\.{_NAME})(?:\.{_NAME}|\[\d+\]|\['[^']*'\])*")
"""A path within a text. Without a dot after the `$` there must be a later one, so that `$5` is not a path."""
_WITHOUT_DOT: Final = re.compile(rf"\$(?={_NAME}(?:\.|\[|$))(?!\d)")
_LONE_PATH: Final = re.compile(r"\[\s*\?\s*\(?\s*(@(?:\.\w+|\['[^']*'\])+)\s*\)?\s*\]")
_DOTTED_NAME: Final = re.compile(rf"(\.\.?)({_NAME})")


class EarlyPath:
    """A JSONPath, and the last key on it."""

    __slots__ = ("_program", "_steps", "_synonyms", "last_key", "text")

    constant = False
    kinds = ANY
    mentions: frozenset[str] = frozenset()

    def __init__(self, text: str, synonyms: Mapping[str, str] | None = None) -> None:
        """Compile *text*. Raises BadExpression if it is not a path.

        *synonyms* map first names to others, which are used if the data does not have the name.
        """
        self.text = text.strip()
        self._synonyms = synonyms or {}
        path = _WITHOUT_DOT.sub("$.", self.text, count=1).rstrip(".")
        if not path.startswith("$"):
            raise BadExpression(f"'{self.text}' is not a JSONPath: one begins with $", 0)
        self._steps = _steps(path[1:])
        self._program: JsonPathProgram | None = None
        if self._steps is None:
            self._program = _program(path, self.text)
        self.last_key: str | None = _last_key(path) if self._steps is None else _last_name(self._steps)
        """The last name on the path, outside of filters."""

    @property
    def is_singular(self) -> bool:
        """True if it names at most one place, whatever the data."""
        return self._program is None or self._program.is_singular

    @property
    def steps(self) -> list[str | int] | None:
        """The keys and indexes of the path; None if it has other steps."""
        return None if self._steps is None else list(self._steps)

    def found(self, data: JSON) -> list[JSON]:
        """Return all values that the path finds in *data*."""
        if self._program is not None:
            return self._program.found(data)
        steps = self._steps or []
        if steps and steps[0] in self._synonyms and isinstance(data, dict) and steps[0] not in data:
            steps = [self._synonyms[str(steps[0])], *steps[1:]]
        for step in steps:
            inner = _inner(data, step)
            if inner is None:
                return []
            data = inner[0]
        return [data]

    def __call__(self, data: JSON, _variables: Variables) -> EvaluationOutcome:
        """Return the value that the path finds, or an array of all if it may find several."""
        found = self.found(data)
        if not self.is_singular:
            return found
        return found[0] if found else NOTHING


def _inner(data: JSON, step: str | int) -> tuple[JSON] | None:
    """Return the value in *data* at a key or an index, in a tuple, or None if there is none."""
    if isinstance(step, str):
        return (data[step],) if isinstance(data, dict) and step in data else None
    return (data[step],) if isinstance(data, list) and -len(data) <= step < len(data) else None


def is_path(text: str) -> bool:
    """Return whether *text* looks like a path, valid or not."""
    stripped = text.strip()
    return stripped.startswith(("$.", "$[")) or stripped == "$" or _WITHOUT_DOT.match(stripped) is not None


class PathInText(str):
    __slots__ = ()


def pieces_of(text: str) -> list[str]:
    """Return *text* alone, as a PathInText if it is one path; or the pieces of a text that contains paths."""
    if "$" not in text:
        return [text]
    stripped = text.strip()
    if is_path(stripped) and (" " not in stripped or _is_whole(stripped)):
        return [PathInText(stripped)]
    pieces: list[str] = []
    at = 0
    for match in _IN_A_TEXT.finditer(text):
        pieces += [text[at : match.start()], PathInText(match[0])]
        at = match.end()
    return [*pieces, text[at:]]


def early_text(text: str, synonyms: Mapping[str, str] | None = None) -> Compiled:
    """Compile a text that is a path or contains paths. Raises BadExpression."""
    pieces = [EarlyPath(piece, synonyms) if isinstance(piece, PathInText) else piece for piece in pieces_of(text)]
    if len(pieces) > 1:
        return JoinedText(pieces)
    return Constant(text) if isinstance(pieces[0], str) else pieces[0]


def _is_whole(text: str) -> bool:
    """Return whether a text with blanks is one path: all of them are within its brackets."""
    depth = 0
    for character in text:
        depth += (character == "[") - (character == "]")
        if character == " " and depth == 0:
            return False
    return True


def _steps(path: str) -> list[str | int] | None:
    steps: list[str | int] = []
    at = 0
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None:
            return None
        name = next((match[group] for group in (1, 2, 3) if match[group] is not None), None)
        steps.append(int(match[4]) if name is None else name)
        at = match.end()
    return steps


def _last_name(steps: list[str | int]) -> str | None:
    return next((step for step in reversed(steps) if isinstance(step, str)), None)


def _program(path: str, written: str) -> JsonPathProgram:
    try:
        return JsonPathProgram("".join(_standard(piece) for piece in _pieces(path)), ())
    except BadExpression as error:
        # The library's error is reported with the text as it was written.
        reason = error.message.partition("is not a JSONPath: ")[2] or error.message
        raise BadExpression(f"'{written}' is not a JSONPath: {reason}", 0) from None


def _last_key(path: str) -> str | None:
    names = [name for piece in _pieces(path) if not piece.startswith("[") for _, name in _DOTTED_NAME.findall(piece)]
    return names[-1] if names else None


def _pieces(path: str) -> list[str]:
    """Return the parts of *path* within and between brackets, in order."""
    pieces, depth, quote = [""], 0, ""
    for character in path:
        if quote:
            quote = "" if character == quote else quote
        elif depth and character in "'\"":
            quote = character
        elif character == "[":
            pieces += [""] if depth == 0 else []
            depth += 1
        pieces[-1] += character
        if character == "]" and not quote:
            depth -= 1
            pieces += [""] if depth == 0 else []
    return [piece for piece in pieces if piece]


def _standard(piece: str) -> str:
    if piece.startswith("["):
        return _LONE_PATH.sub(r"[?\1 && \1 != false]", piece)
    if piece.endswith(".") and not piece.endswith(".."):
        piece = piece[:-1]
    return _DOTTED_NAME.sub(_quoted, piece)


def _quoted(match: re.Match[str]) -> str:
    dots, name = match[1], match[2]
    if "-" not in name and not name[0].isdigit():
        return match[0]
    return f"..['{name}']" if dots == ".." else f"['{name}']"


def place_of(path: EarlyPath) -> Target:
    """Return *path* as the place that it names. Raises BadExpression if it may name several, or none."""
    steps = path.steps
    if steps is None:
        raise BadExpression(f"'{path.text}' does not name a single place in the data, as '$.result' would", 0)
    reason = refused(steps)
    if reason is not None:
        raise BadExpression(reason, 0)
    return lambda _data, _variables: list(steps)


LANGUAGE: Final = "spel"

_Truth: TypeAlias = Callable[[JSON], bool]

_ORDERS: Final = {"<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1)}


class SpelCondition:
    """A compiled condition on an object."""

    __slots__ = ("_holds", "text")

    constant = False
    kinds = frozenset({"boolean"})
    mentions: frozenset[str] = frozenset()

    def __init__(self, text: str) -> None:
        """Compile *text*. Raises BadExpression, which names what is not supported."""
        self.text = text
        self._holds = _truth(parsed(text))

    def __call__(self, data: JSON, _variables: Variables) -> EvaluationOutcome:
        """Return whether the condition holds for *data*. Raises ExpressionFailed if values have no order."""
        try:
            return self._holds(data)
        except ExpressionFailed as failed:
            raise ExpressionFailed(f"'{self.text}' fails on the data: {failed.message}") from None


def _values(operand: Operand, data: JSON) -> Sequence[JSON]:
    """Return the values of *operand*, which may be none or several."""
    match operand:
        case Literal(value):
            return (value,)
        case PathValues(path, of):
            return path.found(data) if of is None else [one for whole in _values(of, data) for one in path.found(whole)]
        case Named(first, path, whole):
            return path.found(data) if isinstance(data, dict) and first in data else whole.found(data)


def _truth(condition: Condition) -> _Truth:
    match condition:
        case Compared(operator, left, right):
            return _compared(operator, left, right)
        case Alone(operand):
            return lambda data: any(is_true(one) for one in _values(operand, data))
        case Negated(inner):
            holds = _truth(inner)
            return lambda data: not holds(data)
        case Joined(word, parts):
            truths = [_truth(part) for part in parts]
            quantifier = all if word == "and" else any
            return lambda data: quantifier(one(data) for one in truths)


def _compared(operator: str, left: Operand, right: Operand) -> _Truth:
    """Return a function that compares two operands; one without a value is null."""

    def holds(data: JSON) -> bool:
        pairs = [(one, other) for one in _values(left, data) or (None,) for other in _values(right, data) or (None,)]
        if operator == "!=":
            return not any(identity(one) == identity(other) for one, other in pairs)
        return any(_fits(operator, one, other) for one, other in pairs)

    return holds


def _fits(operator: str, left: JSON, right: JSON) -> bool:
    if operator == "==":
        return identity(left) == identity(right)
    if operator == "matches":
        return matches(left, right)
    if left is None or right is None:
        return False
    for kind in (str, int | float):
        if isinstance(left, kind) and isinstance(right, kind) and not {type(left), type(right)} & {bool}:
            return ((left > right) - (left < right)) in _ORDERS[operator]  # type: ignore[operator] # both are of one kind
    raise ExpressionFailed(f"{identity(left)} and {identity(right)} have no order")


JOINS: Final[Mapping[str, Callable[[Sequence[bool]], bool]]] = {
    "all": all,
    "any": any,
    "none": lambda truths: not any(truths),
}
"""The operators that combine comparisons into one condition, by their key."""


class EarlyExpressions(Expressions):
    """Compiles the expressions of one definition, each text once."""

    def __init__(self, synonyms: Mapping[str, str] | None = None) -> None:
        """Compile paths with *synonyms* of names: see `EarlyPath`."""
        super().__init__(language="jsonpath")
        self._synonyms = synonyms or {}
        self._paths: dict[str, EarlyPath] = {}
        # By identity, each with its value: an id is valid only as long as its object lives.
        self._conditions: dict[int, tuple[JSON, Compiled]] = {}

    def path(self, text: str) -> EarlyPath:
        """Compile a path. Raises BadExpression."""
        found = self._paths.get(text)
        if found is None:
            found = self._paths[text] = EarlyPath(text, self._synonyms)
        return found

    def expression(self, value: JSON) -> Compiled:
        """Compile a field that is a path. Raises BadExpression."""
        return self.path(value) if isinstance(value, str) else self.template(value)

    def condition(self, value: JSON) -> Compiled:
        """Compile a condition: a comparison, `{path, operator, value}`; several under a key of JOINS; or a text."""
        known = self._conditions.get(id(value))
        if known is None:
            known = self._conditions[id(value)] = (value, self._condition(value))
        return known[1]

    def _condition(self, value: JSON) -> Compiled:
        if isinstance(value, str):
            return SpelCondition(value)
        if isinstance(value, dict):
            for key, join in JOINS.items():
                several = value.get(key)
                if isinstance(several, list):
                    return ComparedCondition([self._comparison(one) for one in several], join)
            return ComparedCondition([self._comparison(value)], all)
        return Constant(value)

    def _comparison(self, value: Any) -> "_Comparison":
        operator = value["operator"]
        test = OPERATORS_OF_2019.get(operator) or OPERATORS.get(str(operator).lower())
        if test is None:
            raise BadExpression(f"'{operator}' is not an operator", 0)
        return _Comparison(self.path(value["path"]), test, value.get("value"))

    def _template_text(self, text: str) -> Compiled:
        return early_text(text, self._synonyms)

    def target(self, text: JSON) -> Target:
        """Compile a path that names one place in the data. Raises BadExpression if it may name several, or none."""
        if not isinstance(text, str):
            raise BadExpression("a place in the data is named by a path such as '$.result'")
        return place_of(self.path(text))


class _Comparison:
    __slots__ = ("_path", "_test", "_value")

    def __init__(self, path: EarlyPath, test: Test, value: JSON) -> None:
        self._path = path
        self._test = test
        self._value = value

    def holds(self, data: JSON) -> bool:
        return self._test(self._path.found(data), self._value)


class ComparedCondition:
    __slots__ = ("_comparisons", "_join")

    constant = False
    kinds = frozenset({"boolean"})
    mentions: frozenset[str] = frozenset()

    def __init__(self, comparisons: Sequence[_Comparison], join: Callable[[Sequence[bool]], bool]) -> None:
        self._comparisons = comparisons
        self._join = join

    def __call__(self, data: JSON, _variables: Variables) -> EvaluationOutcome:
        """Return whether the joined comparisons hold."""
        return self._join([comparison.holds(data) for comparison in self._comparisons])
