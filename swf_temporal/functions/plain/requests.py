"""Calls whose arguments are the whole request: `{method, uri, headers, query, body, output, redirect}`."""

from dataclasses import replace
from typing import Final

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.strict_json import show_json
from swf_temporal.functions.call import Call
from swf_temporal.functions.documents.servers import service_url
from swf_temporal.functions.http.client import Request
from swf_temporal.functions.http.results import CONTENT, OUTPUT, OUTPUTS, REDIRECT, reader, result_in
from swf_temporal.functions.plain.plain import Parts, answer_to, written
from swf_temporal.functions.plain.type import METHODS
from swf_temporal.functions.port import Performer, Services
from swf_temporal.text.suggestions import suggestion

_NAMES: Final = ("method", "uri", "headers", "query", "body", OUTPUT, REDIRECT)


class Requests(Performer):
    """Sends the requests that the arguments of calls are."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def perform(self, call: Call) -> JSON:
        """Return the service's answer in the form that `output` names. Raises CallFailed.

        With `redirect: true`, redirects are followed, and every status from 200 to 399 is a success; otherwise, only
        200 to 299 is one.
        """
        request, output = self._request(call)
        return result_in(output, await answer_to(request, call, self._services, reader(output)))

    def _request(self, call: Call) -> tuple[Request, str]:
        if call.function.operation is not None:
            message = f"function '{call.function.name}' of the type request takes no operation"
            raise permanent_failure("BadOperation", f"{message}: its arguments are the request")
        given = call.arguments
        if not isinstance(given, dict):
            raise _bad(call, "must be an object with 'method' and 'uri'")
        for name in given:
            if name not in _NAMES:
                raise _bad(call, f"have no '{name}'{suggestion(name, _NAMES)}")
        method, uri = given.get("method"), given.get("uri")
        if not isinstance(method, str) or method.upper() not in METHODS:
            raise _bad(call, f"have the method {show_json(method)}, which is not one of {', '.join(METHODS)}")
        if not isinstance(uri, str) or not uri.strip():
            raise _bad(call, f"have the uri {show_json(uri)}; it must be a URL")
        output = CONTENT if given.get(OUTPUT) is None else given[OUTPUT]
        if output not in OUTPUTS:
            raise _bad(call, f"have the output {show_json(output)}, which is not one of {', '.join(OUTPUTS)}")
        redirect = given.get(REDIRECT)
        if not isinstance(redirect, bool | None):
            raise _bad(call, f"have the redirect {show_json(redirect)}; it must be true or false")
        parts = Parts(headers=_object(call, given, "headers"), query=_object(call, given, "query"))
        parts.body = given.get("body")
        # A fragment is not sent: a query added after it would be lost.
        url = service_url(self._services.settings, call.callee, uri.strip().partition("#")[0])
        return replace(written(method.upper(), url, parts), redirect=bool(redirect)), output


def _object(call: Call, given: dict[str, JSON], name: str) -> dict[str, JSON]:
    value = given.get(name)
    if isinstance(value, dict | None):
        return value or {}
    raise _bad(call, f"have {show_json(value)} as '{name}', which must be an object")


def _bad(call: Call, why: str) -> CallFailed:
    return permanent_failure("BadArguments", f"the arguments of function '{call.function.name}' {why}")
