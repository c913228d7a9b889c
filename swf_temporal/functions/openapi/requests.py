"""The request for an operation and its arguments."""

import re
from collections.abc import Sequence

from swf_temporal.base.data import JSON, plain_numbers
from swf_temporal.base.errors import permanent_failure
from swf_temporal.functions.http.bodies import write_body
from swf_temporal.functions.http.media_types import choose, closest, concrete, has_fields, is_file
from swf_temporal.functions.http.parameters import Parameter, as_text, in_cookie, in_header, in_path, in_query
from swf_temporal.functions.http.requests import Request
from swf_temporal.functions.openapi.operations import Content, OpenApiOperation, RequestBody
from swf_temporal.text.bodies import split_content_type
from swf_temporal.text.suggestions import suggestion

_ACCEPT = "accept"
_CONTENT_TYPE = "content-type"


def build_request(operation: OpenApiOperation, server: str, arguments: JSON) -> Request:
    """Return the request to *server* for *operation*.

    Each parameter takes the argument of its name, or its default; null is the same as absent. The arguments `Accept`
    and `Content-Type` choose the media types of answer and request, if there is a choice. The others are the body. An
    argument that fits nowhere is an error, and not ignored. Raises CallFailed.
    """
    asked, arguments = _without_media_types(operation, arguments)
    named = _named(operation, arguments)
    values = ((parameter, _value(operation, parameter, named)) for parameter in operation.parameters)
    given = [(parameter, value) for parameter, value in values if value is not None]
    headers = [
        (parameter.name, in_header(parameter, value)) for parameter, value in given if parameter.where == "header"
    ]
    cookies = [in_cookie(parameter, value) for parameter, value in given if parameter.where == "cookie"]
    if any(cookies):
        headers.append(("Cookie", "; ".join(filter(None, cookies))))
    accepted = asked.get(_ACCEPT) or (operation.responses and operation.responses.accepted())
    if accepted:
        headers.append(("Accept", accepted))
    content = None
    body = arguments if not isinstance(arguments, dict) else _body_value(operation, named)
    if operation.body is not None and (body is not None or operation.body.required):
        content, media_type = _written(operation, operation.body, body, asked)
        headers.append(("Content-Type", media_type))
    return Request(operation.method, _url(operation, server, given), tuple(headers), content)


def _without_media_types(operation: OpenApiOperation, arguments: JSON) -> tuple[dict[str, str], JSON]:
    """Return the media types that the arguments ask for, by names in lower case, and the other arguments."""
    if not isinstance(arguments, dict):
        return {}, arguments
    fields = operation.body.properties if operation.body else ()
    names = [name for name in arguments if name.lower() in {_ACCEPT, _CONTENT_TYPE} and name not in fields]
    if operation.body is None:
        names = [name for name in names if name.lower() == _ACCEPT]
    asked = {name.lower(): as_text(arguments[name]) for name in names}
    return asked, {name: value for name, value in arguments.items() if name not in names} if names else arguments


def _named(operation: OpenApiOperation, arguments: JSON) -> dict[str, JSON]:
    if isinstance(arguments, dict):
        return arguments
    if arguments is None or operation.body is not None:
        return {}
    raise permanent_failure("BadArguments", f"operation '{operation.id}' takes its arguments by name, as an object")


def _value(operation: OpenApiOperation, parameter: Parameter, named: dict[str, JSON]) -> JSON:
    value = named.get(parameter.name)
    if value is None:
        value = parameter.default
    if value is None and parameter.required:
        state = "is null" if parameter.name in named else "is missing"
        message = f"operation '{operation.id}': the argument '{parameter.name}' ({parameter.where}) {state}"
        raise permanent_failure("BadArguments", message)
    return plain_numbers(value) if parameter.is_integer else value


def _body_value(operation: OpenApiOperation, named: dict[str, JSON]) -> JSON:
    """Return the arguments that are the body, or None if there are none."""
    parameters = {parameter.name for parameter in operation.parameters}
    body = operation.body
    if body is None:
        for name in named:
            if name not in parameters:
                message = f"operation '{operation.id}' takes no argument '{name}'{suggestion(name, parameters)}"
                raise permanent_failure("BadArguments", message)
        return None
    # `PUT /orders/{id}` with an order that has an id: an argument that the body's schema also names goes to both.
    rest = {name: value for name, value in named.items() if name not in parameters or name in body.properties}
    return _unwrapped(body, rest) if rest else None


def _unwrapped(body: RequestBody, rest: dict[str, JSON]) -> JSON:
    """Return the body itself if it is passed as a whole, under the name of the body."""
    if list(rest) == [body.name] and body.name not in body.properties:
        return rest[body.name]
    return rest


def _written(operation: OpenApiOperation, body: RequestBody, value: JSON, asked: dict[str, str]) -> tuple[bytes, str]:
    content, media_type = _content(operation, body, {} if value is None else value, asked.get(_CONTENT_TYPE))
    if value is None:
        # A form or an object may be empty, which the service decides; others cannot be written without a value.
        if not has_fields(media_type):
            raise permanent_failure("BadArguments", f"operation '{operation.id}' needs a body, as {media_type}")
        value = {}
    if isinstance(value, dict) and not is_file(value):
        value = {**value, **{name: default for name, default in content.defaults.items() if name not in value}}
    return write_body(value, media_type, content.fields)


def _content(operation: OpenApiOperation, body: RequestBody, value: JSON, asked: str | None) -> tuple[Content, str]:
    """Return how the body is sent: as the argument `Content-Type` says, or as suits the value."""
    contents = {content.media_type: content for content in body.contents}
    if not asked:
        chosen = choose(list(contents), value)
        return contents[chosen], concrete(chosen, value)
    declared = closest(contents, asked)
    if declared is None:
        kinds = " or ".join(contents)
        message = f"operation '{operation.id}' takes its body as {kinds}, and not as '{split_content_type(asked)[0]}'"
        raise permanent_failure("BadArguments", message)
    return contents[declared], asked


def _url(operation: OpenApiOperation, server: str, given: Sequence[tuple[Parameter, JSON]]) -> str:
    places = {parameter.name: in_path(parameter, value) for parameter, value in given if parameter.where == "path"}

    def fill(match: re.Match[str]) -> str:
        if match[1] not in places:
            message = f"the path {operation.path} of operation '{operation.id}' has an undeclared '{match[1]}'"
            raise permanent_failure("BadDocument", message)
        return places[match[1]]

    path = re.sub(r"\{([^{}]+)\}", fill, operation.path)
    pieces = [in_query(parameter, value) for parameter, value in given if parameter.where == "query"]
    url = server.rstrip("/") + "/" + path.lstrip("/")
    query = "&".join(piece for piece in pieces if piece)
    return f"{url}{'&' if '?' in url else '?'}{query}" if query else url
