"""The OpenAPI description of a gateway: an operation for each definition, with the schema of its input."""

import re
from collections.abc import Iterable
from typing import Any, Final

from swf_temporal import __version__
from swf_temporal.app.gateway.cloud_events import BATCH, STRUCTURED
from swf_temporal.app.gateway.refusals import PROBLEM
from swf_temporal.app.gateway.schemas import EXAMPLE, SCHEMAS
from swf_temporal.app.gateway.workflows import KEY_PATTERN, path_of
from swf_temporal.app.instances import STATUSES
from swf_temporal.data import JSON
from swf_temporal.languages.port import Definition

_Facts = dict[str, Any]

_INTRODUCTION: Final = """\
Events and workflows over HTTP. An event goes to the instances that it starts, or that wait for it; **202** means that
Temporal has it. What is answered with 429 or 503 may be sent again, after the seconds in `Retry-After`: an event has
its effect once, by its `source` and `id`, however often it is sent."""

_PROBLEMS: Final = {
    400: "Malformed",
    401: "No key that counts",
    403: "Not for this key",
    404: "Not there",
    409: "It has ended, or was started before",
    413: "Too large",
    415: "Another Content-Type than is read here",
    422: "Well-formed, and not possible",
    429: "Too many requests",
    503: "Temporal does not answer, or no worker does",
}
_ALWAYS: Final = (400, 401, 403, 429, 503)
_OF_BODIES: Final = (413, 415)

_SECURITY: Final[_Facts] = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "An API key, or a JWT"},
    "apiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
}

_KEY: Final[_Facts] = {"type": "string", "pattern": KEY_PATTERN}
_WAIT: Final[_Facts] = {
    "name": "wait",
    "in": "query",
    "description": "How many seconds to wait for the result; the header `Prefer: wait=SECONDS` says the same.",
    "schema": {"type": "integer", "minimum": 0, "maximum": 999_999_999},
    "example": 10,
}
_VERSION: Final[_Facts] = {
    "name": "version",
    "in": "query",
    "description": "The version of the definition, if not the latest.",
    "schema": {"type": "string"},
}
_START_OPTIONS: Final[list[_Facts]] = [
    _VERSION,
    {
        "name": "id",
        "in": "query",
        "description": "The id of the instance, if it is not to be any. It must not begin with `swf-`.",
        "schema": _KEY,
    },
    {
        "name": "Idempotency-Key",
        "in": "header",
        "description": "All requests with the same key start one instance.",
        "schema": _KEY,
    },
    _WAIT,
]
_EVENT: Final[_Facts] = {
    "name": "event",
    "in": "query",
    "description": "The name that the definition has for the event, if it waits for several.",
    "schema": {"type": "string", "minLength": 1},
}
_OF_TASKS: Final[list[_Facts]] = [
    {"name": "definition", "in": "query", "description": "Only of this definition.", "schema": {"type": "string"}},
    {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 200, "default": 100}},
]
_FILTERS: Final[list[_Facts]] = [
    {"name": "definition", "in": "query", "description": "Only of this definition.", "schema": {"type": "string"}},
    {"name": "status", "in": "query", "schema": {"type": "string", "enum": list(STATUSES)}},
    {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20}},
]


def description_of(definitions: Iterable[Definition], *, is_open: bool) -> _Facts:
    """Return the description of a gateway for a client who may see *definitions*."""
    paths, schemas, words = _common_paths(), dict(SCHEMAS), set[str]()
    for definition in definitions:
        paths[path_of(definition.id)] = {"post": _start(definition, _new_word(definition.id, words), schemas)}
    described: _Facts = {
        "openapi": "3.1.0",
        "info": {"title": "Gateway of swf-temporal", "version": __version__, "description": _INTRODUCTION},
        "servers": [{"url": "/"}],
        "tags": [{"name": name} for name in ("events", "workflows", "instances", "tasks")],
        "paths": paths,
        "components": {"schemas": schemas},
    }
    if not is_open:
        described["components"]["securitySchemes"] = _SECURITY
        described["security"] = [{"bearer": []}, {"apiKey": []}]
    return described


