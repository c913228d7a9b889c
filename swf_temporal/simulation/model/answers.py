"""The answers of a scenario's functions."""

from datetime import timedelta
from typing import Annotated, Any, Self, TypeAlias

from pydantic import BeforeValidator, Field, StrictBool, StrictInt, model_validator

from swf_temporal.simulation.model.part import Duration, Json, OptionalKey, ScenarioPart
from swf_temporal.text.model_errors import validation_error

_ANSWERS = ("returns", "raises", "computes", "then")


class StubFailure(ScenarioPart):
    """The CallFailed that is raised."""

    code: Json = None
    message: OptionalKey[str] = None
    status: OptionalKey[StrictInt] = None
    name: OptionalKey[str] = None
    body: Json = None
    retryable: StrictBool = True
    retry_after: OptionalKey[Duration] = None
    """The delay that the service asks for."""


class StubAnswer(ScenarioPart):
    """The outcome of one attempt to call a function."""

    returns: Json = None
    computes: OptionalKey[str] = None
    """An expression on the arguments, which yields the result."""
    raises: OptionalKey[StubFailure] = None
    takes: Duration = timedelta()
    """How long the function takes to answer."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        ways = [key for key in _ANSWERS if key in self.model_fields_set]
        if len(ways) > 1:
            raise validation_error(f"an answer is one of returns, raises and computes, not {' and '.join(ways)}")
        return self


def _is_script(value: Any) -> bool:
    """Tell whether *value* says how a function answers, and is not itself the answer."""
    return isinstance(value, dict) and bool(value) and all(key in (*_ANSWERS, "takes") for key in value)


def _in_full(value: Any) -> Any:
    return value if _is_script(value) or isinstance(value, StubAnswer) else {"returns": value}


class AnswerScript(StubAnswer):
    """The answers of a function, attempt by attempt."""

    then: OptionalKey[
        Annotated[
            tuple[Annotated[StubAnswer, BeforeValidator(_in_full, json_schema_input_type=StubAnswer | Any)], ...],
            Field(min_length=1),
        ]
    ] = None
    """The answers, one per attempt; the last repeats."""

    @property
    def answers(self) -> tuple[StubAnswer, ...]:
        """The answers, one per attempt. They take as long as the script says if they do not say it themselves."""
        if self.then is None:
            return (self,)
        return tuple(
            answer if answer.takes else answer.model_copy(update={"takes": self.takes}) for answer in self.then
        )


ScriptedFunction: TypeAlias = Annotated[
    AnswerScript, BeforeValidator(_in_full, json_schema_input_type=AnswerScript | Any)
]
"""A script, or the value that is the answer to every attempt."""
