"""The schema of a GraphQL endpoint: its fields and their arguments, by introspection."""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from http import HTTPStatus
from typing import Any

from cachetools import TTLCache

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.strict_json import write_json
from swf_temporal.functions.documents.documents import Headers
from swf_temporal.functions.graphql.requests import post
from swf_temporal.functions.http.client import Http
from swf_temporal.functions.http.requests import Request
from swf_temporal.text.suggestions import suggestion

_MAX_SCHEMAS = 64

# Three facts of two types are asked for, where the introspection of graphql-core asks for the whole schema: of large
# services that is megabytes, which many refuse, and its `build_client_schema` refuses one that lacks anything.
_WRAPPINGS = 8
"""The limit of lists and exclamation marks around the name of a type."""
_OBJECTS = frozenset({"OBJECT", "INTERFACE", "UNION"})
_TYPE = "kind name " + "ofType { kind name " * _WRAPPINGS + "}" * _WRAPPINGS


def _question(which: str) -> str:
    """Return the document that asks for all fields, and those of their arguments that *which* says."""
    arguments = f"args{which} {{ name defaultValue type {{ {_TYPE} }} }}"
    fields = f"fields(includeDeprecated: true) {{ name {arguments} type {{ {_TYPE} }} }}"
    return f"{{ __schema {{ queryType {{ {fields} }} mutationType {{ {fields} }} }} }}"


_ARGUMENT = "includeDeprecated"
_QUESTION = _question(f"({_ARGUMENT}: true)")
_OLDER_QUESTION = _question("")
"""For servers in which arguments cannot be deprecated: they refuse the other, and name what they do not know."""


@dataclass(frozen=True, slots=True)
class RootField:
    """A field of the root of a schema: what may be asked, or done."""

    name: str
    is_object: bool
    """Whether its value has fields of its own, of which a selection set must name some."""
    arguments: dict[str, str] = field(default_factory=dict)
    """The types of its arguments, as GraphQL writes them: `[Int!]!`."""
    required: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Schema:
    """The fields of an endpoint, by `query` and `mutation`."""

    url: str
    roots: dict[str, dict[str, RootField]]

    def field(self, kind: str, name: str) -> RootField:
        """Return the field *name* of the queries or mutations. Raises CallFailed if there is none."""
        fields = self.roots.get(kind, {})
        if name not in fields:
            message = f"{self.url} has no {kind} '{name}'" + suggestion(name, fields)
            raise permanent_failure("UnknownOperation", message)
        return fields[name]


class Schemas:
    """Asks endpoints for their schemas, and each only once in a while."""

    def __init__(self, http: Http, lifetime: timedelta) -> None:
        self._http = http
        self._known: TTLCache[tuple[str, Headers], Schema | None] = TTLCache(_MAX_SCHEMAS, lifetime.total_seconds())

    async def schema(self, question: Request) -> Schema | None:
        """Return the schema of the endpoint that *question* is put to, or None if it does not tell.

        Raises CallFailed if the endpoint cannot be reached, or is in trouble.
        """
        # What an endpoint shows may depend on who asks.
        key = (question.url, question.headers)
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
    """Return the request that asks the endpoint at *url* for its schema."""
    return post(url, _QUESTION)


def read_schema(url: str, answer: JSON) -> Schema | None:
    """Return the schema in the *answer* to an introspection, or None if that refuses or is something else."""
    data = answer.get("data") if isinstance(answer, dict) else None
    schema = data.get("__schema") if isinstance(data, dict) else None
    if not isinstance(schema, dict):
        return None
    try:
        return Schema(url, {kind: _fields(schema.get(f"{kind}Type")) for kind in ("query", "mutation")})
    except (KeyError, TypeError, AttributeError):
        return None


def _is_no(fault: CallFailed) -> bool:
    """Tell whether *fault* is the endpoint's decision not to be introspected, and no trouble that passes."""
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
    """Return a type as GraphQL writes it. Raises KeyError for one of a form that is not known."""
    if kind["kind"] == "NON_NULL":
        return f"{_written(kind['ofType'])}!"
    if kind["kind"] == "LIST":
        return f"[{_written(kind['ofType'])}]"
    return str(kind["name"])
