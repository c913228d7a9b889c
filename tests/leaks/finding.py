"""Runs the corpus on a real server, and looks for secrets in all that is kept of it and shown."""

import asyncio
import json
import logging
import os
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from google.protobuf.json_format import MessageToDict

from swf_temporal import RunEnded
from swf_temporal.base.errors import CallFailed
from swf_temporal.events.sinks import Sinks
from swf_temporal.functions.calling import Calls
from swf_temporal.functions.secrets import Secrets
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import load
from swf_temporal.temporal import client as swf
from swf_temporal.temporal.connecting import Server
from swf_temporal.temporal.worker import make_worker
from tests.leaks.corpus import BUSINESS, KEY, PASSWORD, PIN, RESEMBLING, SECRETS, Leak

QUERIES: Final = ("status", "data", "trace")
_numbers = count(1)
_library = logging.getLogger("httpcore.http11")


@dataclass(frozen=True, slots=True)
class Found:
    leak: Leak
    leaked: Sequence[str]
    """Where the secret was found."""
    altered: bool
    """Whether business data came back otherwise."""


class Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(logging.Formatter().format(record))


class Service:
    def __init__(self, leak: Leak) -> None:
        self.leak = leak
        self.repeated: list[str] = []

    def __call__(self, given: Any) -> Any:
        repeated = self.leak.repeats(given if isinstance(given, str) else json.dumps(given))
        self.repeated.append(repeated)
        text = self.leak.within.format(repeated)
        match self.leak.way:
            case "error":
                raise CallFailed(text, code="Refused", body={"why": [text], "business": BUSINESS}, cause=text)
            case "key":
                return {"business": BUSINESS, "said": {text: 1}}
            case "exception":
                raise RuntimeError(f"no such entry: {text}") from KeyError(text)
            case "traceback":
                error = RuntimeError(text).with_traceback(None)
                _library.error("it failed with %s", text, exc_info=error)
                return {"business": BUSINESS}
            case "log":
                _library.debug("send_request_headers headers=%r", [("authorization", text)])
                return {"business": BUSINESS}
        is_number = not isinstance(given, str) and text == json.dumps(given)
        return {"business": BUSINESS, "said": given if is_number else text}


@contextmanager
def logged() -> Iterator[list[str]]:
    """Keep all lines of the log for as long as the context lasts."""
    lines, root, level = Lines(), logging.getLogger(), logging.getLogger().level
    root.addHandler(lines)
    root.setLevel(logging.DEBUG)
    try:
        yield lines.lines
    finally:
        root.removeHandler(lines)
        root.setLevel(level)


def places_of(looked_for: Iterable[str], kept: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the places where one of these stands, but for what only resembles a secret."""
    return [
        place
        for place, found in kept.items()
        if any(one in text.replace(RESEMBLING, "") for one in looked_for for text in found)
    ]


async def find(server: Server, leaks: Iterable[Leak]) -> list[Found]:
    return [await _find(server, leak) for leak in leaks]


async def _find(server: Server, leak: Leak) -> Found:
    service = Service(leak)
    calls = Calls({"repeat": service}, secrets=Secrets(SECRETS), env={})
    queue = f"leaks-{os.getpid()}-{next(_numbers)}"
    action = {"functionRef": {"refName": "repeat", "arguments": {"given": leak.argument}}}
    definition = load({
        "id": "leaking", "specVersion": "0.8", "secrets": list(SECRETS),
        "functions": [{"name": "repeat", "type": "custom"}],
        "states": [{"name": "Call", "type": "operation", "actions": [action], "end": True}],
    })  # fmt: skip
    output: Any = None
    error: RunEnded | None = None
    with logged() as lines:
        async with (
            aclosing(calls),
            make_worker(server.client, Catalogue(()), calls, Sinks(), task_queue=queue, debug_mode=True),
        ):
            handle = await swf.start(server.client, [definition], {}, workflow_id=queue, task_queue=queue)
            try:
                output = await asyncio.wait_for(swf.result(handle), 60)
            except RunEnded as ended:
                error = ended
            history = json.loads((await handle.fetch_history()).to_json())
            answers = [await handle.query(name) for name in QUERIES]
            described = (await handle.describe()).raw_description
    if bool(service.repeated) == leak.name.startswith("what an expression"):
        raise AssertionError(f"{leak.name}: the function was to be called, if its argument can be evaluated")
    kept = {
        "history": list(texts(history)), "queries": list(texts(answers)), "log": lines,
        "error": [str(error)], "description": list(texts(MessageToDict(described))),
    }  # fmt: skip
    leaked = places_of({*service.repeated, KEY, PASSWORD, str(PIN), PASSWORD[3:]}, kept)
    return Found(leak, leaked, error is None and output["business"] != BUSINESS)


def texts(value: Any) -> Iterator[str]:
    """Yield all texts in *value*, those too that payloads hold."""
    if isinstance(value, dict):
        if "metadata" in value and isinstance(value.get("data"), str):
            held = b64decode(value["data"]).decode(errors="replace")
            yield held
            try:
                yield from texts(json.loads(held))
            except ValueError:
                return
            return
        for key, item in value.items():
            yield str(key)
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif value is not None:
        yield value if isinstance(value, str) else json.dumps(value)
