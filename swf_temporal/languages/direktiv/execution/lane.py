"""The lane of a state: its data, the run, and the evaluation of its fields."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from swf_temporal.base.data import JSON, json_or_base64
from swf_temporal.base.errors import ExpressionFailed
from swf_temporal.expressions.structured import NOT_OBJECT, jq_fault
from swf_temporal.languages.direktiv import codes
from swf_temporal.runtime.lanes import LaneBase

if TYPE_CHECKING:
    from swf_temporal.languages.direktiv.execution.execution import DirektivExecution


T = TypeVar("T")


class Lane(LaneBase):
    """A path of execution in one state: the state itself, or one of its parallel actions."""

    __slots__ = ("data", "execution")

    def __init__(self, execution: "DirektivExecution", state: str, data: JSON, path: str = "") -> None:
        super().__init__(execution.run, state, path or state)
        self.execution = execution
        self.data = data

    def child(self, key: str) -> "Lane":
        """Return the lane of the parallel action *key*."""
        return Lane(self.execution, self.state_path, self.data, f"{self.path}/{key}")

    def iteration(self, index: int, data: JSON) -> "Lane":
        """Return the lane of one of many similar calls, whose ids the state counts."""
        return Lane(self.execution, self.state_path, data, f"{self.path}[{index}]")

    async def evaluate(self, value: JSON, data: JSON, at: float | None = None) -> JSON:
        """Return *value* with the results of its queries on *data*; null is the data itself.

        *at* is the time for an evaluation that must yield the same in a later execution; the default is now.
        """
        self.run.pacing.charge()
        jq, now = self.execution.program.jq, self.run.time() if at is None else at
        return await self._coded(lambda: jq.evaluate(value, data, now))

    async def results(self, value: JSON, data: JSON, at: float) -> list[JSON]:
        """Return all results of *value*, a query that may have several; *at* is as for `evaluate`."""
        self.run.pacing.charge()
        jq = self.execution.program.jq
        return await self._coded(lambda: jq.results(value, data, at))

    async def _coded(self, work: Callable[[], T]) -> T:
        try:
            return await self.run.evaluated(work)
        except ExpressionFailed as error:
            raise codes.coded(error) from None

    async def object_of(self, value: JSON, data: JSON, what: str) -> dict[str, JSON]:
        result = await self.evaluate(value, data)
        if not isinstance(result, dict):
            raise not_object(f"{what} must be an object")
        return result


def not_object(message: str) -> ExpressionFailed:
    """Return the error of a query whose result is not an object where one is needed."""
    return codes.coded(jq_fault(message, NOT_OBJECT))


_UNCHANGED = ("", ".")
"""Transforms that change nothing."""


def instance_data(given: JSON | bytes) -> dict[str, JSON]:
    """Return the data of an instance that is started with *given*: an object as it is, anything else under `input`."""
    if isinstance(given, bytes):
        given = json_or_base64(given)
    return given if isinstance(given, dict) else {"input": given}


async def transformed(transform: JSON, data: JSON, lane: Lane) -> JSON:
    if transform is None or transform in _UNCHANGED:
        return data
    try:
        return await lane.object_of(transform, data, "its result")
    except ExpressionFailed as fault:
        fault.message = f"unable to apply transform: {fault.message}"
        raise


def with_result(data: JSON, key: str, value: JSON) -> dict[str, JSON]:
    """Return *data* with the value of *key* replaced by *value*."""
    return {**(data if isinstance(data, dict) else {}), key: value}


@dataclass(frozen=True, slots=True)
class StateExit:
    """The exit of a state: its data, the transform of it, and the next state."""

    data: JSON
    transform: Any = None
    transition: str | None = None
