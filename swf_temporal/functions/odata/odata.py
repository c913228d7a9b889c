"""Queries sets of entities of OData services.

Section "Using Functions for OData Service Invocations", with the arguments of the specification's `odata.json`.
"""

import asyncio

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.origins import origin_of
from swf_temporal.base.strict_json import write_json
from swf_temporal.functions.auth.auth import with_named_tokens
from swf_temporal.functions.auth.requests import authenticated
from swf_temporal.functions.call import Call
from swf_temporal.functions.documents.servers import service_url
from swf_temporal.functions.http.failures import failure
from swf_temporal.functions.http.requests import Request
from swf_temporal.functions.odata.answers import entities, error_in, next_link
from swf_temporal.functions.odata.type import FORM
from swf_temporal.functions.odata.urls import entity_url
from swf_temporal.functions.port import Performer, Services
from swf_temporal.functions.urls import join_url
from swf_temporal.text.suggestions import suggestion

_VERSIONS = (("Accept", "application/json"), ("OData-MaxVersion", "4.0"), ("MaxDataServiceVersion", "3.0"))
"""Services of version 4 look at the second, those of versions 2 and 3 at the third."""
_ARGUMENTS = ("key", "queryOptions")


class OData(Performer):
    """Calls functions whose operation is `<service>#<entity set>`."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def perform(self, call: Call) -> JSON:
        """Return the entities as an array, or the one entity that has the key. Raises CallFailed.

        If a count was asked for, the result is `{count, value}`. An answer that comes in pages is read to its end.
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
        """Return what *request* and the pages after its answer give."""
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
    """Return where the next page is. Raises CallFailed for another server, which must not get the credentials."""
    following = join_url(url, link)
    if origin_of(following) != origin_of(url):
        message = (
            f"the next page of {url.partition('?')[0]} is on another server, {following.partition('?')[0]}, "
            "which is not shown what is sent to this one; the service should name itself as it is called"
        )
        raise permanent_failure("BadUrl", message)
    return following
