"""The start records of workflows other than instances: anyone may have written them."""

from typing import Any, Final, Generic, TypeVar

from temporalio.exceptions import ApplicationError

from swf_temporal.base.errors import NewerRecord
from swf_temporal.base.records import MalformedRecord, Record

WRONG_INPUT: Final = "WrongInput"
"""The error type of a workflow whose input is wrong."""

R = TypeVar("R", bound=Record)


class RecordInput(Generic[R]):
    """The start record of a workflow, or what is wrong with it, since `__init__` must not fail."""

    def __init__(self, written: Any, kind: type[R]) -> None:
        """Read *written* as a record of a class whose fields all have defaults."""
        self.record = kind()
        self._wrong: MalformedRecord | NewerRecord | None = None
        try:
            self.record = kind.from_json(written)
        except (MalformedRecord, NewerRecord) as error:
            self._wrong = error

    def check(self) -> None:
        """Raise NewerRecord, or the error with which the workflow fails, if the record was wrong."""
        if isinstance(self._wrong, NewerRecord):
            raise self._wrong
        if self._wrong is not None:
            raise wrong_input(str(self._wrong))


def wrong_input(reason: str) -> ApplicationError:
    """Return the error with which a workflow fails whose input is wrong."""
    return ApplicationError(f"the input of the workflow is wrong: {reason}", type=WRONG_INPUT, non_retryable=True)
