"""What stands in a history of data and failures."""

import pytest
from temporalio.api.failure.v1 import Failure

from swf_temporal.errors import CallFailed
from swf_temporal.temporal.converter import CONVERTER
from swf_temporal.temporal.failures import application_error


async def written(error: BaseException) -> Failure:
    """Return the failure that stands in the history for *error*, once it was raised."""
    with pytest.raises(type(error)) as raised:
        raise error
    failure = Failure()
    await CONVERTER.encode_failure(raised.value, failure)
    return failure


async def test_a_fault_is_told_without_the_stack_of_the_interpreter() -> None:
    """What stands in the history is the fault with its facts, and no line of ours."""
    failure = await written(application_error(CallFailed("no", code="NoServer")))
    assert (failure.message, failure.application_failure_info.type) == ("no", "CallFailed")
    assert failure.application_failure_info.HasField("details")
    assert failure.stack_trace == ""


async def test_any_other_error_keeps_its_stack() -> None:
    """Of a mistake that nobody foresaw the history tells where it was made."""
    assert "test_converter.py" in (await written(ValueError("no"))).stack_trace