def _common_paths() -> _Facts:
    instance, workflow = _id("The id of an instance"), _id("The id of a definition")
    ended = {
        "requestBody": _json_body(_ref("Reason"), required=False),
        "responses": _responses({202: "Asked"}, 404, 409, 422, *_OF_BODIES),
    }
    schema = _responses({}, 404) | {"200": _content("The schema", {}, "application/schema+json")}
    return {
        "/events": {"post": _send("Send events", "sendEvents", 422)},
        "/workflows": {"get": _read("workflows", "List definitions", "listWorkflows", {200: "Workflows"})},
        "/workflows/{id}": {
            "parameters": [workflow, _VERSION],
            "get": _read("workflows", "Show a definition", "showWorkflow", {200: "Workflow"}, 404),
        },
        "/workflows/{id}/schemas/input": {
            "parameters": [workflow, _VERSION],
            "get": _operation("workflows", "Show what the input has to be", "showInputSchema") | {"responses": schema},
        },
        "/instances": {
            "get": _read("instances", "List instances", "listInstances", {200: "Instances"}) | {"parameters": _FILTERS}
        },
        "/instances/{id}": {
            "parameters": [instance],
            "get": _read("instances", "Show where it is", "showInstance", {200: "Instance"}, 404),
        },
        "/instances/{id}/result": {
            "parameters": [instance, _WAIT],
            "get": _read("instances", "Show its result", "showResult", {200: "Outcome", 202: "Outcome"}, 404),
        },
        "/instances/{id}/events": {
            "parameters": [instance],
            "post": _send("Send it events", "deliverEvents", 404, 409, 422),
        },
        "/tasks": {
            "get": _read("tasks", "List what instances wait for", "showTasks", {200: "Tasks"})
            | {"parameters": _OF_TASKS}
        },
        "/tasks/{id}": {
            "parameters": [instance, _EVENT],
            "get": _read("tasks", "Show what it waits for", "showTask", {200: "TaskWithSchema"}, 404),
            "post": {
                **_operation("tasks", "Give it what it waits for", "doTask"),
                "requestBody": _json_body({"description": "The data of the event"}, required=False),
                "responses": _responses({202: "Done"}, 404, 409, 422, *_OF_BODIES),
            },
        },
        "/instances/{id}/cancel": {
            "parameters": [instance],
            "post": _operation("instances", "Ask it to end", "cancelInstance") | ended,
        },
        "/instances/{id}/terminate": {
            "parameters": [instance],
            "post": _operation("instances", "End it at once", "terminateInstance") | ended,
        },
    }


def _start(definition: Definition, word: str, schemas: _Facts) -> _Facts:
    schema, name = definition.input_schema, f"Input.{word}"
    if schema is not None:
        schemas[name] = _placed(schema, f"#/components/schemas/{name}")
    started = _operation("workflows", f"Start {definition.name or definition.id}", f"start_{word}")
    return {
        **started,
        **({"description": definition.description} if definition.description else {}),
        "parameters": _START_OPTIONS,
        "requestBody": _json_body({} if schema is None else _ref(name), required=schema is not None),
        "responses": _responses({200: "Outcome", 202: "Outcome"}, 404, 409, 422, *_OF_BODIES),
    }


def _send(summary: str, name: str, *problems: int) -> _Facts:
    event = _ref("Event")
    answer = {"anyOf": [_ref("Taken"), _ref("TakenBatch")]}
    return {
        **_operation("events", summary, name),
        "description": "One event, a batch, or - in binary mode - its data, with its attributes in `ce-` headers.",
        "requestBody": {
            "required": True,
            "content": {
                STRUCTURED: {"schema": event, "example": EXAMPLE},
                BATCH: {"schema": {"type": "array", "items": event}, "example": [EXAMPLE]},
            },
        },
        "responses": {
            "200": _content("No instance takes it: it is not to be sent again", answer),
            "202": _content("Temporal has it", answer),
            **_responses({}, *problems, *_OF_BODIES),
        },
    }


def _operation(tag: str, summary: str, name: str) -> _Facts:
    return {"tags": [tag], "summary": summary, "operationId": name}


def _read(tag: str, summary: str, name: str, answers: dict[int, str], *problems: int) -> _Facts:
    return _operation(tag, summary, name) | {"responses": _responses(answers, *problems)}


_ANSWERS: Final = {
    (200, "Outcome"): "What came of it",
    (202, "Outcome"): "It runs: ask again at Location",
    (202, "Asked"): "It was asked to",
}


def _responses(answers: dict[int, str], *problems: int) -> _Facts:
    found = {str(status): _content(_ANSWERS.get((status, name), name), _ref(name)) for status, name in answers.items()}
    for status in sorted({*_ALWAYS, *problems}):
        found[str(status)] = _content(_PROBLEMS[status], _ref("Problem"), PROBLEM)
    return found


def _content(what: str, schema: _Facts, media: str = "application/json") -> _Facts:
    return {"description": what, "content": {media: {"schema": schema}}}


def _json_body(schema: _Facts, *, required: bool) -> _Facts:
    return {"required": required, "content": {"application/json": {"schema": schema}}}


def _id(what: str) -> _Facts:
    schema = {"type": "string", "minLength": 1}
    return {"name": "id", "in": "path", "required": True, "description": what, "schema": schema}


def _ref(name: str) -> _Facts:
    return {"$ref": f"#/components/schemas/{name}"}


def _new_word(definition_id: str, words: set[str]) -> str:
    """Return a word for a definition that programs can have as a name, and no other of *words* is."""
    word = re.sub(r"[^A-Za-z0-9_-]", "_", definition_id)
    while word in words:
        word += "_"
    words.add(word)
    return word


def _placed(schema: JSON, place: str) -> JSON:
    """Return *schema* such that it stands at *place*: references within it lead from there."""
    if isinstance(schema, list):
        return [_placed(each, place) for each in schema]
    if not isinstance(schema, dict):
        return schema
    placed = {key: _placed(value, place) for key, value in schema.items() if key != "$id"}
    if isinstance(reference := placed.get("$ref"), str) and reference.startswith("#"):
        placed["$ref"] = place + reference.removeprefix("#")
    return placed
