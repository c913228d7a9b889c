"""What libraries log in an outage, and what of that is written."""

import logging

from swf_temporal.sdk.logs import HeldDown


def test_what_a_library_repeats_is_written_once_a_minute() -> None:
    now, written = [0.0], list[str]()
    held = HeldDown(lambda: now[0])

    def say(name: str, text: str, *args: object) -> None:
        record = logging.LogRecord(name, logging.WARNING, "file.py", 7, text, args, None)
        if held.filter(record):
            written.append(record.getMessage())

    for number in range(2000):
        say("aiokafka.client", "Unable to request metadata from node with id %s", number)
        say("asyncio", "socket.accept() out of system resource")
    say("aiokafka.client", "Topic %s is not available", "orders")
    for _ in range(2):
        say("swf.events", "reconnecting")
    now[0] = 60.0
    say("aiokafka.client", "Unable to request metadata from node with id %s", 5)
    assert written == [
        "Unable to request metadata from node with id 0",
        "no connection can be accepted for now; the limit of open files, `ulimit -n`, may be too low",
        "Topic orders is not available", "reconnecting", "reconnecting",
        "Unable to request metadata from node with id 5 (1999 more like this were left out)",
    ]  # fmt: skip
