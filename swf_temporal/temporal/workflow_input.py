"""The input of a workflow: the data of the run, and its pin.

It may be anything, since any caller that may start a workflow writes it. Errors in it are returned: raised here, they
would fail the workflow task again and again.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from temporalio import workflow
from temporalio.common import RawValue

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import NewerRecord, PayloadUnavailable
from swf_temporal.base.strict_json import read_json, read_written
from swf_temporal.temporal.records import Pin

UNREADABLE = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RuntimeError)
"""Errors that are raised if a payload is not JSON, is nested too deeply, or has another form."""

_JSON = b"json/plain"


NOT_A_RECORD: Final = "what follows the input of a workflow is a record that its client makes"
"""The beginning of the message about a record that cannot be read."""


def read_input(
    args: Sequence[RawValue], *, is_child: bool
) -> tuple[JSON, Pin, str | NewerRecord | PayloadUnavailable | None]:
    """Return a workflow's data and pin, or what is wrong with them."""
    try:
        data = value_of(args[0], read_written if is_child else read_json) if args else {}
    except UNREADABLE as error:
        return {}, Pin(), f"the input of a workflow is one JSON value: {error}"
    except PayloadUnavailable as error:
        return {}, Pin(), error
    try:
        pin = Pin.from_json(value_of(args[1], read_written)) if len(args) > 1 else Pin()
    except UNREADABLE as error:
        return {}, Pin(), f"{NOT_A_RECORD}: {error}"
    except (NewerRecord, PayloadUnavailable) as error:
        return {}, Pin(), error
    return {} if data is None else data, pin, None


def value_of(raw: RawValue, read: Callable[[bytes], Any] = read_json) -> Any:
    """Return the JSON in *raw*, which anyone may have written. Raises one of `UNREADABLE`."""
    if raw.payload.metadata.get("encoding") == _JSON:
        return read(raw.payload.data)
    value: JSON | bytes = workflow.payload_converter().from_payload(raw.payload)
    if isinstance(value, bytes):
        raise ValueError("these are bytes")  # noqa: TRY004 - data, not code
    return value
