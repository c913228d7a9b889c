"""Calls queries and mutations of GraphQL endpoints.

Section "Using Functions for GraphQL Service Invocations".
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from http import HTTPStatus
from typing import Any

from cachetools import TTLCache

from swf_temporal.base.data import JSON, plain_numbers
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.strict_json import write_json
from swf_temporal.functions.auth.auth import with_named_tokens
from swf_temporal.functions.auth.requests import authenticated, with_auth
from swf_temporal.functions.call import Call
from swf_temporal.functions.documents.servers import service_url
from swf_temporal.functions.graphql.type import FORM, is_name
from swf_temporal.functions.http.client import Http, Request
from swf_temporal.functions.port import Performer, Services
from swf_temporal.text.suggestions import suggestion

_TOKEN = re.compile(r'"""(?:\\"""|[^"]|"(?!""))*"""|"(?:\\.|[^"\\\n])*"|#[^\n]*|[{}"]')
_ACCEPTED = "application/graphql-response+json, application/json;q=0.9"
_Key = tuple[str, tuple[tuple[str, str], ...], tuple[str, str] | None]
"""The URL, the headers and the login of a request."""


def post(url: str, document: str, variables: Mapping[str, JSON] | None = None) -> Request:
    """Return the request that sends *document*, with its *variables*, to the endpoint at *url*."""
    body: dict[str, JSON] = {"query": document}
    if variables:
        body["variables"] = dict(variables)
    typed = (("Accept", _ACCEPTED), ("Content-Type", "application/json"))
    return Request("POST", url, typed, write_json(body).encode())


def operation(kind: str, field: str, arguments: Mapping[str, JSON], types: Mapping[str, str], selection: str) -> str:
    """Return the document that requests one *field*; *kind* is `query` or `mutation`.

    Arguments that have one of the *types* become variables; the others are written into the document.
    """
    declared = ", ".join(f"${name}: {types[name]}" for name in arguments if name in types)
    given = ", ".join(
        f"{name_of(name)}: ${name}" if name in types else f"{name_of(name)}: {literal(value)}"
        for name, value in arguments.items()
    )
    head = f"{kind}({declared})" if declared else kind
    call = f"{field}({given})" if given else field
    return f"{head} {{ {call} {selection} }}" if selection else f"{head} {{ {call} }}"


