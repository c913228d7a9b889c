"""The pages of the console: templates, their filters, and security headers."""

import asyncio
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from importlib.resources import files
from typing import Any, Final
from urllib.parse import quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse, Response
from starlette.types import Receive, Scope, Send
from temporalio.api.common.v1 import Payload
from temporalio.converter import DataConverter

from swf_temporal.base.durations import format_duration
from swf_temporal.base.strict_json import NotJSON, read_written, show_beginning, show_json
from swf_temporal.drawing.course import lasted
from swf_temporal.drawing.svg import STYLE
from swf_temporal.http.gateway.instances import PLAIN_JSON
from swf_temporal.http.gateway.refusals import Refused

HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""The headers of every page with content of definitions or instances: it cannot run, even if it were HTML."""
MAX_SHOWN: Final = 20_000
"""The number of characters of a value that are shown."""
_LATER: Final = 503
_OF_PROGRAMS: Final = (404, 429)
"""The statuses whose hints are meant for programs."""
_SCRIPT: Final = "text/javascript"
_STATIC: Final = {
    "console.css": "text/css",
    "watching.js": _SCRIPT,
    "console.js": _SCRIPT,
    "times.js": _SCRIPT,
    "list.js": _SCRIPT,
    "icon.svg": "image/svg+xml",
}


def segment(text: object) -> str:
    """Return *text* as a segment of a path."""
    return quote(str(text), safe="")


def address(path: str, **query: object) -> str:
    """Return *path* with the parameters that are not empty."""
    given = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(given)}" if given else path


def shown_json(value: Any, most: int = MAX_SHOWN) -> str:
    """Return *value* as indented JSON, truncated if it is long."""
    return cut(*show_beginning(value, most))


def cut(text: str, is_cut: bool) -> str:  # noqa: FBT001 - from functions that truncate
    """Return *text*, with a line that says so if it was truncated (*is_cut*)."""
    return f"{text}\n… the rest is not shown" if is_cut else text


def moment(at: str | datetime | None, kind: str = "moment") -> Markup:
    """Return a time for people: to the second and in UTC, which the browser makes local."""
    if not at:
        return Markup()
    stamp = _in_utc(at).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return _TIME.format(kind, stamp, f"since {utc(at)}" if "since" in kind else utc(at))


def since(at: str | datetime | None) -> Markup:
    """Return a time for people since which something lasts: the browser shows for how long that is."""
    return moment(at, "moment since")


def lasting(at: str | datetime | None) -> Markup:
    """Return the same where only the length is to be shown."""
    return moment(at, "moment since length")


def utc(at: str | datetime) -> str:
    """Return a time for people in UTC."""
    return f"{_in_utc(at):%Y-%m-%d %H:%M:%S} UTC"


def _in_utc(at: str | datetime) -> datetime:
    known = datetime.fromisoformat(at) if isinstance(at, str) else at
    return (known if known.tzinfo else known.replace(tzinfo=UTC)).astimezone(UTC)


def duration(row: Mapping[str, Any]) -> str:
    """Return how long an instance ran that has ended, for people."""
    length = _in_utc(row["ended"]) - _in_utc(row["started"])
    is_short = length < _SHORT
    return format_duration(length if is_short else timedelta(seconds=round(length.total_seconds())))


_SHORT: Final = timedelta(seconds=1)
_TIME: Final = Markup('<time class="{}" datetime="{}">{}</time>')


def _moment_of(moment: datetime | str | None) -> str:
    """Return a time for people, to the millisecond, in UTC."""
    if moment is None:
        return ""
    at = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}"[:-3]


def _seconds(length: float) -> str:
    return lasted(timedelta(seconds=length))


def _sentence(text: str) -> str:
    """Return a message as a sentence."""
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "!", "?", "…")) else ".")


def _advice(refusal: Refused) -> str:
    """Return what a person may do about a refusal: hints for programs do not help here."""
    if refusal.status == _LATER:
        return "try again in a moment"
    return "" if refusal.status in _OF_PROGRAMS else refusal.hint or ""


def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader("swf_temporal.http.console"),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "segment": segment,
        "json": shown_json,
        "moment": moment,
        "since": since,
        "lasting": lasting,
        "utc": utc,
        "duration": duration,
        "moment_of": _moment_of,
        "lasted": lasted,
        "seconds": _seconds,
        "sentence": _sentence,
        "advice": _advice,
    }
    found.globals |= {"address": address}
    return found


_ENVIRONMENT: Final = _environment()


def html_of(template: str, **values: Any) -> str:
    return _ENVIRONMENT.get_template(template).render(**values)


def macros(template: str) -> Any:
    """Return the macros of a template."""
    return _ENVIRONMENT.get_template(template).module


_FILLING: Final = ThreadPoolExecutor(2, "page")
"""The threads that fill in pages: what else waits for threads does not hold these up."""


class FilledPage(HTMLResponse):
    """A page whose template is filled in by a thread: a large one takes long, and others are answered meanwhile."""

    def __init__(self, template: str, status: int, values: dict[str, Any]) -> None:
        super().__init__("", status, HEADERS)
        self._values: tuple[str, dict[str, Any]] | None = (template, values)

    async def fill(self) -> None:
        """Fill in the template, once."""
        if self._values is not None:
            (template, values), self._values = self._values, None
            filling = partial(html_of, template, **values)
            self.body = (await asyncio.get_running_loop().run_in_executor(_FILLING, filling)).encode()
            self.headers["content-length"] = str(len(self.body))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the page."""
        await self.fill()
        await super().__call__(scope, receive, send)


