"""Which request do an operation and its arguments make?"""

import re
from collections.abc import Sequence

from swf_temporal.data import JSON
from swf_temporal.functions.bodies import write_body
from swf_temporal.functions.call import did_you_mean, refusal
from swf_temporal.functions.http import Request
from swf_temporal.functions.operations import Body, Operation, Parameter
from swf_temporal.functions.parameters import in_cookie, in_header, in_path, in_query


def build_request(operation: Operation, server: str, arguments: JSON) -> Request:
    """Return the request that asks *server* for *operation*.

    Each parameter takes the argument of its name, or its default; null is the same as absent. The other
    arguments are the body. An argument that is neither is a mistake, and is not passed over in silence.
    Raises CallFailed.
    """
    named = _named(operation, arguments)
    values = {parameter: _value(operation, parameter, named) for parameter in operation.parameters}
    given = [(parameter, value) for parameter, value in values.items() if value is not None]
    headers = [
        (parameter.name, in_header(parameter, value)) for parameter, value in given if parameter.where == "header"
    ]
    cookies = [in_cookie(parameter, value) for parameter, value in given if parameter.where == "cookie"]
    if cookies:
        headers.append(("Cookie", "; ".join(cookies)))
    content = None
    body = arguments if not isinstance(arguments, dict) else _body_value(operation, named)
    if operation.body is not None and (body is not None or operation.body.required):
        content, media_type = write_body({} if body is None else body, operation.body.media_type)
        headers.append(("Content-Type", media_type))
    return Request(operation.method, _url(operation, server, given), tuple(headers), content)


def _named(operation: Operation, arguments: JSON) -> dict[str, JSON]:
    if isinstance(arguments, dict):
        return arguments
    if arguments is None or operation.body is not None:
        return {}
    raise refusal("BadArguments", f"operation '{operation.id}' takes its arguments by name, as an object")


def _value(operation: Operation, parameter: Parameter, named: dict[str, JSON]) -> JSON:
    value = named.get(parameter.name)
    if value is None:
        value = parameter.default
    if value is None and parameter.required:
        state = "is null" if parameter.name in named else "is missing"
        message = f"operation '{operation.id}': the argument '{parameter.name}' ({parameter.where}) {state}"
        raise refusal("BadArguments", message)
    return value


def _body_value(operation: Operation, named: dict[str, JSON]) -> JSON:
    """Return the arguments that are the body, or None if there is none."""
    parameters = {parameter.name for parameter in operation.parameters}
    body = operation.body
    if body is None:
        for name in named:
            if name not in parameters:
                message = f"operation '{operation.id}' takes no argument '{name}'{did_you_mean(name, parameters)}"
                raise refusal("BadArguments", message)
        return None
    # `PUT /orders/{id}` with an order that has an id: what the body's schema names too goes to both.
    rest = {name: value for name, value in named.items() if name not in parameters or name in body.properties}
    return _unwrapped(body, rest) if rest else None


def _unwrapped(body: Body, rest: dict[str, JSON]) -> JSON:
    """Return the body itself where it is passed as a whole, under the name of the body."""
    if list(rest) == [body.name] and body.name not in body.properties:
        return rest[body.name]
    return rest


def _url(operation: Operation, server: str, given: Sequence[tuple[Parameter, JSON]]) -> str:
    places = {parameter.name: in_path(parameter, value) for parameter, value in given if parameter.where == "path"}

    def fill(match: re.Match[str]) -> str:
        if match[1] not in places:
            message = f"the path {operation.path} of operation '{operation.id}' has an undeclared '{match[1]}'"
            raise refusal("BadDocument", message)
        return places[match[1]]

    path = re.sub(r"\{([^{}]+)\}", fill, operation.path)
    query = [in_query(parameter, value) for parameter, value in given if parameter.where == "query"]
    url = server.rstrip("/") + "/" + path.lstrip("/")
    return "?".join([url, "&".join(piece for piece in query if piece)]) if any(query) else url
