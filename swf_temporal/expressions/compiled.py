"""Compiled expressions and their outcomes."""

from collections.abc import Mapping
from enum import Enum
from typing import Final, Literal, Protocol, TypeAlias

from swf_temporal.base.data import JSON, kind_of

ANY: Final = frozenset({"null", "boolean", "number", "string", "array", "object"})
"""The kinds of value that an unknown expression can yield."""


class _Nothing(Enum):
    NOTHING = "nothing"

    def __repr__(self) -> str:
        return "NOTHING"

    def __bool__(self) -> Literal[False]:
        return False


NOTHING: Final = _Nothing.NOTHING
"""The outcome of an expression without output, such as `empty`."""

EvaluationOutcome: TypeAlias = "JSON | _Nothing"
"""The outcome of an evaluation: a value, several of them as an array, or NOTHING."""

Variables: TypeAlias = Mapping[str, JSON]
"""Values by name, without the `$`. `__now` is the workflow's time, in seconds since 1970."""


class BadExpression(ValueError):  # noqa: N818 - named for what it is about
    """An expression does not compile. `offset` counts characters from 0 in the given text."""

    def __init__(self, message: str, offset: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset

    def moved(self, by: int) -> "BadExpression":
        """Return the same error about a longer text, in which the invalid one starts at *by*."""
        return BadExpression(self.message, None if self.offset is None else self.offset + by)


def is_true(outcome: EvaluationOutcome) -> bool:
    """Return whether a condition with this *outcome* holds: any but null, false and nothing."""
    return outcome is not None and outcome is not False and outcome is not NOTHING


def is_narrowly_true(outcome: EvaluationOutcome) -> bool:
    """Return whether *outcome* is true in SonataFlow: true, the text "true", or a number other than 0."""
    if isinstance(outcome, str):
        return outcome.strip() == "true"
    return isinstance(outcome, int | float) and outcome != 0


class Several(list[JSON]):
    """The outputs of an expression that yielded several: an array, if the difference does not matter."""


class Compiled(Protocol):
    """A compiled expression, which yields a value from data and variables."""

    @property
    def constant(self) -> bool:
        """Return whether it yields the same value whatever the data."""

    @property
    def kinds(self) -> frozenset[str]:
        """Return the possible kinds of its value: see `expressions/parsing.py`."""

    @property
    def mentions(self) -> frozenset[str]:
        """Return the declared variables that it reads."""

    def __call__(self, data: JSON, variables: Variables, /) -> EvaluationOutcome:
        """Evaluate.

        Raises ExpressionFailed if that is not possible with the data, and ExpressionLimitExceeded.
        """


class Constant:
    """A value that is the same whatever the data."""

    __slots__ = ("value",)

    constant = True
    mentions: frozenset[str] = frozenset()

    def __init__(self, value: JSON) -> None:
        self.value = value

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset({kind_of(self.value)})

    def __call__(self, _data: JSON, _variables: Variables) -> EvaluationOutcome:
        return self.value
