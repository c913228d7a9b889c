"""Reads what a scenario claims to come of it."""

import re
from datetime import timedelta
from typing import Any

from swf_temporal.errors import Position, Severity
from swf_temporal.simulation.description import Expected, ExpectedProblem, ExpectedStarts
from swf_temporal.simulation.reading.requests import Requests
from swf_temporal.simulation.reading.strict import Strict
from swf_temporal.text.located import Array, Object, plain

_STATUSES = ("completed", "failed", "waiting", "cancelled")
_EXPECTATIONS = (
    "status", "output", "error", "produced", "calls", "requests", "states", "delays", "elapsed", "starts", "problems",
)  # fmt: skip
_STARTS = ("after", "before", "at")
_PROBLEM = ("code", "severity", "at", "message", "hint", "file")
_AT = re.compile(r"[1-9][0-9]*:[1-9][0-9]*")


class Expectations(Strict):
    """Reads what is expected."""

    def read(self, data: Object) -> Expected:
        """Return what the scenario *data* expects."""
        given: Object = self.typed(data, "expect", Object, "an object", Object(data.where.position))
        self.known(given, _EXPECTATIONS, "`expect`")
        error: Object = self.typed(given, "error", Object, "an object", Object(Position()))
        self.known(error, ("name", "code", "state", "action", "message"), "an error")
        said: dict[str, Any] = {"status": "failed" if error else "completed", "error": plain(error)}
        if "status" in given:
            said["status"] = self.choice(given["status"], given.where.value("status"), _STATUSES)
        if "output" in given:
            said["output"] = plain(given["output"])
        if "produced" in given:
            said["produced"] = tuple(self._event_like(*one) for one in self.items(given, "produced"))
        if "requests" in given:
            said["requests"] = Requests(self.source).read(given)
        if "states" in given:
            said["states"] = self.texts(given, "states")
        if "starts" in given:
            said["starts"] = self._starts(self.typed(given, "starts", Object, "an object with `after` and `at`"))
        if "problems" in given:
            said["problems"] = tuple(self._problem(*one) for one in self.items(given, "problems"))
        calls = {name: self._calls(*one) for name, one in self.entries(given, "calls")}
        delays = {name: self._delays(*one) for name, one in self.entries(given, "delays")}
        return Expected(**said, calls=calls, delays=delays, elapsed=self.length(given, "elapsed"))

    def _problem(self, value: Any, position: Position) -> ExpectedProblem:
        if not isinstance(value, Object):
            self.fail("a problem is an object with its code, and where and what it is", position)
        self.known(value, _PROBLEM, "a problem")
        code = self.typed(value, "code", str, "the code of a problem")
        severity = Severity.ERROR
        if "severity" in value:
            words = [str(one) for one in Severity]
            severity = Severity(self.choice(value["severity"], value.where.value("severity"), words))
        for key in ("at", "message", "file"):
            self.typed(value, key, str, "a text", None)
        if not isinstance(value.get("hint", ""), str | None):
            self.fail("'hint' is a text, or null where there is none", value.where.value("hint"))
        if "at" in value and not _AT.fullmatch(value["at"]):
            self.fail("'at' is a line and a column, such as 14:17", value.where.value("at"))
        facts = {key: value[key] for key in ("at", "message", "hint", "file") if key in value}
        return ExpectedProblem(code, severity, facts)

    def _event_like(self, value: Any, position: Position) -> dict[str, Any]:
        if not isinstance(value, Object):
            self.fail("a produced event is an object with the fields to compare", position)
        fields: dict[str, Any] = plain(value)
        return fields

    def _calls(self, value: Any, position: Position) -> int | tuple[Any, ...]:
        if isinstance(value, Array):
            return tuple(plain(value))
        if not isinstance(value, int) or isinstance(value, bool):
            self.fail("the calls of a function are their number, or a list of their arguments", position)
        return value

    def _delays(self, value: Any, position: Position) -> tuple[timedelta, ...]:
        if not isinstance(value, Array) or not all(isinstance(one, str) for one in value):
            hint = "such as [PT10S, PT20S]"
            self.fail("the delays of a function are a list of durations, one for each further attempt", position, hint)
        return tuple(self.parsed_length(*one) for one in zip(value, value.positions, strict=True))

    def _starts(self, given: Object) -> ExpectedStarts:
        self.known(given, _STARTS, "`starts`")
        for key in ("after", "at"):
            if key not in given:
                self.fail(f"`starts` needs {key!r}", given.where.position)
        after = self.moment(given["after"], given.where.value("after"))
        at = tuple(self.moment(*one) for one in self.items(given, "at"))
        if "before" not in given:
            if not at:
                hint = "with `before`, an empty list claims that nothing is started until then"
                self.fail("'at' lists at least one time", given.where.value("at"), hint)
            return ExpectedStarts(at, after)
        before = self.moment(given["before"], given.where.value("before"))
        if before <= after:
            self.fail("'before' is later than 'after'", given.where.value("before"))
        return ExpectedStarts(at, after, before)