def page(template: str, status: int = 200, **values: Any) -> Response:
    return FilledPage(template, status, values)


@cache
def _content(name: str) -> bytes:
    if name == "picture.css":
        return STYLE.encode()
    return files("swf_temporal.http.console").joinpath("static", name).read_bytes()


def static(name: str) -> Response | None:
    """Return a static file of the pages; None if there is no such file."""
    media = (_STATIC | {"picture.css": "text/css"}).get(name)
    if media is None:
        return None
    headers = HEADERS | {"Cache-Control": "no-cache"}
    return Response(_content(name), media_type=media, headers=headers)


_TOKEN: Final = re.compile(r'\{\s*\}|\[\s*\]|[{}\[\],:]|"(?:[^"\\]+|\\.)*"?|[^\s{}\[\],:"]+', re.DOTALL)
_WIDEST: Final = 6
"""The number of bytes that a character can take in JSON."""


def shown_payload(payload: Payload, converter: DataConverter) -> str:
    """Return the decoded *payload* as indented JSON, truncated if it is long; *converter* decodes it."""
    if payload.metadata.get("encoding") == PLAIN_JSON:
        return cut(*indented(payload.data, MAX_SHOWN))
    return shown_json(next(iter(converter.payload_converter.from_payloads([payload])), None))


def indented(written: bytes, most: int) -> tuple[str, bool]:
    """Return the JSON *written*, indented and cut after *most* characters, and whether it was cut."""
    known = written[: _WIDEST * (most + 1)]
    pieces, length, depth = list[str](), 0, 0
    for found in _TOKEN.finditer(known.decode(errors="ignore")):
        token = found[0]
        depth += _DEEPER.get(token, 0)
        piece = _piece(token, "\n" + "  " * max(depth, 0))
        pieces.append(piece)
        length += len(piece)
        if length > most:
            break
    return "".join(pieces)[:most], length > most or len(known) < len(written)


_DEEPER: Final = {"{": 1, "[": 1, "}": -1, "]": -1}


def _piece(token: str, line: str) -> str:
    match token[0]:
        case _ if token in ("{", "[", ","):
            return token + line
        case "}" | "]":
            return line + token
        case ":":
            return ": "
        case "{" | "[":
            return token[0] + token[-1]
        case '"' if "\\" in token:
            try:
                return show_json(read_written(token))
            except NotJSON:  # it is truncated
                return token
    return token
