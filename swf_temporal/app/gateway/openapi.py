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
Events and workflows over HTTP. An event is delivered to the instances that it starts and to those that wait for it;
**202** means that Temporal has stored it. After 429 or 503, send the request again once the seconds in `Retry-After`
have passed: an event is processed once, by its `source` and `id`, however often it is sent."""

_PROBLEMS: Final = {
    400: "The request is malformed",
    401: "The API key or token is missing or not valid",
    403: "The key or token does not permit this",
    404: "Not found",
    409: "The instance has ended, or was started before",
    413: "The body is too large",
    415: "The Content-Type is not supported",
    422: "The request is well-formed but cannot be carried out",
    429: "Too many requests",
    503: "Temporal or its workers do not answer",
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
    "description": "How many seconds to wait for the result. The header `Prefer: wait=SECONDS` has the same effect.",
    "schema": {"type": "integer", "minimum": 0, "maximum": 999_999_999},
    "example": 10,
}
_VERSION: Final[_Facts] = {
    "name": "version",
    "in": "query",
    "description": "The version of the definition. The default is the latest.",
    "schema": {"type": "string"},
}
_START_OPTIONS: Final[list[_Facts]] = [
    _VERSION,
    {
        "name": "id",
        "in": "query",
        "description": "The id of the new instance. It must not begin with `swf-`. By default one is generated.",
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
    "description": "The name of the event in the definition, if the instance waits for several.",
    "schema": {"type": "string", "minLength": 1},
}
_OF_TASKS: Final[list[_Facts]] = [
    {
        "name": "definition",
        "in": "query",
        "description": "Those of this definition.",
        "schema": {"type": "string"},
    },
    {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 200, "default": 100}},
]
_FILTERS: Final[list[_Facts]] = [
    {
        "name": "definition",
        "in": "query",
        "description": "Those of this definition.",
        "schema": {"type": "string"},
    },
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
    events = {"/events": {"post": _send("Send events", "sendEvents", 422)}}
    return {**events, **_workflow_paths(), **_instance_paths(), **_task_paths(), **_end_paths()}


def _workflow_paths() -> _Facts:
    options = [_id("The id of a definition"), _VERSION]
    schema = _responses({}, 404) | {"200": _content("The schema", {}, "application/schema+json")}
    return {
        "/workflows": {"get": _read("workflows", "List definitions", "listWorkflows", {200: "Workflows"})},
        "/workflows/{id}": {
            "parameters": options,
            "get": _read("workflows", "Show a definition", "showWorkflow", {200: "Workflow"}, 404),
        },
        "/workflows/{id}/schemas/input": {
            "parameters": options,
            "get": _operation("workflows", "Show the input schema", "showInputSchema") | {"responses": schema},
        },
    }


def _instance_paths() -> _Facts:
    instance = _id("The id of an instance")
    return {
        "/instances": {
            "get": _read("instances", "List instances", "listInstances", {200: "Instances"}) | {"parameters": _FILTERS}
        },
        "/instances/{id}": {
            "parameters": [instance],
            "get": _read("instances", "Show an instance's status", "showInstance", {200: "Instance"}, 404),
        },
        "/instances/{id}/result": {
            "parameters": [instance, _WAIT],
            "get": _read("instances", "Show an instance's result", "showResult", {200: "Outcome", 202: "Outcome"}, 404),
        },
        "/instances/{id}/events": {
            "parameters": [instance],
            "post": _send("Send events to an instance", "deliverEvents", 404, 409, 422),
        },
    }


def _task_paths() -> _Facts:
    return {
        "/tasks": {"get": _read("tasks", "List open tasks", "showTasks", {200: "Tasks"}) | {"parameters": _OF_TASKS}},
        "/tasks/{id}": {
            "parameters": [_id("The id of an instance"), _EVENT],
            "get": _read("tasks", "Show an instance's task", "showTask", {200: "TaskWithSchema"}, 404),
            "post": {
                **_operation("tasks", "Complete an instance's task", "doTask"),
                "requestBody": _json_body({"description": "The data of the event"}, required=False),
                "responses": _responses({202: "Done"}, 404, 409, 422, *_OF_BODIES),
            },
        },
    }


def _end_paths() -> _Facts:
    instance = _id("The id of an instance")
    ended = {
        "requestBody": _json_body(_ref("Reason"), required=False),
        "responses": _responses({202: "Asked"}, 404, 409, 422, *_OF_BODIES),
    }
    return {
        "/instances/{id}/cancel": {
            "parameters": [instance],
            "post": _operation("instances", "Cancel an instance", "cancelInstance") | ended,
        },
        "/instances/{id}/terminate": {
            "parameters": [instance],
            "post": _operation("instances", "Terminate an instance", "terminateInstance") | ended,
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
            "202": _content("Temporal has stored it", answer),
            **_responses({}, *problems, *_OF_BODIES),
        },
    }


def _operation(tag: str, summary: str, name: str) -> _Facts:
    return {"tags": [tag], "summary": summary, "operationId": name}


def _read(tag: str, summary: str, name: str, answers: dict[int, str], *problems: int) -> _Facts:
    return _operation(tag, summary, name) | {"responses": _responses(answers, *problems)}


_ANSWERS: Final = {
    (200, "Outcome"): "How the instance ended",
    (202, "Outcome"): "The instance is running: ask again at Location",
    (202, "Asked"): "The request was passed on to the instance",
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
