"""What the configuration says of events, and what is wrong with it."""

from datetime import timedelta
from pathlib import Path

import pytest

from swf_temporal.app.event_settings import read_event_settings
from swf_temporal.cloud_event import CloudEvent
from swf_temporal.errors import UsageError
from swf_temporal.events.settings import ROUTER, BrokerAddress, ConsumerSettings, SinkSettings


def written(tmp_path: Path, text: str) -> Path:
    """Return a configuration file."""
    path = tmp_path / "swf.yaml"
    path.write_text(text)
    return path


def test_without_a_file_there_is_nothing() -> None:
    """Neither consumers nor sinks."""
    settings = read_event_settings({})
    assert (settings.consumers, settings.sinks, settings.lifecycle) == ((), (), frozenset())


def test_consumers_and_sinks_are_read(tmp_path: Path) -> None:
    """With what variables and files hold."""
    (tmp_path / "token").write_text("abc\n")
    path = written(
        tmp_path,
        """
        events:
          consumers:
          - {name: a, from: 'amqp://broker', queue: q, prefetch: 5, ordered: false, maxBytes: 2KiB, deadLetter: d,
             credentials: {username: ada, password: 'env:PASSWORD'}}
          sinks:
          - {name: r, to: router, types: [a.*, b]}
          - {name: h, to: 'https://host/path', mode: binary, timeout: PT5S, maxAttempts: 3, headers: {X: 'file:token'}}
        """,
    )
    settings = read_event_settings({"PASSWORD": "lovelace", "SWF_SINK": "http://other"}, file=path)
    broker = BrokerAddress("amqp://broker", "q", username="ada", password="lovelace")  # noqa: S106 - of the test
    assert settings.consumers == (
        ConsumerSettings("a", broker, prefetch=5, ordered=False, max_bytes=2048, dead_letter="d"),
    )
    http = BrokerAddress("https://host/path", headers={"X": "abc"})
    assert settings.sinks == (
        SinkSettings("r", BrokerAddress(ROUTER), types=("a.*", "b")),
        SinkSettings("h", http, mode="binary", timeout=timedelta(seconds=5), max_attempts=3),
        SinkSettings("SWF_SINK", BrokerAddress("http://other")),
    )


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ("consumers: [{name: a, from: 'ftp://x'}]", "it must be a URL with one of the schemes"),
        ("consumers: [{name: a, from: 'amqp://x'}]", "the queue is missing"),
        ("consumers: [{name: a, from: 'amqp://x', topic: t}]", "a › topic: over amqp there is a queue"),
        ("consumers: [{name: a, from: 'kafka://x', topic: t, exchange: e}]", "are options of AMQP only"),
        ("consumers: [{name: a, from: 'https://x'}]", "events come over HTTP to swf gateway"),
        ("consumers: [{name: a, from: 'amqp://x', queue: q, stream: s}]", "only NATS has streams"),
        ("consumers: [{name: a, from: 'ws://x', deadLetter: s}]", "no place for dead letters"),
        ("consumers: [{name: a, from: 'amqp://x', queue: q, credentials: {password: 'env:NONE'}}]", "NONE is not set"),
        ("consumers: [{name: a, from: 'amqp://x', queue: q, credentials: {password: 'file:none'}}]", "cannot be read"),
        ("consumers: [{name: a, from: 'amqp://x', queue: q}, {name: a, from: 'amqp://x', queue: q}]", "more than once"),
        ("consumers: [{name: a, from: 'mqtt://x', topic: t, ordered: false}]", "in their order"),
        ("sinks: [{name: a, to: 'ws://x', mode: binary}]", "no binary mode"),
        ("sinks: [{name: a, too: 'ws://x'}]", "did you mean 'to'"),
    ],
)
def test_mistakes_are_told(tmp_path: Path, section: str, said: str) -> None:
    """With their place."""
    path = written(tmp_path, f"events:\n  {section}\n")
    with pytest.raises(UsageError, match=said):
        read_event_settings({}, file=path)


def test_a_sink_takes_events_by_type_and_source() -> None:
    """Both have to match."""
    sink = SinkSettings("a", BrokerAddress(ROUTER), types=("com.*",), sources=("shop/*", "bank"))
    takes = [sink.takes(CloudEvent("1", source, type_)) for source, type_ in (
        ("bank", "com.a"), ("shop/x", "com.a"), ("shop", "com.a"), ("bank", "org.a"),
    )]  # fmt: skip
    assert takes == [True, True, False, False]
