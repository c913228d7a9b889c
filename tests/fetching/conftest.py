"""Real HTTP servers on free ports of this machine, which give out documents as a test tells them to."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.server import ThreadingHTTPServer

import pytest

from tests.functions.conftest import Answer, Received, Service, serving

_HOSTS: set[str] = set()


def workflow_with(functions: str) -> str:
    """Return the text of a definition whose functions are in the document at this URI."""
    return f"""id: a
specVersion: "0.8"
functions: {functions}
states: [{{name: A, type: operation, actions: [{{functionRef: f}}], end: true}}]
"""


class Site(Service):
    """A server, what stands on it, and who asked for it."""

    def __init__(self, server: ThreadingHTTPServer) -> None:
        super().__init__(server)
        self.host = self.url.removeprefix("http://")
        self.variable = f"127_0_0_1_{server.server_port}"

    def has(self, path: str, content: bytes = b"", status: int = 200, kind: str = "", **headers: str) -> None:
        self.answers_with("GET", path, content, status=status, content_type=kind, headers=headers)

    def answer_to(self, request: Received) -> Answer:
        answer = super().answer_to(request)
        etag = answer.headers.get("ETag")
        is_known = etag is not None and request.headers.get("if-none-match") == etag
        return Answer(status=304, headers=answer.headers) if is_known else answer

    def authorizations(self) -> list[str | None]:
        return [request.headers.get("authorization") for request in self.requests]


@pytest.fixture
def new_site() -> Iterator[Callable[[], Site]]:
    """A maker of servers on ports that no test had before: documents are kept by their URL for all of the process."""
    with ExitStack() as stack:

        def make() -> Site:
            while True:
                site = stack.enter_context(serving(Site))
                if site.host not in _HOSTS:
                    _HOSTS.add(site.host)
                    return site

        yield make


@pytest.fixture
def site(new_site: Callable[[], Site]) -> Site:
    return new_site()
