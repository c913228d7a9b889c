"""Reads what the services of a scenario are expected to be asked."""

import re
from collections.abc import Collection
from typing import Any, Final

from swf_temporal.errors import Position
from swf_temporal.simulation.description import ExpectedRequests
from swf_temporal.simulation.reading.strict import Strict
from swf_temporal.text.located import Array, Object, plain

_ASKED = re.compile(r"[A-Z]+ /\S*|\w+/\w+|(SEND|RECEIVE) .*\S.*")
"""A request of HTTP, a method of gRPC, a message."""


class Requests(Strict):
    """Reads what services are expected to be asked."""

    FIELDS: Final[Collection[str]] = ("service", "request", "query", "headers", "body")

    def read(self, expect: Object) -> ExpectedRequests:
        """Return all requests in order, or what is said for each of some."""
        requests = expect["requests"]
        if not isinstance(requests, Object):
            return tuple(self._request(*one) for one in self.items(expect, "requests"))
        for asked in requests:
            self._check(asked, requests.where.key(asked))
        return {asked: self._of_a_kind(*one) for asked, one in self.entries(expect, "requests")}

    def _of_a_kind(self, value: Any, position: Position) -> int | tuple[dict[str, Any], ...]:
        if isinstance(value, Array):
            return tuple(self._request(*one) for one in zip(value, value.positions, strict=True))
        if not isinstance(value, int) or isinstance(value, bool):
            self.fail("of a request is said how often it was made, or in a list what it brought", position)
        return value

    def _request(self, value: Any, position: Position) -> dict[str, Any]:
        if isinstance(value, str):
            self._check(value, position)
            return {"request": value}
        if not isinstance(value, Object):
            self.fail("a request is a text such as GET /orders/7, or an object with what to compare", position)
        self.known(value, self.FIELDS, "a request")
        for key in ("service", "request"):
            self.typed(value, key, str, "a text", None)
        if "request" in value:
            self._check(value["request"], value.where.value("request"))
        self.typed(value, "query", Object, "an object", None)
        for name, (text, place) in self.entries(value, "headers"):
            if not isinstance(text, str | None):
                self.fail(f"the header {name!r} is a text, or null where there is none", place)
        asked: dict[str, Any] = plain(value)
        return asked

    def _check(self, asked: str, position: Position) -> None:
        """Refuse what no service is ever asked: that it was not asked so would always be true."""
        if not _ASKED.fullmatch(asked):
            hint = "such as GET /orders/7, Orders/Get or SEND lights/1/measured"
            self.fail(f"{asked!r} is not a request", position, hint)
