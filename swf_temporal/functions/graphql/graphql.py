"""Queries and mutates fields of GraphQL endpoints.

Section "Using Functions for GraphQL Service Invocations".
"""

from dataclasses import replace

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.functions.auth.auth import credential_for, with_named_tokens
from swf_temporal.functions.auth.requests import authenticated, with_credentials
from swf_temporal.functions.call import Call
from swf_temporal.functions.documents.servers import service_url
from swf_temporal.functions.graphql.requests import operation, post, selection_set
from swf_temporal.functions.graphql.schema import RootField, Schemas, question_to
from swf_temporal.functions.graphql.type import FORM, is_name
from swf_temporal.functions.http.requests import Request
from swf_temporal.functions.port import Performer, Services

_FOR_GOOD = frozenset({"GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED", "BAD_USER_INPUT"})
"""Codes that many servers write in `extensions.code` if the request itself is wrong."""


class GraphQL(Performer):
    """Calls functions whose operation is `<endpoint>#<query or mutation>#<field>`."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._schemas = Schemas(services.http, services.settings.document_lifetime)

    async def perform(self, call: Call) -> JSON:
        """Return the answer's `data`, an object with the field's name as its key. Raises CallFailed.

        The endpoint's schema gives the types of the arguments. One that does not show its schema is sent them
        as literals.
        """
        return await with_named_tokens(call, self._services.tokens, self._call)

    async def _call(self, call: Call) -> JSON:
        endpoint, kind, name = _parts(call)
        url = service_url(self._services.settings, call.callee, endpoint)
        arguments = _arguments(call)
        selection = selection_set(call.selection_set)
        references = call.function.auth_ref
        asking = credential_for((references.resource or references.invocation) if references else None, call)
        question = replace(question_to(url), callee=call.callee)
        schema = await self._schemas.schema(with_credentials(question, () if asking is None else (asking,)))
        types: dict[str, str] = {}
        if schema is not None:
            field = schema.field(kind, name)
            _check(field, kind, arguments, selection)
            types = field.arguments
        document = operation(kind, name, arguments, types, selection)
        variables = {key: value for key, value in arguments.items() if key in types}
        return await self._ask(authenticated(post(url, document, variables), call))

    async def _ask(self, request: Request) -> JSON:
        try:
            answer = await self._services.http.request_json(request)
        except CallFailed as fault:
            if _errors(fault.body):
                raise _fault(request, fault.body, fault.status, fault.retry_after) from fault
            raise
        body = answer.body
        if _errors(body):
            raise _fault(request, body, answer.status)
        if not isinstance(body, dict) or "data" not in body:
            message = f"{request}: the answer is not one of GraphQL: it has no 'data'"
            raise CallFailed(message, code="MalformedAnswer", status=answer.status, body=body)
        return body["data"]


def _parts(call: Call) -> tuple[str, str, str]:
    """Return the endpoint, `query` or `mutation`, and the field that a function names."""
    endpoint, kind, field = FORM.of(call.function)
    if kind.lower() == "subscription":
        section = "Using Functions for GraphQL Service Invocations"
        message = f"function '{call.function.name}': subscriptions are not supported (section “{section}”)"
        raise permanent_failure("Unsupported", message)
    if kind.lower() in {"query", "mutation"} and is_name(field):
        return endpoint, kind.lower(), field
    message = (
        f"the operation of function '{call.function.name}' is {call.function.operation!r}; "
        f"one of type 'graphql' is written '{FORM.example}', or with 'mutation'"
    )
    raise permanent_failure("BadOperation", message)


def _arguments(call: Call) -> dict[str, JSON]:
    if call.arguments is None:
        return {}
    if not isinstance(call.arguments, dict):
        message = f"the arguments of function '{call.function.name}' must be an object with a name for each"
        raise permanent_failure("BadArguments", message)
    return call.arguments


def _check(field: RootField, kind: str, arguments: dict[str, JSON], selection: str) -> None:
    missing = sorted(name for name in field.required if arguments.get(name) is None)
    if missing:
        raise permanent_failure(
            "BadArguments", f"the argument '{missing[0]}' is missing, which the {kind} '{field.name}' needs"
        )
    if field.is_object and not selection:
        message = f"the {kind} '{field.name}' gives an object: the selectionSet must say which of its fields are wanted"
        raise permanent_failure("BadArguments", message)


def _errors(answer: JSON) -> list[JSON]:
    errors = answer.get("errors") if isinstance(answer, dict) else None
    return errors if isinstance(errors, list) else []


def _fault(request: Request, answer: JSON, status: int | None, retry_after: float | None = None) -> CallFailed:
    """Return the fault that a workflow sees of the errors in an answer: the first one's code, and all messages."""
    errors = [error for error in _errors(answer) if isinstance(error, dict)]
    messages = [str(error["message"]) for error in errors if error.get("message")]
    extensions = [error.get("extensions") for error in errors]
    codes = [str(one["code"]) for one in extensions if isinstance(one, dict) and one.get("code")]
    code = codes[0] if codes else "GraphQLError"
    message = f"{request} answered with errors: {'; '.join(messages) or 'they have no message'}"
    retryable = code not in _FOR_GOOD
    return CallFailed(message, code=code, status=status, body=answer, retryable=retryable, retry_after=retry_after)
