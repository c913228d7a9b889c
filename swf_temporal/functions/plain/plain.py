"""Calls services without a document that describes them.

There are two forms: SonataFlow's text `rest:METHOD:URL`, and the object `{method, uri, headers, cookies}` of later
versions.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import permanent_failure
from swf_temporal.functions.auth.auth import with_tokens
from swf_temporal.functions.auth.requests import authenticated
from swf_temporal.functions.call import Call, switch
from swf_temporal.functions.documents.servers import service_url
from swf_temporal.functions.http.bodies import write_body
from swf_temporal.functions.http.client import HttpResponse, Request
from swf_temporal.functions.http.media_types import OCTETS, is_file
from swf_temporal.functions.http.parameters import Parameter, as_text, escape, in_path, in_query
from swf_temporal.functions.http.results import REDIRECT, reading, result_of
from swf_temporal.functions.plain.type import METHODS, split_text
from swf_temporal.functions.port import Described, Performer, Services

_DEFAULT_METHOD = "GET"
_WITHOUT_BODY = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})


@dataclass(slots=True)
class Parts:
    """The arguments of a call, by their use."""

    headers: dict[str, JSON] = field(default_factory=dict)
    cookies: dict[str, JSON] = field(default_factory=dict)
    query: dict[str, JSON] = field(default_factory=dict)
    body: JSON = None


class PlainHttp(Performer):
    """Calls functions that state their method and URL."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def perform(self, call: Call) -> JSON:
        """Return the service's answer. Raises CallFailed.

        Arguments replace the URL's `{name}`s. The others are the body, or the query of a method without a body. To
        choose explicitly, begin a name with `HEADER_` or `QUERY_` in the text form, and use the arguments `headers`,
        `cookies`, `query` and `body` in the object form.
        """
        return await result_of(call, self._ask)

    async def look(self, call: Call) -> Described:
        """Return the method and the URL of the function. Raises CallFailed if it lacks one."""
        method, url = target(call)
        return Described({"method": method, "url": url})

    async def _ask(self, call: Call) -> HttpResponse:
        method, uri = target(call)
        request = _request(call, method, service_url(self._services.settings, call.callee, uri))
        request = replace(request, redirect=switch(call, REDIRECT))
        return await answer_to(request, call, self._services, reading(call))


async def answer_to(
    request: Request, call: Call, services: Services, read: Callable[[bytes, str], JSON]
) -> HttpResponse:
    """Return the answer to *request* with the credentials of *call*, whose body *read* makes. Raises CallFailed."""

    async def send(call: Call) -> HttpResponse:
        return await services.http.request(authenticated(request, call), read)

    references = call.function.auth_ref
    answer = await with_tokens([references.invocation if references else None], call, services.tokens, send)
    return replace(answer, asked=request)


def target(call: Call) -> tuple[str, str]:
    """Return the method and the URL, with its `{name}`s, of a function."""
    operation = call.function.operation
    method = uri = ""
    if isinstance(operation, dict):
        method, uri = as_text(operation.get("method") or _DEFAULT_METHOD), as_text(operation.get("uri"))
    elif isinstance(operation, str):
        method, uri = split_text(operation)
    if method.upper() not in METHODS or not uri:
        message = (
            f"the operation of function '{call.function.name}' is {operation!r}; "
            "it must be 'rest:METHOD:URL', or an object with 'method' and 'uri'"
        )
        raise permanent_failure("BadOperation", message)
    # A fragment is not sent: a query added after it would be lost.
    return method.upper(), uri.strip().partition("#")[0]


def _request(call: Call, method: str, uri: str) -> Request:
    named = dict(call.arguments) if isinstance(call.arguments, dict) else {}
    url = _filled(uri, named)
    operation = call.function.operation
    parts = _reserved(operation, named) if isinstance(operation, dict) else _prefixed(named)
    if not isinstance(call.arguments, dict):
        parts.body = call.arguments
    elif method in _WITHOUT_BODY or parts.body is not None:
        parts.query.update(named)
    elif named:
        parts.body = named
    return written(method, url, parts)


def written(method: str, url: str, parts: Parts) -> Request:
    """Return the request of *method* to *url* with *parts*; null is the same as absent."""
    headers = [(name, as_text(value)) for name, value in parts.headers.items() if value is not None]
    given = [(name, value) for name, value in parts.cookies.items() if value is not None]
    if given:
        cookies = (f"{escape(name)}={escape(as_text(value))}" for name, value in given)
        headers.append(("Cookie", "; ".join(cookies)))
    content = None
    if parts.body is not None:
        declared = next((value for name, value in headers if name.lower() == "content-type"), _type_of(parts.body))
        content, media_type = write_body(parts.body, declared)
        headers = [(name, value) for name, value in headers if name.lower() != "content-type"]
        headers.append(("Content-Type", media_type))
    return Request(method, _with_query(url, parts.query), tuple(headers), content)


def _type_of(body: JSON) -> str:
    """Return the default media type of a body."""
    if is_file(body):
        return as_text(body.get("mediaType") or OCTETS)
    return "text/plain; charset=utf-8" if isinstance(body, str) else "application/json"


def _filled(uri: str, named: dict[str, JSON]) -> str:
    """Return *uri* with its `{name}`s replaced by the arguments, which are removed from *named*."""
    used: set[str] = set()
    query_begins = uri.find("?") if "?" in uri else len(uri)

    def fill(match: re.Match[str]) -> str:
        name = match[1]
        if named.get(name) is None:
            raise permanent_failure("BadArguments", f"the argument '{name}' is missing, which the URL {uri} needs")
        used.add(name)
        if match.start() > query_begins:
            return escape(as_text(named[name]))
        return in_path(Parameter(name, "path", style="simple"), named[name])

    url = re.sub(r"\{([^{}]+)\}", fill, uri)
    for name in used:
        del named[name]
    return url


def _prefixed(named: dict[str, JSON]) -> Parts:
    parts = Parts()
    for name in list(named):
        for prefix, place in (("HEADER_", parts.headers), ("QUERY_", parts.query)):
            if name.startswith(prefix):
                place[name.removeprefix(prefix)] = named.pop(name)
    return parts


def _reserved(operation: dict[str, JSON], named: dict[str, JSON]) -> Parts:
    def both(key: str) -> dict[str, JSON]:
        declared, given = (
            value if isinstance(value, dict) else {} for value in (operation.get(key), named.pop(key, None))
        )
        if key == "headers":  # whose names are case-insensitive
            again = {name.lower() for name in given}
            declared = {name: value for name, value in declared.items() if name.lower() not in again}
        return {**declared, **given}

    return Parts(both("headers"), both("cookies"), both("query"), named.pop("body", None))


def _with_query(url: str, query: dict[str, JSON]) -> str:
    for name, value in query.items():
        if any(isinstance(one, dict | list) for one in (value if isinstance(value, list) else [value])):
            what = "an object" if isinstance(value, dict) else "an array of arrays or objects"
            message = f"the argument '{name}' is {what}, which a query cannot contain: pass its parts as arguments"
            raise permanent_failure("BadArguments", message)
    pieces = [
        in_query(Parameter(name, "query", explode=True), value) for name, value in query.items() if value is not None
    ]
    if not pieces:
        return url
    return f"{url}{'&' if '?' in url else '?'}{'&'.join(pieces)}"
