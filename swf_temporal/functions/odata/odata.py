"""Queries entity sets of OData services.

Section "Using Functions for OData Service Invocations", with the arguments of the specification's `odata.json`.
"""

import asyncio
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.importing import origin_of
from swf_temporal.base.strict_json import write_json
from swf_temporal.functions.auth.auth import with_named_tokens
from swf_temporal.functions.auth.requests import authenticated
from swf_temporal.functions.call import Call
from swf_temporal.functions.documents.servers import service_url
from swf_temporal.functions.http.client import Request
from swf_temporal.functions.http.failures import failure
from swf_temporal.functions.http.parameters import as_text, escape
from swf_temporal.functions.odata.type import FORM
from swf_temporal.functions.port import Performer, Services
from swf_temporal.functions.urls import join_url
from swf_temporal.text.suggestions import suggestion

_COUNTS = ("@odata.count", "@count", "odata.count", "__count")
_LINKS = ("@odata.nextLink", "@nextLink", "odata.nextLink", "__next")
_ABOUT_THE_ANSWER = frozenset({"@odata.context", "@context", "odata.metadata"})


def entities(answer: JSON) -> JSON:
    """Return the content of *answer* without its envelope: an array of entities, an entity, or a single value.

    If it has a count, the result is `{count, value}`.
    """
    inner = _inner(answer)
    if not isinstance(inner, dict):
        return inner
    for wrapping in ("value", "results"):
        if wrapping in inner and all(key == wrapping or _is_annotation(key) for key in inner):
            return _counted(inner, inner[wrapping])
    return {key: value for key, value in inner.items() if key not in _ABOUT_THE_ANSWER}


def next_link(answer: JSON) -> str | None:
    """Return the link to the next page of entities, or None."""
    inner = _inner(answer)
    links = [inner.get(name) for name in _LINKS] if isinstance(inner, dict) else []
    return next((link for link in links if isinstance(link, str)), None)


def error_in(answer: JSON) -> tuple[str, str]:
    """Return the code and the message of an error answer; empty if it has none."""
    if not isinstance(answer, dict):
        return "", ""
    error = answer.get("error", answer.get("odata.error"))
    if not isinstance(error, dict):
        return "", ""
    code, message = error.get("code"), error.get("message")
    if isinstance(message, dict):  # versions 2 and 3 add a language
        message = message.get("value")
    return "" if code is None else str(code), "" if message is None else str(message)


def _inner(answer: JSON) -> JSON:
    return answer["d"] if isinstance(answer, dict) and set(answer) == {"d"} else answer


def _counted(inner: dict[str, JSON], value: JSON) -> JSON:
    for name in _COUNTS:
        count = inner.get(name)
        if count is not None:  # version 2 writes numbers of 64 bits as texts
            return {"count": int(count) if isinstance(count, str) and count.isdecimal() else count, "value": value}
    return value


def _is_annotation(key: str) -> bool:
    return key.startswith(("@", "odata.", "__"))


OPTIONS: Final = (
    *("filter", "expand", "select", "orderby", "top", "skip", "count", "search", "format", "compute", "index"),
    *("schemaversion", "apply", "skiptoken", "deltatoken", "inlinecount"),
)
"""The query options that are known, in lower case: those of the schema, and others that services need."""

_LITERAL: Final = (
    r"(?:[A-Za-z][\w.]*)?'(?:[^']|'')*'"  # 'text', guid'…', datetime'…'
    r"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?[LlMmDdFf]?"
    r"|[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
)
_READY = re.compile(rf"(?:{_LITERAL})|[A-Za-z_]\w*=(?:{_LITERAL})(?:,[A-Za-z_]\w*=(?:{_LITERAL}))*", re.ASCII)


def entity_url(service: str, entity_set: str, key: JSON, options: Mapping[str, JSON]) -> str:
    """Return the URL of an entity set of a *service*, or of its entity with that *key*, with the query *options*.

    Raises CallFailed for an invalid key or option.
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
    """Return a key for the parentheses in a URL.

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
    """Return the name of a query option as services write it; definitions may use any case."""
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


