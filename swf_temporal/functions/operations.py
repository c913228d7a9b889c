"""What does an OpenAPI document say about an operation?

Versions 2.0, 3.0 and 3.1 are read into the same words, those of 3.0.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from swf_temporal.data import JSON
from swf_temporal.functions.answers import is_json, split_content_type
from swf_temporal.functions.call import did_you_mean, refusal
from swf_temporal.functions.documents import Document

FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"

_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_DEFAULT_STYLE = {"path": "simple", "header": "simple", "query": "form", "cookie": "form"}
_COLLECTION_STYLE = {"ssv": "spaceDelimited", "tsv": "tabDelimited", "pipes": "pipeDelimited"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument that travels in the path, the query, a header or a cookie."""

    name: str
    where: str
    required: bool = False
    default: JSON = None
    style: str = "form"
    explode: bool = False
    is_json: bool = False
    """Whether the value is written as JSON, whatever the style."""


@dataclass(frozen=True, slots=True)
class Body:
    """The arguments that are not parameters."""

    media_type: str = "application/json"
    required: bool = False
    name: str = "body"
    """The argument that may hold the whole body."""
    properties: frozenset[str] = frozenset()
    """The fields that the schema names; all others are possible too."""


@dataclass(frozen=True, slots=True)
class Operation:
    """What can be asked of a service, and how."""

    id: str
    method: str
    path: str
    parameters: tuple[Parameter, ...] = ()
    body: Body | None = None
    servers: tuple[dict[str, Any], ...] = field(default=(), repr=False)
    security: tuple[dict[str, Any], ...] | None = None
    """The schemes that are needed, by name, in each of several possibilities; None if nothing is said."""


def find_operation(document: Document, operation_id: str) -> Operation:
    """Return the operation of that id. Raises CallFailed, naming a near one, if the document has none."""
    known: list[str] = []
    for path, method, item, operation in _operations(document):
        known.append(str(operation.get("operationId", "")))
        if known[-1] == operation_id:
            return _read(document, path, method, item, operation)
    message = f"the document '{document.name}' has no operation '{operation_id}'"
    raise refusal("UnknownOperation", message + did_you_mean(operation_id, known))


def _operations(document: Document) -> Iterator[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    for path, node in document.content.get("paths", {}).items():
        item = document.resolve(node)
        for method in _METHODS:
            if isinstance(item.get(method), dict):
                yield str(path), method, item, item[method]


def _read(document: Document, path: str, method: str, item: dict[str, Any], operation: dict[str, Any]) -> Operation:
    declared: dict[tuple[str, str], dict[str, Any]] = {}
    for node in [*(item.get("parameters") or ()), *(operation.get("parameters") or ())]:
        parameter = document.resolve(node)
        declared[str(parameter.get("name")), str(parameter.get("in"))] = parameter
    security = operation.get("security", document.content.get("security"))
    servers = operation.get("servers") or item.get("servers") or document.content.get("servers") or ()
    body = (
        _swagger_body(document, operation, list(declared.values()))
        if document.is_swagger
        else _body(document, operation)
    )
    return Operation(
        id=str(operation["operationId"]),
        method=method.upper(),
        path=path,
        parameters=tuple(_parameter(document, node) for node in declared.values() if node.get("in") in _DEFAULT_STYLE),
        body=body,
        servers=tuple(server for server in servers if isinstance(server, dict)),
        security=tuple(item for item in security if isinstance(item, dict)) if isinstance(security, list) else None,
    )


def _parameter(document: Document, node: dict[str, Any]) -> Parameter:
    where = str(node["in"])
    # Version 2.0 writes the schema into the parameter itself.
    schema = node if document.is_swagger else document.resolve(node.get("schema"))
    collection = str(node.get("collectionFormat", "csv" if document.is_swagger else ""))
    style = _COLLECTION_STYLE.get(collection, str(node.get("style", _DEFAULT_STYLE[where])))
    explode = collection == "multi" if collection else node.get("explode", style in {"form", "deepObject"})
    return Parameter(
        name=str(node["name"]),
        where=where,
        required=where == "path" or node.get("required") is True,
        default=schema.get("default"),
        style=style,
        explode=bool(explode),
        is_json="content" in node,
    )


def _body(document: Document, operation: dict[str, Any]) -> Body | None:
    node = document.resolve(operation.get("requestBody"))
    if not node:
        return None
    content = node.get("content") or {"application/json": {}}
    media_type = _preferred(list(content))
    schema = (document.resolve(content[media_type])).get("schema")
    return Body(
        media_type=media_type,
        required=node.get("required") is True,
        properties=frozenset(_properties(document, schema)),
    )


def _swagger_body(document: Document, operation: dict[str, Any], declared: list[dict[str, Any]]) -> Body | None:
    consumes = [str(kind) for kind in operation.get("consumes") or document.content.get("consumes") or ()]
    fields = [node for node in declared if node.get("in") == "formData"]
    if fields:
        has_files = any(node.get("type") == "file" for node in fields)
        return Body(
            media_type=MULTIPART if has_files or consumes[:1] == [MULTIPART] else FORM,
            required=any(node.get("required") is True for node in fields),
            properties=frozenset(str(node.get("name")) for node in fields),
        )
    for node in declared:
        if node.get("in") == "body":
            return Body(
                media_type=_preferred(consumes or ["application/json"]),
                required=node.get("required") is True,
                name=str(node.get("name", "body")),
                properties=frozenset(_properties(document, node.get("schema"))),
            )
    return None


def _preferred(media_types: list[str]) -> str:
    """Return the media type to send a body in: JSON if that is possible, else a form, else the first."""
    for media_type in media_types:
        if is_json(split_content_type(media_type)[0]):
            return media_type
    if "*/*" in media_types or "application/*" in media_types:
        return "application/json"
    for form in (FORM, MULTIPART):
        if form in media_types:
            return form
    return media_types[0]


def _properties(document: Document, schema: object) -> Iterator[str]:
    """Yield the fields that a schema names, those of its parts included."""
    seen: set[int] = set()  # a schema may be part of itself
    waiting = [schema]
    while waiting:
        node = document.resolve(waiting.pop())
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield from (str(name) for name in node.get("properties") or ())
        for key in ("allOf", "anyOf", "oneOf"):
            waiting.extend(node.get(key) or ())
