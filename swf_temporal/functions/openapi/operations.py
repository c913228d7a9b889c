"""An operation as an OpenAPI document describes it.

Versions 2.0, 3.0 and 3.1 are read into the same words, those of 3.0.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import permanent_failure
from swf_temporal.functions.documents.parts import Document, DocumentPart
from swf_temporal.functions.http.parameters import Parameter
from swf_temporal.functions.openapi.request_bodies import RequestBody, collection_style, read_body, read_swagger_body
from swf_temporal.functions.openapi.responses import Responses
from swf_temporal.text.suggestions import suggestion

_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_DEFAULT_STYLE = {"path": "simple", "header": "simple", "query": "form", "cookie": "form"}
_NEGOTIATED = frozenset({"accept", "content-type"})
"""Headers that are not parameters: the media types that an operation declares say what they may be."""


@dataclass(frozen=True, slots=True)
class OpenApiOperation:
    """An operation of a service, and the form of its requests."""

    id: str
    method: str
    path: str
    parameters: tuple[Parameter, ...] = ()
    body: RequestBody | None = None
    servers: tuple[dict[str, Any], ...] = field(default=(), repr=False)
    security: tuple[dict[str, Any], ...] | None = None
    """The schemes that are needed, by name, in each of several possibilities; None if nothing is said."""
    schemes: tuple[str, ...] = ()
    """Of version 2.0: how the server can be reached, such as `https`."""
    responses: Responses | None = field(default=None, repr=False)


def find_operation(document: Document, operation_id: str) -> OpenApiOperation:
    """Return the operation of that id. Raises CallFailed, naming a near one, if the document has none."""
    known: list[str] = []
    for path, method, item, operation in _operations(document):
        known.append(str(operation.value.get("operationId", "")))
        if known[-1] == operation_id:
            return _read(document, path, method, item, operation)
    message = f"the document '{document.name}' has no operation '{operation_id}'"
    raise permanent_failure("UnknownOperation", message + suggestion(operation_id, known))


def _operations(document: Document) -> Iterator[tuple[str, str, DocumentPart, DocumentPart]]:
    for path, item in DocumentPart(document, document.content).named("paths"):
        for method in _METHODS:
            if isinstance(item.value.get(method), dict):
                yield path, method, item, item.part(method)


def _read(document: Document, path: str, method: str, item: DocumentPart, operation: DocumentPart) -> OpenApiOperation:
    root, fields = document.content, operation.value
    declared = {
        (str(part.value.get("name")), str(part.value.get("in"))): part
        for part in [*item.parts("parameters"), *operation.parts("parameters")]
    }
    consumes = _texts(fields.get("consumes") or root.get("consumes"))
    servers = (_objects(holder.get("servers")) for holder in (fields, item.value, root))
    security = fields.get("security", root.get("security"))
    return OpenApiOperation(
        id=str(fields["operationId"]),
        method=method.upper(),
        path=path,
        parameters=tuple(
            _swagger_parameter(part) if document.is_swagger else _parameter(part)
            for part in declared.values()
            if _is_parameter(part)
        ),
        body=read_swagger_body(list(declared.values()), consumes)
        if document.is_swagger
        else read_body(operation, document),
        servers=next(filter(None, servers), ()),
        security=_objects(security) if isinstance(security, list) else None,
        schemes=tuple(_texts(fields.get("schemes") or root.get("schemes"))),
        responses=Responses(document, operation, tuple(_texts(fields.get("produces") or root.get("produces")))),
    )


def _is_parameter(part: DocumentPart) -> bool:
    where, name = str(part.value.get("in")), str(part.value.get("name")).lower()
    return where in _DEFAULT_STYLE and not (where == "header" and name in _NEGOTIATED)


def _is_required(fields: dict[str, Any]) -> bool:
    # Of a parameter `Authorization` the specification says that it is ignored: credentials are what auths are for.
    is_credential = fields["in"] == "header" and str(fields.get("name")).lower() == "authorization"
    return fields["in"] == "path" or (fields.get("required") is True and not is_credential)


def _parameter(part: DocumentPart) -> Parameter:
    fields, where = part.value, str(part.value["in"])
    style = str(fields.get("style", _DEFAULT_STYLE[where]))
    media_type = next(iter(part.part("content").value), None)
    holder = part if media_type is None else part.part("content").part(media_type)
    return Parameter(
        name=str(fields["name"]),
        where=where,
        required=_is_required(fields),
        default=_default(holder),
        style=style,
        explode=bool(fields.get("explode", style in {"form", "deepObject"})),
        media_type=media_type,
        allow_reserved=fields.get("allowReserved") is True,
        allow_empty=fields.get("allowEmptyValue") is True,
        is_integer=_is_integer(holder.part("schema")),
    )


def _default(holder: DocumentPart) -> JSON:
    """Return the default of the schema that *holder* has: its own, which 3.1 lets stand beside a reference, or that."""
    own = holder.value.get("schema")
    beside = own.get("default") if isinstance(own, dict) else None
    return holder.part("schema").value.get("default") if beside is None else beside


def _is_integer(schema: DocumentPart) -> bool:
    """Tell whether a value, or an item of it, is to be an integer, perhaps among other types."""
    kinds = (each.value.get("type") for each in (schema, schema.part("items")))
    return any("integer" in (kind if isinstance(kind, list) else [kind]) for kind in kinds)


def _swagger_parameter(part: DocumentPart) -> Parameter:
    # Version 2.0 writes the schema into the parameter itself.
    fields, where = part.value, str(part.value["in"])
    style, explode = collection_style(fields)
    return Parameter(
        name=str(fields["name"]),
        where=where,
        required=_is_required(fields),
        default=fields.get("default"),
        style=_DEFAULT_STYLE[where] if style == "form" else style,
        explode=explode,
        allow_empty=fields.get("allowEmptyValue") is True,
        is_integer=_is_integer(part),
    )


def _objects(value: object) -> tuple[dict[str, Any], ...]:
    return tuple(item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()


def _texts(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []
