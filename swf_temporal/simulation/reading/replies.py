"""Reads what the services of a scenario answer."""

import re
from pathlib import Path
from typing import Any, Final

from swf_temporal.errors import Position
from swf_temporal.runtime.error_matching import GRPC_STATUSES
from swf_temporal.simulation.description import Kind, Reply
from swf_temporal.simulation.reading.strict import Strict
from swf_temporal.text.located import Object, plain
from swf_temporal.text.origin import Source

_REPLY = ("status", "headers", "body", "file")
_STATUSES: Final = range(200, 600)
_WITHOUT_BODY = (204, 304)
_FAILURES = tuple(status for status in GRPC_STATUSES if status != "OK")
"""How a call of gRPC can fail."""
_HEADER_NAME = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\xa0-\xff]*")
_FRAMING = ("content-length", "transfer-encoding")
_AS_VALUE = "an answer that itself has the key `status` is written {body: {status: …}}"


class Replies(Strict):
    """Reads what services of one kind answer."""

    def __init__(self, source: Source, folder: Path, kind: Kind) -> None:
        super().__init__(source)
        self._folder = folder
        self._kind = kind

    def read(self, value: Any, position: Position) -> tuple[Reply, ...]:
        """Return the answers to one request, one each time."""
        if not (isinstance(value, Object) and "then" in value and _says_more(value)):
            return (self._reply(value, position),)
        for key in value:
            if key != "then":
                message = f"`then` lists answers that are whole: {key!r} is a matter of each of them"
                self.fail(message, value.where.key(key))
        then = self.items(value, "then")
        if not then:
            self.fail("`then` lists at least one answer", value.where.value("then"))
        return tuple(self._reply(*one) for one in then)

    def file(self, name: str, position: Position) -> Path:
        """Return the file of that name beside the scenario's."""
        if not (self._folder / name).is_file():
            self.fail(f"there is no file {name!r} beside this one", position)
        return self._folder / name

    def _reply(self, value: Any, position: Position) -> Reply:
        if not _says_more(value) or "then" in value:
            return Reply(body=plain(value))
        if "body" in value and "file" in value:
            self.fail("an answer has a body or a file, not both", position)
        if self._kind is Kind.GRPC:
            for key in ("headers", "file"):
                if key in value:
                    self.fail("an answer of gRPC has a body, or a status", value.where.key(key))
        status = self._status(value)
        if status in _WITHOUT_BODY and value.get("body", value.get("file")) is not None:
            self.fail(f"an answer with the status {status} has no body", position)
        file = self.typed(value, "file", str, "the path of a file", None)
        return Reply(
            status=status,
            headers=self._headers(value),
            body=plain(value.get("body")),
            file=None if file is None else self.file(file, value.where.value("file")),
        )

    def _status(self, value: Object) -> int | str:
        if "status" not in value:
            return 200
        status, position = value["status"], value.where.value("status")
        if self._kind is Kind.BROKER:
            self.fail("a message has no status", position, _AS_VALUE)
        if self._kind is Kind.GRPC:
            if status not in _FAILURES:
                self.fail(f"{status!r} is none of {', '.join(_FAILURES)}", position, _AS_VALUE)
            return str(status)
        if not isinstance(status, int) or isinstance(status, bool):
            self.fail("'status' is a status of HTTP", position, _AS_VALUE)
        if status not in _STATUSES:
            self.fail(f"{status} is not an HTTP status that ends a request", position)
        return status

    def _headers(self, value: Object) -> dict[str, str]:
        found = {}
        for name, (text, place) in self.entries(value, "headers"):
            if not isinstance(text, str):
                self.fail(f"the header {name!r} is a text", place)
            if self._kind is not Kind.BROKER:
                self._check_header(name, text, place)
            found[name] = text
        return found

    def _check_header(self, name: str, text: str, place: Position) -> None:
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(text):
            self.fail(f"the header {name!r} has letters that HTTP does not know there", place)
        if name.lower() in _FRAMING:
            self.fail(f"the header {name!r} is left out: the server says itself how long an answer is", place)


def _says_more(value: Any) -> bool:
    """Tell whether *value* says how it is answered, and is not itself the answer."""
    return isinstance(value, Object) and bool(value) and all(key in (*_REPLY, "then") for key in value)
