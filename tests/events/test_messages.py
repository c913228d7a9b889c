"""What the data of an event are in a message of a broker."""

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.events.brokers.port import Message
from swf_temporal.events.messages import event_in, message_of

HEADERS = {"ce_specversion": "1.0", "ce_id": "1", "ce_type": "t", "ce_source": "s"}


@pytest.mark.parametrize(("payload", "content_type", "expected"), [
    (b"\xef\xbb\xbfhello", "text/plain", "hello"),
    (b"gr\xfc", "text/plain; charset=ISO-8859-1", "gr\u00fc"),
    (b'{"a": "gr\xfc"}', "application/json; charset=ISO-8859-1", {"a": "gr\u00fc"}),
])  # fmt: skip
def test_the_charset_of_a_message_is_that_of_its_data(payload: bytes, content_type: str, expected: JSON) -> None:
    event = event_in(Message(payload, content_type, HEADERS), "kafka")
    assert event.data == expected
    if isinstance(expected, str):
        again = message_of(event, "kafka", "binary")
        assert event_in(again, "kafka").data == expected
        assert again.payload == payload.removeprefix(b"\xef\xbb\xbf")
