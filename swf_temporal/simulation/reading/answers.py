"""Reads what the functions of a scenario answer."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from swf_temporal.errors import Position
from swf_temporal.simulation.description import Answer
from swf_temporal.simulation.reading.strict import Strict
from swf_temporal.text.located import Object, plain

_ANSWERS = ("returns", "raises", "computes", "then")
_FAILURE = ("code", "message", "status", "name", "body", "retryable", "retryAfter")


class Answers(Strict):
    """Reads what functions answer."""

    def read(self, value: Any, position: Position) -> tuple[Answer, ...]:
        """Return the answers of a function, one per attempt."""
        if not _is_script(value):
            return (Answer(returns=plain(value)),)
        if "then" not in value:
            return (self._answer(value, position),)
        then = self.items(value, "then")
        if not then:
            self.fail("`then` lists at least one answer", value.where.value("then"))
        answers = tuple(self._answer(*one) if _is_script(one[0]) else Answer(plain(one[0])) for one in then)
        takes = self.length(value, "takes")
        return answers if takes is None else tuple(replace(answer, takes=answer.takes or takes) for answer in answers)

    def _answer(self, value: Object, position: Position) -> Answer:
        ways = [key for key in _ANSWERS if key in value]
        if len(ways) > 1 or "then" in ways:
            self.fail(f"an answer is one of returns, raises and computes, not {' and '.join(ways)}", position)
        takes = self.length(value, "takes") or timedelta()
        if "raises" in value:
            return Answer(raises=self._failure(value), takes=takes)
        computes = self.typed(value, "computes", str, "an expression", None)
        return Answer(plain(value.get("returns")), computes, takes=takes)

    def _failure(self, value: Object) -> dict[str, Any]:
        facts: Object = self.typed(value, "raises", Object, "an object such as {code: 404}")
        self.known(facts, _FAILURE, "an error")
        self.typed(facts, "status", int, "an HTTP status", None)
        for key in ("message", "name"):
            self.typed(facts, key, str, "a text", None)
        self.typed(facts, "retryable", bool, "true or false", None)
        failure: dict[str, Any] = plain(facts)
        if (wait := self.length(facts, "retryAfter")) is not None:
            failure["retry_after"] = wait.total_seconds()
            del failure["retryAfter"]
        return failure


def _is_script(value: Any) -> bool:
    """Tell whether *value* says how a function answers, and is not itself the answer."""
    return isinstance(value, Object) and bool(value) and all(key in (*_ANSWERS, "takes") for key in value)
