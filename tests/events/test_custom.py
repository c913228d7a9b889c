"""Sources and sinks of events, and secret providers, that installed packages offer."""

import asyncio
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from swf_temporal import CallFailed, CloudEvent, UsageError
from swf_temporal.base.installed import SECRET_PROVIDERS, offered
from swf_temporal.events.consumers.consumer import Consumer, source_of
from swf_temporal.events.sinks import Sinks
from swf_temporal.settings.calls import Settings
from swf_temporal.settings.events import ConsumerSettings, EventSettings, SinkSettings

CODE = """
import swf_temporal

log = []

class Outbox:
    async def events(self):
        for number in ("1", "2"):
            yield {"specversion": "1.0", "id": number, "source": "shop", "type": "order"}
            log.append(f"{number} is taken")
        log.append("all")

class Broken:
    async def events(self):
        yield {"id": "no event"}
        log.append("after what is no event")
        yield swf_temporal.CloudEvent(id="3", source="shop", type="order")

class Audit:
    async def send(self, event):
        if event.id == "late":
            raise ConnectionError("away")
        if event.id == "bad":
            raise swf_temporal.CallFailed("never", retryable=False)
        log.append(event.id)

    async def aclose(self):
        log.append("closed")

class Unfit:
    pass
"""
POINTS = """
[swf_temporal.event_sources]
outbox = own_events:Outbox
broken = own_events:Broken
[swf_temporal.event_sinks]
audit = own_events:Audit
unfit = own_events:Unfit
missing = own_events:Missing
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], list[str]]]:
    """What the classes of the package, which is installed, have noted."""
    (tmp_path / "own_events.py").write_text(CODE, encoding="utf-8")
    facts = tmp_path / "own_events-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: own_events\nVersion: 1.0\n", encoding="utf-8")
    (facts / "entry_points.txt").write_text(POINTS, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield lambda: sys.modules["own_events"].log
    sys.modules.pop("own_events", None)


def _consumer(name: str, take: Callable[[CloudEvent], object]) -> Consumer:
    async def taken(event: CloudEvent) -> int:
        take(event)
        return 1

    settings = ConsumerSettings.model_validate({"name": name, "from": f"custom:{name}"})
    return Consumer(settings, source_of(settings, Settings()), taken, Settings())


@pytest.mark.parametrize(
    ("source", "events", "notes"),
    [("outbox", ["1", "2"], ["1 is taken", "2 is taken", "all"]), ("broken", ["3"], ["after what is no event"])],
)
async def test_a_source_has_its_events_taken(
    log: Callable[[], list[str]], source: str, events: list[str], notes: list[str]
) -> None:
    """One after the other, in their order; what is no event is passed over; and it is asked again at its end."""
    found: list[str] = []
    again = asyncio.Event()

    def take(event: CloudEvent) -> None:
        found.append(event.id)
        if len(found) > len(events):
            again.set()

    running = asyncio.create_task(_consumer(source, take).run())
    await asyncio.wait_for(again.wait(), 60)
    running.cancel()
    await asyncio.wait([running])
    assert found[: len(events)] == events
    assert log()[: len(notes)] == notes


async def test_a_sink_gets_events(log: Callable[[], list[str]]) -> None:
    """An error is one that is retried, unless it says that it is not; and the sink is closed with the worker."""
    sinks = Sinks([SinkSettings.model_validate({"name": "audit", "to": "custom:audit"})])
    assert await sinks.publish(CloudEvent(id="1", source="shop", type="order")) == ["audit"]
    with pytest.raises(CallFailed, match="the sink 'audit' failed: ConnectionError: away") as failed:
        await sinks.publish(CloudEvent(id="late", source="shop", type="order"))
    assert failed.value.retryable
    with pytest.raises(CallFailed, match="never") as refused:
        await sinks.publish(CloudEvent(id="bad", source="shop", type="order"))
    assert not refused.value.retryable
    await sinks.aclose()
    assert log() == ["1", "closed"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nothing", "no installed package offers the sink of events 'nothing'"),
        ("unfit", "has no method 'send'"),
        ("missing", "cannot be loaded: AttributeError"),
    ],
)
@pytest.mark.usefixtures("log")
def test_what_is_not_offered_is_refused(name: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        Sinks([SinkSettings.model_validate({"name": "audit", "to": f"custom:{name}"})])


def test_settings_without_a_name_or_with_dead_letters_are_refused() -> None:
    for settings in (
        {"sinks": [{"name": "audit", "to": "custom:"}]},
        {"consumers": [{"name": "orders", "from": "custom:outbox", "deadLetter": "dead"}]},
        {"consumers": [{"name": "orders", "from": "custom:outbox", "topic": "orders"}]},
    ):
        with pytest.raises(ValueError, match=r"custom|dead letters"):
            EventSettings.model_validate(settings)


def test_a_provider_that_no_package_offers() -> None:
    with pytest.raises(UsageError, match="no installed package offers the secret provider 'vault'"):
        offered(SECRET_PROVIDERS, "vault", "secret")
