"""The facts about requests that their spans have, and what they have not."""

from contextlib import AbstractContextManager, nullcontext

import pytest

from swf_temporal.functions.calling import Functions
from swf_temporal.functions.http import tracing
from swf_temporal.functions.http.tracing import SentRequest, TracedRequest
from swf_temporal.functions.log_scrubbing import scrubbed, scrubbing
from tests.functions.conftest import Service, http_call


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[SentRequest]:
    found: list[SentRequest] = []

    def trace(request: SentRequest) -> AbstractContextManager[TracedRequest]:
        found.append(request)
        return nullcontext(TracedRequest({}, lambda _: None))

    monkeypatch.setattr(tracing, "_traces", trace)
    return found


@pytest.mark.parametrize(("url", "shown"), [
    ("http://shop:8080/a/b?key=4711&b=2#there", "http://shop:8080/a/b?REDACTED"),
    ("https://user:4711@shop/a", "https://REDACTED:REDACTED@shop/a"),
    ("https://4711@[::1]:9/a", "https://REDACTED:REDACTED@[::1]:9/a"),
    ("https://shop", "https://shop"),
    ("https://[4711", ""),
])  # fmt: skip
def test_a_url_is_shown_without_what_may_be_secret(url: str, shown: str) -> None:
    assert SentRequest("GET", url, "shop", 80, 0).shown_url == shown


def test_a_secret_in_a_path_is_not_shown() -> None:
    url = SentRequest("GET", "https://shop/bot/to%2Fken/send", "shop", 443, 0).shown_url
    with scrubbing(lambda: {"BOT": "to/ken"}):
        assert "ken" not in scrubbed(url)
    assert scrubbed(url) == url


async def test_requests_that_are_made_again_are_numbered(
    service: Service, functions: Functions, sent: list[SentRequest]
) -> None:
    service.answers_with("GET", "/a", status=307, headers={"Location": "/b"})
    service.answers_with("GET", "/b", {})
    await functions.call(http_call("GET", "/a"))
    assert [(one.method, one.resent, one.shown_url) for one in sent] == [
        ("GET", 0, f"{service.url}/a"), ("GET", 1, f"{service.url}/b"),
    ]  # fmt: skip
