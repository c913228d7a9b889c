"""How is an operation of an OpenAPI document called?

Section "Using Functions for RESTful Service Invocations".
"""

from dataclasses import replace

from swf_temporal.data import JSON
from swf_temporal.functions.auth import headers_for, with_tokens
from swf_temporal.functions.call import Call, refusal
from swf_temporal.functions.documents import Document, Documents
from swf_temporal.functions.http import Http, Request
from swf_temporal.functions.oauth2 import Tokens
from swf_temporal.functions.operations import find_operation
from swf_temporal.functions.requests import build_request
from swf_temporal.functions.security import secure, with_keys
from swf_temporal.functions.servers import server_url
from swf_temporal.functions.settings import Settings


class OpenApi:
    """Calls functions whose operation is `<document>#<operationId>`."""

    def __init__(self, http: Http, settings: Settings, tokens: Tokens) -> None:
        self._http = http
        self._tokens = tokens
        self._settings = settings
        self._documents = Documents(http, settings.document_lifetime)

    async def perform(self, call: Call) -> JSON:
        """Return the service's answer. Raises CallFailed."""
        name, operation_id = _parts(call)
        references = call.function.auth_ref
        resource = references.resource if references else None

        async def load(call: Call) -> Document:
            return await self._documents.load(name, call.base, headers_for(resource, call))

        document = await with_tokens([resource], call, self._tokens, load)
        operation = find_operation(document, operation_id)
        server = server_url(self._settings, call.function.name, document, operation)
        call, keys = secure(document, operation, server, call)
        request = with_keys(build_request(operation, server, call.arguments), keys)

        async def send(call: Call) -> JSON:
            return await self._http.send(signed(request, call))

        references = call.function.auth_ref
        return await with_tokens([references.invocation if references else None], call, self._tokens, send)


def signed(request: Request, call: Call) -> Request:
    """Return *request* with the function's credentials, and the idempotency key if it changes anything."""
    references = call.function.auth_ref
    headers = list(request.headers)
    given = {name.lower() for name, _ in headers}
    added = list(headers_for(references.invocation if references else None, call))
    if call.idempotency_key and not request.is_safe:
        added.append(("Idempotency-Key", call.idempotency_key))
    headers.extend((name, value) for name, value in added if name.lower() not in given)
    return replace(request, headers=tuple(headers))


def _parts(call: Call) -> tuple[str, str]:
    """Return the document and the operation that a function names."""
    operation = call.function.operation
    name, _, operation_id = operation.rpartition("#") if isinstance(operation, str) else ("", "", "")
    if not name or not operation_id:
        message = (
            f"the operation of function '{call.function.name}' is {operation!r}; "
            "one of type 'rest' is written 'document.json#operationId'"
        )
        raise refusal("BadOperation", message)
    return name.strip(), operation_id.strip()
