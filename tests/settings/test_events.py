"""What the configuration says of events, and what is wrong with it."""

from datetime import timedelta
from pathlib import Path

import pytest

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.errors import UsageError
from swf_temporal.settings.events import ROUTER, ConsumerSettings, EventSettings, SinkSettings


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "swf.yaml"
    path.write_text(text)
    return path


def test_without_a_file_there_is_nothing() -> None:
    settings = EventSettings.read({})
    assert (settings.consumers, settings.sinks, settings.lifecycle) == ((), (), frozenset())


def test_consumers_and_sinks_are_read(tmp_path: Path) -> None:
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
    settings = EventSettings.read({"PASSWORD": "lovelace", "SWF_SINK": "http://other"}, file=path)
    assert settings.consumers == (
        ConsumerSettings(
            name="a", url="amqp://broker", queue="q", prefetch=5, ordered=False, max_bytes=2048, dead_letter="d",
            credentials={"username": "ada", "password": "lovelace"},
        ),
    )  # fmt: skip
    assert settings.sinks == (
        SinkSettings(name="r", url=ROUTER, types=("a.*", "b")),
        SinkSettings(
            name="h", url="https://host/path", headers={"X": "abc"}, mode="binary", timeout=timedelta(seconds=5),
            max_attempts=3,
        ),
        SinkSettings(name="SWF_SINK", url="http://other"),
    )  # fmt: skip
    assert "lovelace" not in repr(settings)
    assert "env:PASSWORD" in EventSettings.read({}, file=path, with_secrets=False).consumers[0].secrets


@pytest.mark.parametrize(("section", "said"), [
    ("consumers: [{name: a, from: 'ftp://x'}]", "it must be a URL with one of the schemes"),
    ("consumers: [{name: a, from: 'amqp://x'}]", "the queue is missing"),
    ("consumers: [{name: a, from: 'amqp://x', topic: t}]", "a › topic: over amqp there is a queue"),
    ("consumers: [{name: a, from: 'kafka://x', topic: t, exchange: e}]", "are options of AMQP only"),
    ("consumers: [{name: a, from: 'https://x'}]", "events come over HTTP to swf gateway"),
    ("consumers: [{name: a, from: 'amqp://x', queue: q, stream: s}]", "only NATS has streams"),
    ("consumers: [{name: a, from: 'ws://x', deadLetter: s}]", "no place for dead letters"),
    ("consumers: [{name: a, from: 'amqp://x', queue: q, credentials: {password: 'env:NONE'}}]",
     "a › credentials › password: the variable NONE is not set"),
    ("consumers: [{name: a, from: 'amqp://x', queue: q, credentials: {password: 'file:none'}}]", "cannot be read"),
    ("consumers: [{name: a, from: 'amqp://x', queue: q}, {name: a, from: 'amqp://x', queue: q}]", "more than once"),
    ("consumers: [{name: a, from: 'mqtt://x', topic: t, ordered: false}]", "in their order"),
    ("sinks: [{name: a, to: 'ws://x', mode: binary}]", "no binary mode"),
    ("sinks: [{name: a, too: 'ws://x'}]", "did you mean 'to'"),
    ("sinks: [{name: a, to: 'https://x', timeout: PT2M}]", "timeout: it must be at most"),
])  # fmt: skip
def test_mistakes_are_told(tmp_path: Path, section: str, said: str) -> None:
    path = written(tmp_path, f"events:\n  {section}\n")
    with pytest.raises(UsageError, match=said):
        EventSettings.read({}, file=path)


def test_a_mistake_in_the_variable_names_it() -> None:
    with pytest.raises(UsageError, match="SWF_SINK is 'ftp://other'\n  it must be a URL with one of the schemes"):
        EventSettings.read({"SWF_SINK": "ftp://other"})


def test_a_sink_takes_events_by_type_and_source() -> None:
    sink = SinkSettings(name="a", url=ROUTER, types=("com.*",), sources=("shop/*", "bank", "https://bank?b=1"))
    takes = [sink.takes(CloudEvent("1", source, type_)) for source, type_ in (
        ("bank", "com.a"), ("shop/x", "com.a"), ("shop", "com.a"), ("bank", "org.a"),
        ("https://bank?b=1", "com.a"), ("https://bank/b=1", "com.a"),
    )]  # fmt: skip
    assert takes == [True, True, False, False, True, False]
