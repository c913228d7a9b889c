"""An operation as an OpenAPI document describes it, and the URL of its service.

Versions 2.0, 3.0 and 3.1 are read into one model, with the terms of 3.0.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import permanent_failure
from swf_temporal.base.function_types import Callee
from swf_temporal.base.strict_json import read_written, write_json
from swf_temporal.expressions.json_schema import BadSchema, DataSchemaValidator
from swf_temporal.functions.documents.documents import is_web
from swf_temporal.functions.documents.parts import Document, DocumentPart, self_contained
from swf_temporal.functions.documents.servers import no_server, variable_value
from swf_temporal.functions.http.media_types import FORM, MULTIPART, accept, closest, is_form
from swf_temporal.functions.http.parameters import FormField, Parameter
from swf_temporal.functions.urls import split_url
from swf_temporal.settings.calls import Settings
from swf_temporal.text.bodies import is_json, split_content_type
from swf_temporal.text.suggestions import suggestion

if TYPE_CHECKING:
    from swf_temporal.functions.http.client import HttpResponse

_COMBINING = ("oneOf", "anyOf", "allOf")
_STYLES = {"csv": "form", "ssv": "spaceDelimited", "tsv": "tabDelimited", "pipes": "pipeDelimited", "multi": "form"}


@dataclass(frozen=True, slots=True)
class Content:
    """One of the media types in which a body can be sent."""

    media_type: str = "application/json"
    fields: Mapping[str, FormField] = field(default_factory=dict)
    defaults: Mapping[str, JSON] = field(default_factory=dict)
    """The default values of required properties."""


@dataclass(frozen=True, slots=True)
class RequestBody:
    """The arguments that are not parameters."""

    contents: tuple[Content, ...] = (Content(),)
    required: bool = False
    name: str = "body"
    """The name of the argument that may hold the whole body."""
    properties: frozenset[str] = frozenset()
    """The fields in the schemas that may be sent; others are possible too."""


def read_body(operation: DocumentPart, root: Document) -> RequestBody | None:
    """Return the body that an operation of *root*, a document of version 3, declares, or None."""
    node = operation.part("requestBody")
    if not node.value:
        return None
    contents = dict(node.named("content")) or {"application/json": DocumentPart(node.document, {})}
    schemas = [properties_of(content.part("schema")) for content in contents.values()]
    return RequestBody(
        contents=tuple(
            Content(
                media_type,
                _fields(media_type, content, properties, root),
                _defaults(content.part("schema"), properties),
            )
            for (media_type, content), properties in zip(contents.items(), schemas, strict=True)
        ),
        required=node.value.get("required") is True,
        properties=frozenset().union(*(_sendable(properties) for properties in schemas)),
    )


def read_swagger_body(declared: list[DocumentPart], consumes: list[str]) -> RequestBody | None:
    """Return the body that the parameters of an operation of version 2.0 define, or None."""
    fields = {str(part.value.get("name")): part for part in declared if part.value.get("in") == "formData"}
    if fields:
        has_files = any(part.value.get("type") == "file" for part in fields.values())
        content = Content(
            MULTIPART if has_files or consumes[:1] == [MULTIPART] else FORM,
            {name: _swagger_field(part.value) for name, part in fields.items()},
            {name: part.value["default"] for name, part in fields.items() if _is_filled(part.value)},
        )
        required = any(part.value.get("required") is True for part in fields.values())
        return RequestBody((content,), required, properties=frozenset(fields))
    for part in declared:
        if part.value.get("in") == "body":
            properties = properties_of(part.part("schema"))
            content = Content(defaults=_defaults(part.part("schema"), properties))
            return RequestBody(
                contents=tuple(replace(content, media_type=kind) for kind in consumes or ["application/json"]),
                required=part.value.get("required") is True,
                name=str(part.value.get("name", "body")),
                properties=_sendable(properties),
            )
    return None


def properties_of(schema: DocumentPart) -> dict[str, DocumentPart]:
    """Return the properties in a schema and in the schemas that it is composed of."""
    found: dict[str, DocumentPart] = {}
    for part in _made_of(schema):
        for name, property_schema in part.named("properties"):
            found.setdefault(name, property_schema)
    return found


def collection_style(node: Mapping[str, Any]) -> tuple[str, bool]:
    """Return style and explode for a collection format of version 2.0."""
    name = str(node.get("collectionFormat", "csv"))
    return _STYLES.get(name, "form"), name == "multi"


def _made_of(schema: DocumentPart, *keys: str) -> Iterator[DocumentPart]:
    """Yield a schema and those that it is composed of by *keys*, each once: a schema may be part of itself."""
    waiting, seen = [schema], set[int]()
    while waiting:
        part = waiting.pop()
        if id(part.value) not in seen:
            seen.add(id(part.value))
            yield part
            waiting.extend(each for key in keys or _COMBINING for each in reversed(part.parts(key)))


def _sendable(properties: Mapping[str, DocumentPart]) -> frozenset[str]:
    return frozenset(name for name, schema in properties.items() if schema.value.get("readOnly") is not True)


def _defaults(schema: DocumentPart, properties: Mapping[str, DocumentPart]) -> dict[str, JSON]:
    parts = (part.value.get("required") for part in _made_of(schema, "allOf"))
    required = [name for names in parts for name in names or () if isinstance(name, str)]
    sendable = _sendable(properties)
    return {
        name: properties[name].value["default"]
        for name in required
        if name in sendable and properties[name].value.get("default") is not None
    }


def _fields(
    media_type: str, content: DocumentPart, properties: Mapping[str, DocumentPart], root: Document
) -> dict[str, FormField]:
    """Return the encoding of the fields of a form; other media types have none."""
    kind = split_content_type(media_type)[0]
    if not is_form(kind):
        return {}
    # In multipart forms, version 3.0 ignores styles.
    has_styles = kind == FORM or (kind == MULTIPART and not str(root.content.get("openapi")).startswith("3.0"))
    encoding = content.part("encoding")
    return {name: _field(schema, encoding.part(name), has_styles=has_styles) for name, schema in properties.items()}


def _field(schema: DocumentPart, encoding: DocumentPart, *, has_styles: bool) -> FormField:
    fields = encoding.value
    # Whether a field may be null, or is an array, may be in any part of its schema.
    possible = [each.value for part in _made_of(schema) for each in (part, part.part("items"))]
    is_styled = has_styles and bool({"style", "explode", "allowReserved"} & fields.keys())
    style = str(fields.get("style", "form")) if is_styled else None
    return FormField(
        style,
        explode=bool(fields.get("explode", style in {"form", "deepObject"})) if is_styled else True,
        allow_reserved=is_styled and fields.get("allowReserved") is True,
        content_type=fields.get("contentType") or next(filter(None, map(_content_type, possible)), None),
        headers={name: str(value) for name, part in encoding.named("headers") if (value := _fixed(part)) is not None},
        is_file=any(map(_is_binary, possible)),
    )


def _is_binary(schema: dict[str, Any]) -> bool:
    # In version 3.1 this is a media type without an encoding.
    return schema.get("format") == "binary" or _content_type(schema) is not None


def _content_type(schema: dict[str, Any]) -> str | None:
    kind = schema.get("contentMediaType")
    return str(kind) if isinstance(kind, str) and "contentEncoding" not in schema else None


def _fixed(header: DocumentPart) -> JSON:
    """Return the fixed value of a part's header, or None if it may vary."""
    schema = header.part("schema").value
    possible = schema.get("enum")
    only = possible[0] if isinstance(possible, list) and len(possible) == 1 else None
    return schema.get("const", schema.get("default", only))


