"""Arguments by their names, checked one by one."""

from collections.abc import Iterable
from typing import Self

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.strict_json import write_json
from swf_temporal.functions.call import Call
from swf_temporal.text.suggestions import suggestion


class NamedArguments:
    """The arguments of a call, or an object among them. Each method raises CallFailed for an invalid argument."""

    def __init__(self, function: str, given: JSON, known: Iterable[str], place: str = "") -> None:
        """Raise CallFailed if there are arguments that are not *known*. *place* leads to the object *given*."""
        self._function, self._place, known = function, place, tuple(known)
        if not isinstance(given, dict):
            raise self.wrong(f"{repr(place[:-1]) if place else 'the arguments'} must be an object")
        self._given = {name: value for name, value in given.items() if value is not None}
        for name in self._given:
            if name not in known:
                raise self.wrong(f"there is no argument {f'{place}{name}'!r}{suggestion(name, known)}")

    @classmethod
    def of(cls, call: Call, known: Iterable[str]) -> Self:
        """Return the arguments of *call*."""
        return cls(call.function.name, call.arguments, known)

    def inner(self, name: str, known: Iterable[str]) -> Self:
        """Return the arguments in the object *name*, which is empty by default."""
        return type(self)(self._function, self._given.get(name, {}), known, f"{self._place}{name}.")

    def wrong(self, what: str) -> CallFailed:
        """Return the fault of a call with an invalid argument."""
        return permanent_failure("BadArguments", f"function '{self._function}': {what}")

    def has(self, name: str) -> bool:
        return name in self._given

    def value(self, name: str) -> JSON:
        return self._given.get(name)

    def text(self, name: str) -> str:
        """Return a text that is required."""
        value = self._given.get(name)
        if not isinstance(value, str) or not value.strip():
            raise self._bad(name, "must be a text that is not empty")
        return value

    def optional_text(self, name: str) -> str | None:
        """Return a text, or None without one."""
        return self.text(name) if name in self._given else None

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """Return one of *choices*, by default the first."""
        value = self._given.get(name, choices[0])
        if value not in choices:
            raise self._bad(name, f"is {value!r}; it must be one of {', '.join(choices)}")
        return str(value)

    def number(self, name: str) -> float:
        """Return a number of seconds that is required."""
        value = self._given.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            raise self._bad(name, "must be a number of seconds")
        return float(value)

    def words(self, name: str) -> list[str]:
        """Return a list of texts; members that are not texts are written as JSON."""
        value = self._given.get(name, [])
        if not isinstance(value, list):
            raise self._bad(name, "must be an array")
        return [word_of(one) for one in value]

    def pairs(self, name: str) -> dict[str, str]:
        """Return texts by name; values that are not texts are written as JSON."""
        return {key: word_of(value) for key, value in self.object(name).items()}

    def object(self, name: str) -> dict[str, JSON]:
        """Return an object, which is empty by default."""
        value = self._given.get(name, {})
        if not isinstance(value, dict):
            raise self._bad(name, "must be an object")
        return value

    def _bad(self, name: str, what: str) -> CallFailed:
        return self.wrong(f"{f'{self._place}{name}'!r} {what if name in self._given else 'is missing'}")


def word_of(value: JSON) -> str:
    """Return a text as it is, and any other value as JSON."""
    return value if isinstance(value, str) else write_json(value, ensure_ascii=False)