def literal(value: JSON) -> str:
    """Return *value* as a literal in a document. A text becomes a string, since it cannot be known to be an enum."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name_of(key)}: {literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(literal(item) for item in value) + "]"
    return write_json(plain_numbers(value))  # an argument of the type Int may be 2, and not 2.0


def name_of(text: str) -> str:
    """Return *text* if it is a valid name in GraphQL. Raises CallFailed otherwise."""
    if not is_name(text):
        raise permanent_failure("BadArguments", f"'{text}' cannot be the name of an argument in GraphQL")
    return text


def selection_set(text: JSON) -> str:
    """Return a selection set with its braces, or an empty text for an empty one.

    Raises CallFailed for anything else, and for one that would end before its text does: data in it must not be able to
    add an operation.
    """
    if text is None:
        return ""
    if not isinstance(text, str):
        raise permanent_failure(
            "BadArguments", f"the selectionSet must be a text such as '{{ id, name }}', but is {text!r}"
        )
    selection = text.strip()
    if not selection:
        return ""
    if not selection.startswith("{"):
        selection = f"{{ {selection} \n}}"
    depth = 0
    for token in _TOKEN.finditer(selection):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if token[0] == '"' or (depth == 0 and token[0] == "}" and selection[token.end() :].strip()):
            raise _not_balanced(text)
    if depth:
        raise _not_balanced(text)
    return selection


def _not_balanced(text: str) -> CallFailed:
    return permanent_failure(
        "BadArguments", f"the selectionSet {text!r} is invalid: its braces or quotation marks do not match"
    )


_MAX_SCHEMAS = 64

# Only three facts of two types are requested, while graphql-core's introspection requests the whole schema: for large
# services that is megabytes, which many refuse, and its `build_client_schema` refuses incomplete ones.
_WRAPPINGS = 8
"""The limit of list and non-null wrappings around the name of a type."""
_OBJECTS = frozenset({"OBJECT", "INTERFACE", "UNION"})
_TYPE = "kind name " + "ofType { kind name " * _WRAPPINGS + "}" * _WRAPPINGS


def _question(which: str) -> str:
    """Return the introspection document for all fields, with the arguments selected by *which*."""
    arguments = f"args{which} {{ name defaultValue type {{ {_TYPE} }} }}"
    fields = f"fields(includeDeprecated: true) {{ name {arguments} type {{ {_TYPE} }} }}"
    return f"{{ __schema {{ queryType {{ {fields} }} mutationType {{ {fields} }} }} }}"


_ARGUMENT = "includeDeprecated"
_QUESTION = _question(f"({_ARGUMENT}: true)")
_OLDER_QUESTION = _question("")
"""For servers without deprecated arguments, which refuse the other document."""


@dataclass(frozen=True, slots=True)
class RootField:
    """A field of a root type: a query or a mutation."""

    name: str
    is_object: bool
    """Whether its value has fields, some of which a selection set must name."""
    arguments: dict[str, str] = field(default_factory=dict)
    """The types of its arguments, in GraphQL's notation: `[Int!]!`."""
    required: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Schema:
    """The fields of an endpoint, by `query` and `mutation`."""

    url: str
    roots: dict[str, dict[str, RootField]]

    def field(self, kind: str, name: str) -> RootField:
        """Return the field *name* of the queries or mutations. Raises CallFailed if it does not exist."""
        fields = self.roots.get(kind, {})
        if name not in fields:
            message = f"{self.url} has no {kind} '{name}'" + suggestion(name, fields)
            raise permanent_failure("UnknownOperation", message)
        return fields[name]


class Schemas:
    """Fetches schemas from endpoints, and caches them."""

    def __init__(self, http: Http, lifetime: timedelta) -> None:
        self._http = http
        self._known: TTLCache[_Key, Schema | None] = TTLCache(_MAX_SCHEMAS, lifetime.total_seconds())

    async def schema(self, question: Request) -> Schema | None:
        """Return the schema of the endpoint of *question*, or None if it does not support introspection.

        Raises CallFailed if the endpoint cannot be reached, or fails temporarily.
        """
        # The schema may depend on the caller.
        key = (question.url, question.headers, question.login)
        try:
            return self._known[key]
        except KeyError:
            schema = self._known[key] = await self._ask(question)
            return schema

    async def _ask(self, question: Request) -> Schema | None:
        answer = await self._answer(question)
        if isinstance(answer, dict) and _ARGUMENT in write_json(answer.get("errors")):
            answer = await self._answer(replace(question, content=post(question.url, _OLDER_QUESTION).content))
        return read_schema(question.url.partition("?")[0], answer)

    async def _answer(self, question: Request) -> JSON:
        try:
            answer = await self._http.request(question)
        except CallFailed as fault:
            if _is_no(fault):
                refusal: JSON = fault.body
                return refusal
            raise
        return answer.body


def question_to(url: str) -> Request:
    """Return the introspection request for the endpoint at *url*."""
    return post(url, _QUESTION)


def read_schema(url: str, answer: JSON) -> Schema | None:
    """Return the schema in the *answer* to an introspection, or None if it has none."""
    data = answer.get("data") if isinstance(answer, dict) else None
    schema = data.get("__schema") if isinstance(data, dict) else None
    if not isinstance(schema, dict):
        return None
    try:
        return Schema(url, {kind: _fields(schema.get(f"{kind}Type")) for kind in ("query", "mutation")})
    except (KeyError, TypeError, AttributeError):
        return None