def _swagger_field(node: Mapping[str, Any]) -> FormField:
    if node.get("type") == "file":
        return FormField(is_file=True)
    if node.get("type") != "array":
        return FormField()
    style, explode = collection_style(node)
    return FormField(style, explode=explode)


def _is_filled(node: Mapping[str, Any]) -> bool:
    return node.get("required") is True and node.get("default") is not None


_MAX_VALIDATORS = 128
_ANY = "*/*"

ResponseSchemas = Mapping[str, Mapping[str, JSON]]
"""By status, `2XX` or `DEFAULT`: the declared media types with their schemas, or None for one without."""


@dataclass(frozen=True, slots=True)
class Responses:
    """The answers that an operation declares, without errors."""

    root: Document
    operation: DocumentPart
    produces: tuple[str, ...] = ()
    """The media types of all answers, in version 2.0."""

    def accepted(self) -> str | None:
        """Return the header Accept for the operation, or None if it does not declare its answers."""
        if self.root.is_swagger:
            return accept(self.produces)
        return accept(kind for _, response in self._declared() for kind in response.part("content").value)

    def expected(self) -> ResponseSchemas:
        """Return the declared answers, with self-contained schemas. Raises CallFailed if a schema is invalid."""
        contents = self._swagger_contents if self.root.is_swagger else self._contents
        return {status: dict(contents(response)) for status, response in self._declared()}

    def _declared(self) -> Iterator[tuple[str, DocumentPart]]:
        declared = {name.upper(): response for name, response in self.operation.named("responses", "2", "default")}
        successes = [status for status in declared if status.startswith("2")]
        # If a success is declared, `default` is for errors.
        return ((status, declared[status]) for status in successes or declared)

    def _contents(self, response: DocumentPart) -> Iterator[tuple[str, JSON]]:
        for kind, content in response.named("content"):
            yield kind, self._schema(content)

    def _swagger_contents(self, response: DocumentPart) -> Iterator[tuple[str, JSON]]:
        if "schema" in response.value:
            is_file = response.part("schema").value.get("type") == "file"
            for kind in self.produces or (_ANY if is_file else "application/json",):
                yield kind, None if is_file else self._schema(response)

    def _schema(self, holder: DocumentPart) -> JSON:
        if "schema" not in holder.value:
            return None
        schema = self_contained(self.root, holder.document, holder.value["schema"])
        try:
            _validator(write_json(schema))
        except BadSchema as error:
            message = f"'{holder.document.name}' has an invalid schema for an answer: {error.message}"
            raise permanent_failure("BadDocument", message) from error
        return schema


