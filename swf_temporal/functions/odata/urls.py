"""URLs of an entity set, an entity, or the entities that a query is about."""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import permanent_failure
from swf_temporal.functions.http.parameters import as_text, escape
from swf_temporal.text.suggestions import suggestion

OPTIONS: Final = (
    *("filter", "expand", "select", "orderby", "top", "skip", "count", "search", "format", "compute", "index"),
    *("schemaversion", "apply", "skiptoken", "deltatoken", "inlinecount"),
)
"""The query options that are known, in small letters: those of the schema, and what services need besides."""

_LITERAL: Final = (
    r"(?:[A-Za-z][\w.]*)?'(?:[^']|'')*'"  # 'text', guid'…', datetime'…'
    r"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?[LlMmDdFf]?"
    r"|[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
)
_READY = re.compile(rf"(?:{_LITERAL})|[A-Za-z_]\w*=(?:{_LITERAL})(?:,[A-Za-z_]\w*=(?:{_LITERAL}))*", re.ASCII)


def entity_url(service: str, entity_set: str, key: JSON, options: Mapping[str, JSON]) -> str:
    """Return the URL of an entity set of a *service*, or of its entity with that *key*, with the query *options*.

    Raises CallFailed for a key or an option that cannot be one.
    """
    address, _, query = service.partition("?")
    path = quote(entity_set.lstrip("/"), safe="/()'=,$:")
    if key is not None:
        path += "(" + quote(key_text(key), safe="'=,:") + ")"
    pieces = [query] if query else []
    for name, value in options.items():
        if value is not None:
            pieces.append(f"${_option(name)}={escape(_written(name, value))}")
    return f"{address.rstrip('/')}/{path}" + (f"?{'&'.join(pieces)}" if pieces else "")


def key_text(key: JSON) -> str:
    """Return a key as it stands in parentheses.

    Numbers and booleans are bare; an object is a key of several properties. A text that is a literal already (a
    number, a GUID, something in quotation marks, or `Name=literal` pairs) stays as it is; any other is quoted.
    """
    if isinstance(key, dict) and key:
        for name, value in key.items():
            if not name.isidentifier() or isinstance(value, dict | list) or value is None:
                raise permanent_failure(
                    "BadArguments", f"the part '{name}' of the key must be a property with a single value"
                )
        return ",".join(f"{name}={key_text(value)}" for name, value in key.items())
    if isinstance(key, str) and key:
        return key if _READY.fullmatch(key) else "'" + key.replace("'", "''") + "'"
    if isinstance(key, bool | int | float):
        return as_text(key)
    raise permanent_failure("BadArguments", f"{key!r} cannot be the key of an entity")


def _option(name: str) -> str:
    """Return the name of a query option as services write it; definitions may write it in any case."""
    known = name.removeprefix("$").lower()
    if known not in OPTIONS:
        raise permanent_failure("BadArguments", f"'{name}' is not a query option of OData" + suggestion(known, OPTIONS))
    return known


def _written(name: str, value: JSON) -> str:
    if isinstance(value, list):
        return ",".join(_written(name, item) for item in value)
    if isinstance(value, dict):
        raise permanent_failure("BadArguments", f"the query option '{name}' must be a text, a number or a boolean")
    return as_text(value)
