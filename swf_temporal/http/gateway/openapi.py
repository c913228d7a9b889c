"""The OpenAPI description of a gateway: an operation for each definition, with its input schema."""

import re
from collections.abc import Iterable
from functools import cache
from inspect import getdoc
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from swf_temporal import __version__
from swf_temporal.base.data import JSON
from swf_temporal.http.gateway.answers import DEFINITION_ID, INSTANCE, INSTANCE_ID, Problem
from swf_temporal.http.gateway.endpoints import ENDPOINTS, JSON_MEDIA, SONATAFLOW, START, Endpoint
from swf_temporal.http.gateway.refusals import PROBLEM
from swf_temporal.http.gateway.workflows import path_of
from swf_temporal.languages.port import Definition

_Facts = dict[str, Any]

_INTRODUCTION: Final = """\
Events and workflows over HTTP. An event is delivered to the instances that it starts and to those that wait for it;
**202** means that Temporal has stored it. After 429 or 503, send the request again once the seconds in `Retry-After`
have passed: an event is processed once, by its `source` and `id`, however often it is sent."""
_EVENTS: Final = "One event, a batch, or - in binary mode - its data, with its attributes in `ce-` headers."

_PROBLEMS: Final = {
    400: "The request is malformed",
    401: "The API key or token is missing or not valid",
    403: "The key or token does not permit this",
    404: "Not found",
    408: "The body did not arrive in time",
    409: "The instance has ended, has not failed or was already started; another workflow has its id; or the namespace "
    "lacks the search attribute",
    413: "The body is too large",
    412: "The instance has failed with the error code 412",
    415: "The Content-Type is not supported",
    422: "The request is well-formed but cannot be carried out",
    429: "Too many requests",
    500: "The instance has failed",
    503: "Temporal or its workers do not answer",
}
_OF_BODIES: Final = (408, 409, 413, 415, 422)
_OF_IDS: Final = (404,)
_OF_SOME: Final = (412, 500)
"""Statuses that are only described for the operations that list them."""

_SECURITY: Final[_Facts] = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "An API key, or a JWT"},
    "apiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
}
_PLACE: Final = "#/components/schemas/"


def description_of(definitions: Iterable[Definition], *, is_open: bool, is_like_sonataflow: bool = False) -> _Facts:
    """Return the description of a gateway for a client with access to *definitions*."""
    further = SONATAFLOW if is_like_sonataflow else ()
    components = _schemas(is_like_sonataflow=is_like_sonataflow)[1]
    paths, schemas, words = dict[str, _Facts](), dict(components), set[str]()
    for one in (*ENDPOINTS, *further):
        if one is not START:
            paths.setdefault(one.path, {})[one.method.lower()] = _described(one)
    for definition in definitions:
        paths[path_of(definition.id)] = {"post": _start(definition, _new_word(definition.id, words), schemas)}
    described: _Facts = {
        "openapi": "3.1.0",
        "info": {"title": "Gateway of swf-temporal", "version": __version__, "description": _INTRODUCTION},
        "servers": [{"url": "/"}],
        "tags": [
            {"name": name} for name in ("events", "workflows", "instances", "tasks", *{one.tag for one in further})
        ],
        "paths": paths,
        "components": {"schemas": schemas},
    }
    if not is_open:
        described["components"]["securitySchemes"] = _SECURITY
        described["security"] = [{"bearer": []}, {"apiKey": []}]
    return described


class _Generator(GenerateJsonSchema):
    """Makes JSON Schemas without titles, which would repeat the names of types and members."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - the library's signature
        return False


@cache
def _schemas(*, is_like_sonataflow: bool = True) -> tuple[dict[tuple[str, int | str], _Facts], _Facts]:
    """Return the schema of each body and answer, by the name of its endpoint and its media type or status.

    The second value is the components that they refer to.
    """
    kinds: dict[tuple[str, int | str], Any] = {("", PROBLEM): Problem}
    for one in (*ENDPOINTS, *(SONATAFLOW if is_like_sonataflow else ())):
        kinds |= {(one.name, status): kind for status, kind in one.answers.items()}
        kinds |= {(one.name, media): kind for media, kind in one.body.items()}
    found, rest = TypeAdapter.json_schemas(
        [(key, "validation", TypeAdapter(kind)) for key, kind in kinds.items()],
        ref_template=f"{_PLACE}{{model}}",
        schema_generator=_Generator,
    )
    for schema in rest["$defs"].values():
        del schema["title"]
    return {key: schema for (key, _), schema in found.items()}, rest["$defs"]


def _described(one: Endpoint) -> _Facts:
    schemas, _ = _schemas()
    of_definition = one.tag == "workflows" or one in SONATAFLOW
    ids = [] if "{id}" not in one.path else [DEFINITION_ID if of_definition else INSTANCE_ID]
    ids += [INSTANCE] if "{instance}" in one.path else []
    described: _Facts = {
        "tags": [one.tag],
        "summary": (getdoc(one.work) or "").removesuffix("."),
        "operationId": one.name,
        "parameters": [*ids, *one.parameters],
        "responses": _responses(one),
    }
    if one.takes_events:
        described["description"] = _EVENTS
    if one.body:
        content = {media: {"schema": schemas[one.name, media]} for media in one.body}
        described["requestBody"] = {"required": one.takes_events, "content": content}
    return described


def _responses(one: Endpoint) -> _Facts:
    schemas, components = _schemas()
    found = {}
    for status in one.answers:
        schema = dict(schemas[one.name, status])
        what = schema.pop("description", None) or components[schema["$ref"].removeprefix(_PLACE)]["description"]
        found[str(status)] = {"description": what, "content": {one.media: {"schema": schema}}}
    for status, what in _PROBLEMS.items():
        if status in _OF_SOME and status not in one.problems:
            continue
        if (one.body or status not in _OF_BODIES or status in one.problems) and (
            "{id}" in one.path or status not in _OF_IDS
        ):
            found[str(status)] = {"description": what, "content": {PROBLEM: {"schema": schemas["", PROBLEM]}}}
    return found


def _start(definition: Definition, word: str, components: _Facts) -> _Facts:
    """Return the operation that starts instances of *definition*. Their input schema becomes a component."""
    started = _described(START)
    del started["parameters"][0]  # the path has its id
    started |= {"summary": f"Start {definition.name or definition.id}", "operationId": f"start_{word}"}
    if definition.description:
        started["description"] = definition.description
    schema, name = definition.input_schema, f"Input.{word}"
    if schema is not None:
        components[name] = _placed(schema, f"{_PLACE}{name}")
        content = {JSON_MEDIA: {"schema": {"$ref": f"{_PLACE}{name}"}}}
        started["requestBody"] = {"required": True, "content": content}
    return started


def _new_word(definition_id: str, words: set[str]) -> str:
    """Return a unique identifier for a definition, different from all *words*."""
    word = re.sub(r"[^A-Za-z0-9_-]", "_", definition_id)
    while word in words:
        word += "_"
    words.add(word)
    return word


def _placed(schema: JSON, place: str) -> JSON:
    """Return *schema* for use at *place*, with its internal references adjusted."""
    if isinstance(schema, list):
        return [_placed(each, place) for each in schema]
    if not isinstance(schema, dict):
        return schema
    is_named = isinstance(schema.get("$id"), str)  # otherwise these are properties, one of which is called so
    placed = {key: _placed(value, place) for key, value in schema.items() if key != "$id" or not is_named}
    if isinstance(reference := placed.get("$ref"), str) and reference.startswith("#"):
        placed["$ref"] = place + reference.removeprefix("#")
    return placed