def _is_no(fault: CallFailed) -> bool:
    """Return whether *fault* means that the endpoint does not allow introspection, rather than a temporary failure."""
    if fault.status is None:
        return fault.code in {"AnswerTooLarge", "MalformedAnswer"}
    passing = fault.status >= HTTPStatus.INTERNAL_SERVER_ERROR or fault.status == HTTPStatus.TOO_MANY_REQUESTS
    return not passing


def _fields(root: Any) -> dict[str, RootField]:
    return {one["name"]: _field(one) for one in (root or {}).get("fields") or ()}


def _field(one: Any) -> RootField:
    return RootField(
        name=one["name"],
        is_object=_innermost(one["type"])["kind"] in _OBJECTS,
        arguments={argument["name"]: _written(argument["type"]) for argument in one["args"]},
        required=frozenset(
            argument["name"]
            for argument in one["args"]
            if argument["type"]["kind"] == "NON_NULL" and argument.get("defaultValue") is None
        ),
    )


def _innermost(kind: Any) -> Any:
    while kind.get("ofType"):
        kind = kind["ofType"]
    return kind


def _written(kind: Any) -> str:
    """Return a type in GraphQL's notation. Raises KeyError for one of an unknown form."""
    if kind["kind"] == "NON_NULL":
        return f"{_written(kind['ofType'])}!"
    if kind["kind"] == "LIST":
        return f"[{_written(kind['ofType'])}]"
    return str(kind["name"])


_FOR_GOOD = frozenset({"GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED", "BAD_USER_INPUT"})
"""The codes in `extensions.code` with which many servers report an invalid request."""


class GraphQL(Performer):
    """Calls functions whose operation is `<endpoint>#<query or mutation>#<field>`."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._schemas = Schemas(services.http, services.settings.document_lifetime)

    async def perform(self, call: Call) -> JSON:
        """Return the answer's `data`, an object with the field's name as its key. Raises CallFailed.

        The endpoint's schema gives the types of the arguments. Without a schema, they are sent as literals.
        """
        return await with_named_tokens(call, self._services.tokens, self._call)

    async def _call(self, call: Call) -> JSON:
        endpoint, kind, name = _parts(call)
        url = service_url(self._services.settings, call.callee, endpoint)
        arguments = _arguments(call)
        selection = selection_set(call.selection_set)
        references = call.function.auth_ref
        asking = (references.resource or references.invocation) if references else None
        question = replace(question_to(url), callee=call.callee)
        schema = await self._schemas.schema(with_auth(question, asking, call))
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
            message = f"{request}: the answer is not a GraphQL answer: it has no 'data'"
            raise CallFailed(message, code="MalformedAnswer", status=answer.status, body=body)
        return body["data"]


def _parts(call: Call) -> tuple[str, str, str]:
    """Return the endpoint, `query` or `mutation`, and the field in a function's operation."""
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
        message = f"the {kind} '{field.name}' returns an object: the selectionSet must name the fields to return"
        raise permanent_failure("BadArguments", message)


def _errors(answer: JSON) -> list[JSON]:
    errors = answer.get("errors") if isinstance(answer, dict) else None
    return errors if isinstance(errors, list) else []


def _fault(request: Request, answer: JSON, status: int | None, retry_after: float | None = None) -> CallFailed:
    """Return the fault for the errors in an answer: the first one's code, and all messages."""
    errors = [error for error in _errors(answer) if isinstance(error, dict)]
    messages = [str(error["message"]) for error in errors if error.get("message")]
    extensions = [error.get("extensions") for error in errors]
    codes = [str(one["code"]) for one in extensions if isinstance(one, dict) and one.get("code")]
    code = codes[0] if codes else "GraphQLError"
    message = f"{request} answered with errors: {'; '.join(messages) or 'they have no message'}"
    retryable = code not in _FOR_GOOD
    return CallFailed(message, code=code, status=status, body=answer, retryable=retryable, retry_after=retry_after)