_VERSIONS = (("Accept", "application/json"), ("OData-MaxVersion", "4.0"), ("MaxDataServiceVersion", "3.0"))
"""The headers for JSON and for the version: services of version 4 read the second, those of 2 and 3 the third."""
_ARGUMENTS = ("key", "queryOptions")


class OData(Performer):
    """Calls functions whose operation is `<service>#<entity set>`."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def perform(self, call: Call) -> JSON:
        """Return the entities as an array, or the one entity with the key. Raises CallFailed.

        If a count was requested, the result is `{count, value}`. All pages of an answer are read.
        """
        return await with_named_tokens(call, self._services.tokens, self._call)

    async def _call(self, call: Call) -> JSON:
        service, entity_set = FORM.of(call.function)
        key, options = _arguments(call)
        url = service_url(self._services.settings, call.callee, service)
        request = authenticated(Request("GET", entity_url(url, entity_set, key, options), _VERSIONS), call)
        origin = origin_of(request.url)
        settings = self._services.settings.options_for(request.callee, origin.host, origin.port)
        try:
            async with asyncio.timeout(settings.timeout.total_seconds()):
                return await self._read(request, call, settings.max_response_bytes)
        except TimeoutError as error:
            raise failure(error, str(request)) from error

    async def _read(self, request: Request, call: Call, limit: int) -> JSON:
        """Return the entities in the answer to *request* and its further pages."""
        result = await self._send(request)
        link, size = next_link(result), len(write_json(result))
        found = entities(result)
        rows = found["value"] if isinstance(found, dict) and "count" in found and "value" in found else found
        url, seen = request.url, {request.url}
        while link is not None and isinstance(rows, list):
            url = _following(url, link)
            if url in seen:
                raise CallFailed(f"{request}: the pages of the answer form a cycle", code="MalformedAnswer")
            seen.add(url)
            page = await self._send(authenticated(Request("GET", url, _VERSIONS), call))
            size += len(write_json(page))
            if size > limit:
                raise permanent_failure(
                    "AnswerTooLarge", f"{request}: the pages of the answer are larger than {limit} bytes"
                )
            rows.extend(_rows(entities(page)))
            link = next_link(page)
        return found

    async def _send(self, request: Request) -> JSON:
        try:
            return (await self._services.http.request_json(request)).body
        except CallFailed as fault:
            code, message = error_in(fault.body)
            if not code and not message:
                raise
            text = f"{request} answered {fault.status}: {message or code}"
            raise CallFailed(
                text,
                code=code or fault.code,
                status=fault.status,
                body=fault.body,
                retry_after=fault.retry_after,
            ) from fault


def _rows(page: JSON) -> list[JSON]:
    rows = page.get("value") if isinstance(page, dict) else page
    return rows if isinstance(rows, list) else []


def _arguments(call: Call) -> tuple[JSON, dict[str, JSON]]:
    """Return the key and the query options of a call."""
    given = {} if call.arguments is None else call.arguments
    if not isinstance(given, dict):
        raise permanent_failure("BadArguments", f"the arguments of function '{call.function.name}' must be an object")
    for name in given:
        if name not in _ARGUMENTS:
            message = f"'{name}' is not an argument of an OData function; those are 'key' and 'queryOptions'"
            raise permanent_failure("BadArguments", message + suggestion(name, _ARGUMENTS))
    options = given.get("queryOptions")
    if options is not None and not isinstance(options, dict):
        raise permanent_failure(
            "BadArguments", f"the queryOptions of function '{call.function.name}' must be an object"
        )
    return given.get("key"), options or {}


def _following(url: str, link: str) -> str:
    """Return the URL of the next page. Raises CallFailed for another server, which must not get the credentials."""
    following = join_url(url, link)
    if origin_of(following) != origin_of(url):
        message = (
            f"the next page of {url.partition('?')[0]} is on another server, {following.partition('?')[0]}, "
            "which must not get the credentials; the service should use the name by which it is called"
        )
        raise permanent_failure("BadUrl", message)
    return following
