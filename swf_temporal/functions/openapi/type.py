"""The types `rest` and `openapi`: operations of OpenAPI documents, or plain HTTP."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.base.function_types import OperationProblem, environment_name
from swf_temporal.functions.call import Call
from swf_temporal.functions.plain.type import METHODS, is_plain_text
from swf_temporal.functions.plain.type import TYPE as PLAIN
from swf_temporal.functions.port import DeclaredType, Described, PartedForm, Performer, Services

if TYPE_CHECKING:
    from swf_temporal.functions.documents.documents import Documents
    from swf_temporal.functions.openapi.openapi import OpenApi

FORM = PartedForm(("document", "operationId"), "document.json#operationId")
_REQUEST: Final = re.compile(rf"(?:(?P<method>{'|'.join(METHODS)})[\s:]+)?(?P<url>https?://[^\s#]+)", re.IGNORECASE)


class RestType(DeclaredType):
    """Functions that name an operation of a document, or a method and a URL."""

    example = FORM.example
    may_need_credentials = True

    def problems(self, function: Function) -> Iterable[OperationProblem]:
        """Return the errors in either form."""
        if _is_plain(function.operation):
            return PLAIN.problems(function)
        return (replace(problem, hint=_meant(str(function.operation).strip())) for problem in FORM.problems(function))

    def document(self, operation: JSON) -> str | None:
        """Return the document, unless this is plain HTTP."""
        return None if _is_plain(operation) else FORM.first(operation)

    def named(self, operation: JSON) -> Mapping[str, str]:
        return {} if _is_plain(operation) else FORM.split(operation)

    def performer(self, services: Services) -> Performer:
        return _Rest(services)


TYPE = RestType()


class _Rest(Performer):
    """Performs both forms. Inspecting a document does not need the client, which is only imported for calls."""

    def __init__(self, services: Services) -> None:
        from swf_temporal.functions.documents.documents import Documents

        self._services = services
        self._documents = Documents(
            lambda: services.http, services.settings.document_lifetime, services.settings.resources
        )

    async def perform(self, call: Call) -> JSON:
        """Return the service's answer. Raises CallFailed."""
        performer = self._plain if _is_plain(call.function.operation) else self._described
        return await performer.perform(call)

    async def look(self, call: Call) -> Described | None:
        """Return the method and the URL, or their description in a document that is a file. Nothing is fetched."""
        if _is_plain(call.function.operation):
            return await self._plain.look(call)
        return await _look(self._documents, call)

    @cached_property
    def _plain(self) -> Performer:
        return PLAIN.performer(self._services)

    @cached_property
    def _described(self) -> "OpenApi":
        from swf_temporal.functions.openapi.openapi import OpenApi

        return OpenApi(self._services, self._documents)


def _meant(operation: str) -> str | None:
    """Return a hint for an *operation* without an operationId: a request, or a function of the worker."""
    request = _REQUEST.fullmatch(operation)
    if request is not None:
        return f"a request without a document is written 'rest:{(request['method'] or 'GET').upper()}:{request['url']}'"
    return "write 'type: custom' if it is a Python function of the worker" if operation.isidentifier() else None


def _is_plain(operation: JSON) -> bool:
    return isinstance(operation, dict) or is_plain_text(operation)


async def _look(documents: "Documents", call: Call) -> Described:
    """Return the description of a function from its document, which is a file. Nothing is fetched.

    Raises CallFailed, or NotLocalError if the document refers to one on the web.
    """
    from swf_temporal.functions.documents.local_documents import only_local
    from swf_temporal.functions.openapi.operations import find_operation, server_url
    from swf_temporal.settings.calls import Settings

    name, operation_id = FORM.of(call.function)
    document = await documents.load(name, call.base)
    find = only_local(lambda: find_operation(document, operation_id))
    operation = await documents.reading(document, find, base=call.base)
    address: dict[str, JSON] = {"method": operation.method, "path": operation.path}
    try:
        # Only the document's server: the settings that apply are those of the worker that makes the call.
        address["server"] = server_url(Settings(), call.callee, document, operation)
    except CallFailed:  # it has no server: the worker's settings must
        address["serverFrom"] = [f"SWF_BASE_URL_{environment_name(call.function.name)}", "SWF_BASE_URL"]
    return Described(address, tuple(tuple(schemes) for schemes in operation.security or ()))
