"""Encoding of parameters in a path, a query, a header or a cookie.

The styles are OpenAPI 3.0's; the collection formats of 2.0 are some of them under other names.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import permanent_failure
from swf_temporal.base.strict_json import write_json
from swf_temporal.text.bodies import is_json, split_content_type

_SEPARATORS = {"spaceDelimited": " ", "pipeDelimited": "|", "tabDelimited": "\t"}
_RESERVED = ":/?@!$'()*,;"
"""Reserved characters of URLs, without those that would end a query or split it: `#`, `&`, `+`, `=` and brackets."""

_ENCODED = re.compile(r"(%[0-9A-Fa-f]{2})")

_Write = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument that is sent in the path, the query, a header or a cookie."""

    name: str
    where: str
    required: bool = False
    default: JSON = None
    style: str = "form"
    explode: bool = False
    media_type: str | None = None
    """The encoding of the value, which overrides the style."""
    allow_reserved: bool = False
    """Whether reserved characters of URLs are not percent-encoded."""
    allow_empty: bool = False
    """Whether an empty array or object is sent, as a name without a value."""
    is_integer: bool = False
    """Whether 5.0 is sent as 5."""


@dataclass(frozen=True, slots=True)
class FormField:
    """The encoding of a field of a form. The defaults apply to a field that the document does not describe."""

    style: str | None = None
    """The style, as of OpenAPI's parameters. Without one, arrays are repeated, and objects are JSON."""
    explode: bool = True
    allow_reserved: bool = False
    content_type: str | None = None
    """The media type of a part, or several separated by commas, of which the first suitable one is used."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """The headers of a part, with fixed values."""
    is_file: bool = False
    """Whether a text is sent as a file."""


def as_text(value: JSON) -> str:
    """Return a value for a URL or header: texts bare, everything else as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else write_json(value, ensure_ascii=False)


def escape(text: str) -> str:
    """Return *text* with everything percent-encoded that has a meaning in a URL."""
    return quote(text, safe="", errors="replace")


def in_path(parameter: Parameter, value: JSON) -> str:
    """Return the replacement of `{name}` in a path."""
    if parameter.media_type is not None:
        text = escape(_written(parameter.media_type, value))
    elif parameter.style == "label":
        text = "." + _joined(value, "." if parameter.explode else ",", "=" if parameter.explode else ",", escape)
    elif parameter.style == "matrix":
        pairs = _pairs(parameter, value, ",", escape)
        return "".join(f";{name}={text}" if text else f";{name}" for name, text in pairs)
    else:
        text = _simple(parameter, value, escape)
    # A segment that is empty or made of dots would lead to another path.
    if text in {"", ".", ".."}:
        raise permanent_failure("BadArguments", f"the path parameter '{parameter.name}' cannot be '{text}'")
    return text


def in_query(parameter: Parameter, value: JSON) -> str:
    """Return a parameter as a part of a query, such as `tag=new&tag=red`."""
    write = _keep_reserved if parameter.allow_reserved else escape
    if parameter.allow_empty and value in ([], {}):
        return f"{escape(parameter.name)}="
    if parameter.style == "deepObject" and isinstance(value, list | dict):
        pairs = list(_deep(parameter.name, value, write))
    else:
        pairs = _pairs(parameter, value, escape(_SEPARATORS.get(parameter.style, "")) or ",", write)
    return "&".join(f"{name}={text}" for name, text in pairs)


def in_header(parameter: Parameter, value: JSON) -> str:
    if parameter.media_type is not None:
        return _written(parameter.media_type, value, as_ascii=True)
    return _simple(parameter, value, _bare)


def in_cookie(parameter: Parameter, value: JSON) -> str:
    """Return a parameter as a part of a `Cookie` header, such as `session=abc`."""
    return "; ".join(f"{name}={text}" for name, text in _pairs(parameter, value, ",", escape))


def _simple(parameter: Parameter, value: JSON, write: _Write) -> str:
    between = write(_SEPARATORS[parameter.style]) if parameter.style in _SEPARATORS else ","
    return _joined(value, between, "=" if parameter.explode else between, write)


def _pairs(parameter: Parameter, value: JSON, separator: str, write: _Write) -> list[tuple[str, str]]:
    """Return the names and values for a parameter; only exploded ones have more than one."""
    name = escape(parameter.name)
    if parameter.media_type is not None:
        return [(name, write(_written(parameter.media_type, value)))]
    if parameter.explode and isinstance(value, list):
        return [(name, write(as_text(item))) for item in value if item is not None]
    if parameter.explode and isinstance(value, dict):
        # An array in it repeats its name: `sort=name&sort=age`.
        items = ((key, item if isinstance(item, list) else [item]) for key, item in value.items())
        return [(escape(key), write(as_text(item))) for key, many in items for item in many if item is not None]
    return [(name, _joined(value, separator, separator, write))]


def _deep(name: str, value: JSON, write: _Write) -> Iterator[tuple[str, str]]:
    """Yield the encoding of a nested value: `a[b]=1` for an object, `a[0]=1` for an array."""
    if isinstance(value, list | dict):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _deep(f"{name}[{key}]", item, write)
    elif value is not None:
        yield escape(name), write(as_text(value))


def _joined(value: JSON, between: str, within: str, write: _Write) -> str:
    """Return a value as one text; *within* separates a key from its value."""
    if isinstance(value, list):
        return between.join(write(as_text(item)) for item in value if item is not None)
    if isinstance(value, dict):
        pairs = ((key, item) for key, item in value.items() if item is not None)
        return between.join(f"{write(key)}{within}{write(as_text(item))}" for key, item in pairs)
    return write(as_text(value))


def _written(media_type: str, value: JSON, *, as_ascii: bool = False) -> str:
    if is_json(split_content_type(media_type)[0]):
        return write_json(value, ensure_ascii=as_ascii)
    return as_text(value)


def _bare(text: str) -> str:
    return text


def _keep_reserved(text: str) -> str:
    # Text that is percent-encoded already stays as it is, by RFC 6570 (3.2.3).
    pieces = _ENCODED.split(text)
    return "".join(
        piece if place % 2 else quote(piece, safe=_RESERVED, errors="replace") for place, piece in enumerate(pieces)
    )
