"""How is the value of a parameter written into a path, a query, a header or a cookie?

The styles are those of OpenAPI 3.0; the collection formats of 2.0 are some of them under other names.
"""

import json
from collections.abc import Callable
from urllib.parse import quote

from swf_temporal.data import JSON
from swf_temporal.functions.call import refusal
from swf_temporal.functions.operations import Parameter

_SEPARATORS = {"spaceDelimited": "%20", "pipeDelimited": "%7C", "tabDelimited": "%09"}


def as_text(value: JSON) -> str:
    """Return a value as it stands in a URL or header: texts bare, everything else as JSON writes it."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def escape(text: str) -> str:
    """Return *text* with everything percent-encoded that could mean something in a URL."""
    return quote(text, safe="", errors="replace")


def in_path(parameter: Parameter, value: JSON) -> str:
    """Return what takes the place of `{name}` in a path."""
    if parameter.style == "label":
        return "." + _joined(value, "." if parameter.explode else ",", "=" if parameter.explode else ",", escape)
    if parameter.style == "matrix":
        pairs = _pairs(parameter, value, ",", escape)
        return "".join(f";{name}={text}" for name, text in pairs)
    text = _joined(value, ",", "=" if parameter.explode else ",", escape)
    # A segment that is empty or made of dots would lead to another path than the one that was meant.
    if text in {"", ".", ".."}:
        raise refusal("BadArguments", f"the path parameter '{parameter.name}' cannot be '{text}'")
    return text


def in_query(parameter: Parameter, value: JSON) -> str:
    """Return a parameter as a piece of a query, such as `tag=new&tag=red`."""
    if parameter.style == "deepObject" and isinstance(value, dict):
        return "&".join(f"{escape(f'{parameter.name}[{key}]')}={escape(as_text(item))}" for key, item in value.items())
    pairs = _pairs(parameter, value, _SEPARATORS.get(parameter.style, ","), escape)
    return "&".join(f"{name}={text}" for name, text in pairs)


def in_header(parameter: Parameter, value: JSON) -> str:
    """Return a parameter as the value of a header."""
    if parameter.is_json:
        return json.dumps(value, separators=(",", ":"))
    return _joined(value, ",", "=" if parameter.explode else ",", _bare)


def in_cookie(parameter: Parameter, value: JSON) -> str:
    """Return a parameter as a piece of a `Cookie` header, such as `session=abc`."""
    return "; ".join(f"{name}={text}" for name, text in _pairs(parameter, value, ",", escape))


def _pairs(parameter: Parameter, value: JSON, separator: str, write: Callable[[str], str]) -> list[tuple[str, str]]:
    """Return the names and values that a parameter comes to; only exploded ones come to more than one."""
    name = write(parameter.name)
    if parameter.is_json:
        return [(name, write(json.dumps(value, separators=(",", ":"), ensure_ascii=False)))]
    if parameter.explode and isinstance(value, list):
        return [(name, write(as_text(item))) for item in value]
    if parameter.explode and isinstance(value, dict):
        return [(write(key), write(as_text(item))) for key, item in value.items()]
    return [(name, _joined(value, separator, separator, write))]


def _joined(value: JSON, between: str, within: str, write: Callable[[str], str]) -> str:
    """Return a value as one text; *within* stands between a key and its value."""
    if isinstance(value, list):
        return between.join(write(as_text(item)) for item in value)
    if isinstance(value, dict):
        return between.join(f"{write(key)}{within}{write(as_text(item))}" for key, item in value.items())
    return write(as_text(value))


def _bare(text: str) -> str:
    return text
