"""The pages of the console: templates, what they are given, and the headers that keep others out of them."""

import re
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any, Final
from urllib.parse import quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response
from temporalio.api.common.v1 import Payload
from temporalio.converter import DataConverter

from swf_temporal.base.strict_json import NotJSON, read_written, show_beginning, show_json
from swf_temporal.drawing.svg import STYLE
from swf_temporal.http.gateway.refusals import Refused

HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""The headers of all that has something of a definition or an instance: nothing in it can run, even if it were HTML."""
MAX_SHOWN: Final = 20_000
"""How many characters of a value are shown."""
_LATER: Final = 503
_OF_PROGRAMS: Final = (404, 429)
"""The statuses whose hints are about requests."""
_STATIC: Final = {"console.css": "text/css", "console.js": "text/javascript", "icon.svg": "image/svg+xml"}


def segment(text: object) -> str:
    """Return *text* as a segment of a path."""
    return quote(str(text), safe="")


def address(path: str, **query: object) -> str:
    """Return *path* with those parameters that are set."""
    given = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(given)}" if given else path


def shown_json(value: Any, most: int = MAX_SHOWN) -> str:
    """Return *value* as indented JSON, cut if it is long."""
    return cut(*show_beginning(value, most))


def cut(text: str, is_cut: bool) -> str:  # noqa: FBT001 - what functions return that cut
    """Return *text*, with a line that says so if it *is_cut*."""
    return f"{text}\n… the rest is not shown" if is_cut else text


def _moment(text: str | datetime | None) -> str:
    """Return a time as people read it, to the second, in UTC."""
    return "" if not text else str(text)[:19].replace("T", " ")


def _sentence(text: str) -> str:
    """Return a message as a sentence of a page."""
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "!", "?", "…")) else ".")


def _advice(refusal: Refused) -> str:
    """Return what a person may do about a refusal: what it says to programs is of no use here."""
    if refusal.status == _LATER:
        return "try again in a moment"
    return "" if refusal.status in _OF_PROGRAMS else refusal.hint or ""


def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader("swf_temporal.http.console"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "segment": segment,
        "json": shown_json,
        "moment": _moment,
        "sentence": _sentence,
        "advice": _advice,
    }
    found.globals |= {"address": address}
    return found


_ENVIRONMENT: Final = _environment()


def html_of(template: str, **values: Any) -> str:
    return _ENVIRONMENT.get_template(template).render(**values)


def macros(template: str) -> Any:
    """Return what a template defines for others."""
    return _ENVIRONMENT.get_template(template).module


def page(template: str, status: int = 200, **values: Any) -> Response:
    return HTMLResponse(html_of(template, **values), status, HEADERS)


@cache
def _content(name: str) -> bytes:
    if name == "picture.css":
        return STYLE.encode()
    return files("swf_temporal.http.console").joinpath("static", name).read_bytes()


def static(name: str) -> Response | None:
    """Return a file that pages need; None if there is none of that name."""
    media = (_STATIC | {"picture.css": "text/css"}).get(name)
    if media is None:
        return None
    headers = HEADERS | {"Cache-Control": "no-cache"}
    return Response(_content(name), media_type=media, headers=headers)


_TOKEN: Final = re.compile(r'\{\s*\}|\[\s*\]|[{}\[\],:]|"(?:[^"\\]+|\\.)*"?|[^\s{}\[\],:"]+', re.DOTALL)
_WIDEST: Final = 6
"""The bytes that a character takes at most, as JSON."""
_JSON: Final = b"json/plain"


def shown_payload(payload: Payload, converter: DataConverter) -> str:
    """Return what *payload* holds, which *converter* has decoded, as indented JSON, cut if it is long."""
    if payload.metadata.get("encoding") == _JSON:
        return cut(*indented(payload.data, MAX_SHOWN))
    return shown_json(next(iter(converter.payload_converter.from_payloads([payload])), None))


def indented(written: bytes, most: int) -> tuple[str, bool]:
    """Return *most* characters of *written*, which is JSON, with lines and indents, and whether there are more."""
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
            except NotJSON:  # it is cut
                return token
    return token
