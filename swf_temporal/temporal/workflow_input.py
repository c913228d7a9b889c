"""The input of a workflow: the data of the run, and the pin that it brings along.

It may be anything, since any caller that may start a workflow writes it. What is wrong with it is returned: raised
where it is read, it would fail the workflow task again and again.
"""

import json
from collections.abc import Sequence

from temporalio import workflow
from temporalio.common import RawValue

from swf_temporal.data import JSON, NotJSON, json_of
from swf_temporal.errors import NewerRecord, PayloadUnavailable
from swf_temporal.temporal.records import Pin

UNREADABLE = (ValueError, TypeError, AttributeError, RuntimeError)
"""Errors that the converter raises on a payload that is not JSON, or is nested too deeply."""

_DECODER = json.JSONDecoder()
_JSON = b"json/plain"
_NO_NUMBERS = (b"NaN", b"Infinity")


def read_input(args: Sequence[RawValue]) -> tuple[JSON, Pin, str | NewerRecord | PayloadUnavailable | None]:
    """Return a workflow's data and pin, or what is wrong with them."""
    try:
        data = value_of(args[0]) if args else {}
        pin = Pin.from_json(value_of(args[1])) if len(args) > 1 else Pin()  # type: ignore[arg-type]  # checked below
    except UNREADABLE as error:
        return {}, Pin(), f"the input of a workflow is one JSON value: {error}"
    except (NewerRecord, PayloadUnavailable) as error:
        return {}, Pin(), error
    return {} if data is None else data, pin, _wrong_numbers(args, data)


def value_of(raw: RawValue) -> JSON:
    """Return the JSON that *raw* holds. Raises one of `UNREADABLE`."""
    if raw.payload.metadata.get("encoding") == _JSON:  # nearly always: of an instance that gets many events, most work
        try:
            text = raw.payload.data.decode()
            plain, end = _DECODER.raw_decode(text)
        except (ValueError, RecursionError):
            pass  # the converter says what is wrong with it
        else:
            if end == len(text):  # otherwise there are spaces around it, or more than JSON
                return plain  # type: ignore[no-any-return]  # JSON, as it was decoded
    value: JSON | bytes = workflow.payload_converter().from_payload(raw.payload)
    if isinstance(value, bytes):
        raise ValueError("these are bytes")  # noqa: TRY004 - data, not code
    return value


def _wrong_numbers(args: Sequence[RawValue], data: JSON) -> str | None:
    """Return what is wrong with an input that has NaN or an infinity, which Python reads and JSON does not have."""
    if not args or not any(word in args[0].payload.data for word in _NO_NUMBERS):
        return None
    try:
        json_of(data)
    except NotJSON as error:
        return f"the input of a workflow is one JSON value: {error}"
    return None
