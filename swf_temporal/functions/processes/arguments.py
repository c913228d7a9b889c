"""The arguments of functions that start processes, checked."""

from collections.abc import Iterable, Mapping
from typing import Final

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.grammar import listed
from swf_temporal.base.strict_json import write_json
from swf_temporal.functions.call import Call
from swf_temporal.functions.processes.running import checked_environment
from swf_temporal.text.suggestions import suggestion

RETURNS: Final = ("stdout", "stderr", "code", "all", "none")


class ProcessArguments:
    """The arguments of a call, by name."""

    def __init__(self, call: Call, known: Iterable[str], within: str | None = None) -> None:
        """Take the arguments of *call*, or the object *within* one. Raises CallFailed for those that are not *known*."""
        self._name, known = call.function.name, tuple(known)
        given = call.arguments
        if within is not None and isinstance(given, dict):
            given = given.get(within) or {}
        if not isinstance(given, dict):
            raise self.wrong(f"{'the arguments' if within is None else repr(within)} must be an object")
        self._given = {name: value for name, value in given.items() if value is not None}
        for name in self._given:
            if name not in known:
                raise self.wrong(f"there is no argument {name!r}{suggestion(name, known)}")

    def wrong(self, what: str) -> CallFailed:
        return permanent_failure("BadArguments", f"function '{self._name}': {what}")

    def text(self, name: str) -> str:
        """Return a text that is required."""
        value = self._given.get(name)
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(f"{name!r} {'is missing' if value is None else 'must be a text that is not empty'}")
        return value

    def optional_text(self, name: str) -> str | None:
        return self.text(name) if name in self._given else None

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """Return one of *choices*, by default the first."""
        value = self._given.get(name, choices[0])
        if value not in choices:
            raise self.wrong(f"{name!r} is {value!r}; it must be {listed(choices)}".replace(" and ", " or "))
        return str(value)

    def stdin(self) -> str:
        """Return the standard input: a text as it is, anything else as JSON."""
        value = self._given.get("stdin", "")
        return value if isinstance(value, str) else write_json(value, ensure_ascii=False)

    def words(self, name: str) -> list[str]:
        """Return a list of texts; other members are written as JSON."""
        value = self._given.get(name, [])
        if not isinstance(value, list):
            raise self.wrong(f"{name!r} must be an array")
        return [_word(one) for one in value]

    def pairs(self, name: str) -> dict[str, str]:
        """Return texts by name; other values are written as JSON."""
        return {key: _word(value) for key, value in self.object(name).items()}

    def number(self, name: str) -> float:
        """Return a number that is required, and not negative."""
        value = self._given.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            raise self.wrong(f"{name!r} {'is missing' if value is None else 'must be a number of seconds'}")
        return float(value)

    def environment(self) -> Mapping[str, str]:
        return checked_environment(self.pairs("environment"))

    def object(self, name: str) -> dict[str, JSON]:
        value = self._given.get(name, {})
        if not isinstance(value, dict):
            raise self.wrong(f"{name!r} must be an object")
        return value


def _word(value: JSON) -> str:
    return value if isinstance(value, str) else write_json(value, ensure_ascii=False)
