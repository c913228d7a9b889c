"""The script of a scenario's calls: answers, arguments and jitter, the same in every run and on every host."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, TypeAlias

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.expressions.evaluation import NOTHING, Expressions
from swf_temporal.languages.performing import filled
from swf_temporal.runtime.host import FunctionCall
from swf_temporal.runtime.retrying import JitterSource, jitter_of
from swf_temporal.runtime.variables import NotLocal

if TYPE_CHECKING:  # simulating a definition without a scenario must not import the models of scenarios
    from swf_temporal.simulation.model.part import StubAnswer, StubFailure
    from swf_temporal.simulation.model.scenario import Scenario

Sleep: TypeAlias = Callable[[timedelta], Awaitable[None]]
Scripted: TypeAlias = Callable[[JSON], Awaitable[JSON]]


def scripted(functions: Mapping[str, "Sequence[StubAnswer]"], sleep: Sleep) -> dict[str, Scripted]:
    """Return the *functions* of a scenario as callables of their arguments, fresh for one run.

    Each call gets the next answer of the script, and the last one repeats. A callable raises CallFailed if the script
    says so. *sleep* waits for the time that an answer takes.
    """
    return {name: _Script(name, tuple(answers), sleep) for name, answers in functions.items()}


def arguments_of(call: FunctionCall, secrets: Mapping[str, JSON]) -> JSON:
    """Return the arguments of *call* with *secrets* inserted, as a worker does.

    Raises CallFailed if a declared secret is missing, and ExpressionFailed.
    """
    if call.secret_template is None:
        return call.arguments
    from swf_temporal.functions.secrets import Secrets  # noqa: PLC0415 - heavy, and seldom needed

    try:
        return filled(call, Secrets(secrets).entrusted(call.secrets))
    except CallFailed as fault:
        fault.message = f"{fault.message.partition(': ')[0]}: give it in `secrets`"
        raise


def jitter_in(scenario: "Scenario") -> Callable[[str], JitterSource]:
    """Return a function for the jitter of a call by its key; the same for every call, if *scenario* sets it."""
    given = scenario.chance
    if not given:
        return jitter_of

    def jitter(attempt: int) -> float:
        return given[min(attempt, len(given)) - 1]

    return lambda _key: jitter


class _Script:
    """One function, and the number of answers that it has given."""

    def __init__(self, name: str, answers: "tuple[StubAnswer, ...]", sleep: Sleep) -> None:
        self._name = name
        self._answers = answers
        self._sleep = sleep
        self._given = 0

    async def __call__(self, arguments: JSON) -> JSON:
        answer = self._answers[min(self._given, len(self._answers) - 1)]
        self._given += 1
        if answer.takes:
            try:
                await self._sleep(answer.takes)
            except NotLocal:
                self._given -= 1  # the call will be made again
                raise
        if answer.raises is not None:
            raise self._failure(answer.raises)
        if answer.computes is None:
            returned: JSON = answer.returns
            return returned
        value = Expressions().template(answer.computes)(arguments, {})
        return None if value is NOTHING else value

    def _failure(self, failure: "StubFailure") -> CallFailed:
        return CallFailed(
            f"function {self._name!r} failed" if failure.message is None else failure.message,
            code=failure.status if failure.code is None else failure.code,
            name=failure.name,
            status=failure.status,
            body=failure.body,
            retryable=failure.retryable,
            retry_after=None if failure.retry_after is None else failure.retry_after.total_seconds(),
        )
