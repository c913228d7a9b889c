"""Performs operations of AsyncAPI documents.

Section "Using Functions for Async API Service Invocations".
"""

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import permanent_failure
from swf_temporal.events.brokers.protocols import Brokers
from swf_temporal.functions.asyncapi import version2 as asyncapi_version2
from swf_temporal.functions.asyncapi import version3 as asyncapi_version3
from swf_temporal.functions.asyncapi.arguments import read_arguments
from swf_temporal.functions.asyncapi.channels import query_names
from swf_temporal.functions.asyncapi.exchanges import BrokerCall, Exchanges
from swf_temporal.functions.asyncapi.operations import AsyncApiOperation
from swf_temporal.functions.asyncapi.parts import is_version_3
from swf_temporal.functions.asyncapi.security import authenticate
from swf_temporal.functions.asyncapi.servers import find_server
from swf_temporal.functions.asyncapi.type import FORM
from swf_temporal.functions.auth.auth import auth_for_document, headers_for, reading_document, with_tokens
from swf_temporal.functions.call import Call
from swf_temporal.functions.documents.documents import Documents, is_web, locate
from swf_temporal.functions.documents.local_documents import only_local
from swf_temporal.functions.documents.parts import Document
from swf_temporal.functions.http.broker import HttpBroker
from swf_temporal.functions.port import Described, Performer, Services

_RESULTS = (None, "payload", "message")


class AsyncApi(Performer):
    """Calls functions whose operation is `<document>#<operationId>`, by sending and receiving messages."""

    def __init__(self, services: Services, brokers: Brokers | None = None) -> None:
        settings = self._settings = services.settings
        self._services = services
        self._brokers = brokers or Brokers(HttpBroker(services.http))
        self._exchanges = Exchanges(settings, services.limits, self._brokers)
        self._documents = Documents(lambda: services.http, settings.document_lifetime, settings.resources)

    async def perform(self, call: Call) -> JSON:
        """Send or receive a message, or send one and wait for its reply. Raises CallFailed.

        The result is the payload of the message that came, or all of the message if the function's metadata say
        `result: message`; null if none was to come.
        """
        result = _result(call)
        operation = await self._operation(call)
        target = find_server(self._settings, call, operation.document, operation.place.servers)
        given = read_arguments(operation, query_names(operation, target.wire.family), call.arguments)
        demands = [target.server.security if target.server else (), operation.security]
        authentication = authenticate(operation.document.name, demands, call)

        async def exchange(call: Call) -> JSON:
            received = await self._exchanges.perform(BrokerCall(call, operation, target, given, authentication))
            if received is None:
                return None
            return received.whole() if result == "message" else received.payload

        return await with_tokens(authentication.auths, authentication.call, self._services.tokens, exchange)

    async def aclose(self) -> None:
        """Close the connections that were kept open."""
        await self._brokers.aclose()

    async def look(self, call: Call) -> Described:
        """Return what a document that is a file says of the function. Nothing is fetched.

        Raises CallFailed, or NotLocalError if the document leads to one on the web.
        """
        name, operation_id = FORM.of(call.function)
        document = await self._documents.load(name, call.base, check=check_asyncapi)
        find = (asyncapi_version3 if is_version_3(document) else asyncapi_version2).find_operation
        reading = only_local(lambda: find(document, operation_id))
        operation = await self._documents.reading(document, reading, base=call.base)
        return Described({"sendsTo" if operation.sends else "receivesFrom": operation.place.address})

    async def _operation(self, call: Call) -> AsyncApiOperation:
        name, operation_id = FORM.of(call.function)
        location = locate(name, call.base)
        configured = self._settings.base_url_for(call.callee)
        resource = auth_for_document(call, location, configured) if is_web(location) else None

        async def read(call: Call) -> AsyncApiOperation:
            headers = headers_for(resource, call)
            document = await self._documents.load(name, call.base, headers, check_asyncapi)
            find = (asyncapi_version3 if is_version_3(document) else asyncapi_version2).find_operation
            return await self._documents.reading(
                document, lambda: find(document, operation_id), base=call.base, headers=headers
            )

        return await reading_document(resource, call, self._services.tokens, read)


def check_asyncapi(document: Document) -> None:
    """Raise CallFailed if *document* is not an AsyncAPI document of a version that is known here."""
    version = document.content.get("asyncapi")
    if version is None:
        reason = "it has no 'asyncapi' at its top"
    elif not str(version).startswith(("2.", "3.0")):
        reason = f"version {version} is not one of 2.0 to 2.6 and 3.0"
    else:
        return
    raise permanent_failure("BadDocument", f"the document '{document.name}' is not an AsyncAPI document: {reason}")


def _result(call: Call) -> JSON:
    result = call.function.metadata.get("result")
    if result not in _RESULTS:
        message = f"function '{call.function.name}' has {result!r} as 'result' in its metadata"
        raise permanent_failure("BadOperation", f"{message}; it must be 'payload' or 'message'")
    return result
