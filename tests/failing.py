"""How do tests expect a call to fail? With a code, and a message that says what they name."""

import re
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from swf_temporal.base.errors import CallFailed


async def fault_of(
    doing: Awaitable[Any], code: str | None = None, told: str = "", *, retryable: bool | None = None
) -> CallFailed:
    """Return the fault that *doing* ends with: one of this code, whose message has the text *told*."""
    with pytest.raises(CallFailed) as caught:
        await doing
    fault = caught.value
    assert told in fault.message
    _check(fault, code, retryable=retryable)
    return fault


@contextmanager
def failing(code: str, match: str = "", *, retryable: bool | None = None) -> Iterator[pytest.ExceptionInfo[CallFailed]]:
    """Expect a fault of this code, whose message matches a pattern."""
    with pytest.raises(CallFailed) as caught:
        yield caught
    assert re.search(match, caught.value.message), caught.value.message
    _check(caught.value, code, retryable=retryable)


def _check(fault: CallFailed, code: str | None, *, retryable: bool | None) -> None:
    assert code in {None, fault.code}, f"{fault.code}: {fault.message}"
    assert retryable in {None, fault.retryable}
