"""What a workflow writes to the log."""

import logging

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.functions.calling import Call, Functions
from tests.failing import fault_of


def _call(operation: str, arguments: JSON, **facts: str) -> Call:
    function = Function(name="tell", type="custom", operation=operation)
    return Call(function, arguments, idempotency_key="order-7/run/Tell#1", secrets=facts)


@pytest.mark.parametrize(("operation", "arguments", "level", "text"), [
    ("sysout", {"message": "hello"}, "INFO", "hello"),
    ("sysout:INFO", {"message": {"a": [1, "ü"]}}, "INFO", '{"a": [1, "ü"]}'),
    ("sysout:error", {"text": "no message"}, "ERROR", '{"text": "no message"}'),
    ("sysout:WARN", "just a text", "WARNING", "just a text"),
    ("sysout:TRACE", None, "DEBUG", "null"),
    ("sysout:DEBUG", {"message": "one\nERROR two"}, "DEBUG", "one\\nERROR two"),
])  # fmt: skip
async def test_a_line_is_logged(
    operation: str, arguments: JSON, level: str, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "swf.function")
    assert await Functions().call(_call(operation, arguments)) is None
    assert caplog.record_tuples == [
        ("swf.function", logging.getLevelNamesMapping()[level], f"tell: {text} [order-7/run/Tell#1]")
    ]


async def test_no_secret_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "swf.function")
    await Functions().call(_call("sysout", {"message": "the key is sesame-7"}, key="sesame-7"))
    assert "the key is ***" in caplog.text
    assert "sesame" not in caplog.text
    await fault_of(Functions().call(_call("sysout:INFOS", {})), "BadOperation", "did you mean 'INFO'", retryable=False)