def violations(expected: ResponseSchemas, answer: "HttpResponse") -> list[str]:
    """Return the errors in a successful answer, each with its place; empty if it matches."""
    statuses = (str(answer.status), f"{answer.status // 100}XX", "DEFAULT")
    contents = next((expected[status] for status in statuses if status in expected), None)
    if contents is None:
        return [f"the status {answer.status} is not declared"]
    if not contents:
        return []
    if answer.is_empty:
        return [f"it is empty, and not {' or '.join(contents)}"]
    kind = split_content_type(answer.content_type)[0]
    declared = closest(contents, kind)
    if declared is None:
        return [f"it is {kind or 'of no content type'}, and not {' or '.join(contents)}"]
    schema = contents[declared]
    # Texts and files are not converted; schemas of XML do not apply to JSON.
    return _validator(write_json(schema)).violations(answer.body) if schema is not None and is_json(kind) else []


@lru_cache(maxsize=_MAX_VALIDATORS)
def _validator(schema: str) -> DataSchemaValidator:
    return DataSchemaValidator(read_written(schema))


_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_DEFAULT_STYLE = {"path": "simple", "header": "simple", "query": "form", "cookie": "form"}
_NEGOTIATED = frozenset({"accept", "content-type"})
"""Headers that are not parameters: the media types that an operation declares determine them."""


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
    """The alternatives of required schemes, by name; None if nothing is declared."""
    schemes: tuple[str, ...] = ()
    """The URL schemes of the server in version 2.0, such as `https`."""
    responses: Responses | None = field(default=None, repr=False)


def find_operation(document: Document, operation_id: str) -> OpenApiOperation:
    """Return the operation of that id. Raises CallFailed, suggesting a similar one, if the document has none."""
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
    # By the specification, a parameter `Authorization` is ignored: auths are for credentials.
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
    """Return the default in the schema of *holder*: its own, which 3.1 allows beside a reference, or the target's."""
    own = holder.value.get("schema")
    beside = own.get("default") if isinstance(own, dict) else None
    return holder.part("schema").value.get("default") if beside is None else beside


def _is_integer(schema: DocumentPart) -> bool:
    """Return whether a value, or an item of it, is to be an integer, perhaps among other types."""
    kinds = (each.value.get("type") for each in (schema, schema.part("items")))
    return any("integer" in (kind if isinstance(kind, list) else [kind]) for kind in kinds)


def _swagger_parameter(part: DocumentPart) -> Parameter:
    # In version 2.0, the parameter itself is the schema.
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


def server_url(
    settings: Settings,
    callee: Callee,
    document: Document,
    operation: OpenApiOperation,
    variables: Mapping[str, JSON] | None = None,
) -> str:
    """Return the URL that precedes an operation's path.

    A configured one takes precedence: for the function, for the service, for all. Then it is the document's first
    server, or the first with the *variables* that the definition gives; others have their defaults. A server relative
    to the document requires a document that was fetched. Raises CallFailed if there is no server.
    """
    configured = settings.base_url_for(callee)
    if configured:
        return configured
    declared = (
        _swagger_server(document, operation) if document.is_swagger else _server(document, operation, variables or {})
    )
    try:
        url = urljoin(document.url, declared) if document.url else declared
    except ValueError as error:
        message = f"the server '{declared}', which '{document.name}' names, is not a URL: {error}"
        raise permanent_failure("BadUrl", message) from error
    if not is_web(url):
        raise no_server(callee.function, f"the document '{document.name}' does not name one")
    return url


def _server(document: Document, operation: OpenApiOperation, given: Mapping[str, JSON]) -> str:
    servers = operation.servers or ({},)
    known = [document.resolve(server.get("variables")) for server in servers]
    place = next((place for place, declared in enumerate(known) if given.keys() <= declared.keys()), 0)
    server, declared = servers[place], known[place]
    for name in given:
        if name not in declared:
            message = f"the server in '{document.name}' has no variable '{name}'{suggestion(name, declared)}"
            raise permanent_failure("BadOperation", message)

    def fill(match: re.Match[str]) -> str:
        name = match[1]
        if name not in declared:
            raise permanent_failure(
                "BadDocument", f"the server in '{document.name}' has an undeclared variable '{name}'"
            )
        return variable_value(document, name, document.resolve(declared[name]), given.get(name))

    return re.sub(r"\{([^{}]+)\}", fill, str(server.get("url", "/")))


def _swagger_server(document: Document, operation: OpenApiOperation) -> str:
    content = document.content
    path = str(content.get("basePath", "/"))
    host = content.get("host")
    if not host:
        return path
    own = split_url(document.url).scheme if document.url else "http"
    scheme = "https" if "https" in operation.schemes else next(iter(operation.schemes), own)
    return f"{scheme}://{host}{path}"
