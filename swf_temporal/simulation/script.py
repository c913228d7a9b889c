"""Functions that answer as a scenario's script says: the same in every run, on every host."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import TypeAlias

from swf_temporal.data import JSON
from swf_temporal.errors import CallFailed
from swf_temporal.expressions.evaluation import NOTHING, Expressions
from swf_temporal.simulation.description import Answer

Sleep: TypeAlias = Callable[[timedelta], Awaitable[None]]
Scripted: TypeAlias = Callable[[JSON], Awaitable[JSON]]


def scripted(functions: Mapping[str, Sequence[Answer]], sleep: Sleep) -> dict[str, Scripted]:
    """Return the *functions* of a scenario as callables of their arguments, fresh for one run.

    Every call is answered by the next answer of the script, and the last one repeats. A callable raises CallFailed
    where the script says so. *sleep* lets the time pass that an answer takes.
    """
    return {name: _Script(name, tuple(answers), sleep) for name, answers in functions.items()}


class _Script:
    """One function, and how many of its answers it has given."""

    def __init__(self, name: str, answers: tuple[Answer, ...], sleep: Sleep) -> None:
        self._name = name
        self._answers = answers
        self._sleep = sleep
        self._given = 0

    async def __call__(self, arguments: JSON) -> JSON:
        answer = self._answers[min(self._given, len(self._answers) - 1)]
        self._given += 1
        if answer.takes:
            await self._sleep(answer.takes)
        if answer.raises is not None:
            raise self._failure(answer.raises)
        if answer.computes is None:
            return answer.returns
        value = Expressions().template(answer.computes)(arguments, {})
        return None if value is NOTHING else value

    def _failure(self, facts: Mapping[str, JSON]) -> CallFailed:
        known = dict(facts)
        message = str(known.pop("message", f"function {self._name!r} failed"))
        if "status" in known:
            known.setdefault("code", known["status"])
        return CallFailed(message, **known)  # type: ignore[arg-type]  # the reader checked their types
