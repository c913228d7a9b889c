"""Functions and credentials of 0.8 as components that tasks of DSL 1.0 refer to by their names."""

import re
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from swf_temporal.base.strict_json import show_json
from swf_temporal.languages.serverless_workflow.model.actions import FunctionRef
from swf_temporal.languages.serverless_workflow.model.workflow import Auth, Function
from swf_temporal.languages.serverless_workflow.upgrading.dsl.context import (
    Context,
    Task,
    checked_uri,
    plain,
    task_name,
)
from swf_temporal.languages.serverless_workflow.upgrading.dsl.expressions import (
    Inexpressible,
    Translator,
    braced,
    grouped,
)
from swf_temporal.languages.serverless_workflow.upgrading.dsl.messages import exchanged

_BUILT_IN: Final = ("http", "openapi", "grpc", "asyncapi", "mcp", "a2a")
_NAME: Final = re.compile(r"[\w.-]+")
_PLAIN: Final = re.compile(r"(?:rest:)?\s*(?:(?P<method>[A-Za-z]+):)?(?P<uri>(?:https?:/)?/.+)")
_PARAMETER: Final = re.compile(r"\{([A-Za-z_]\w*)\}")
_HEADER, _QUERY = "HEADER_", "QUERY_"
_WITHOUT_BODY: Final = ("get", "head", "delete", "options")
_CHANGING: Final = ("configKey", "failOnStatusCode", "hideSecrets")
"""The metadata of functions that change the results of calls."""
_PLACING: Final = ("configuredAs", "longRunning", "local", "priority")
"""The metadata of functions that only the operation of workers depends on."""
_OAUTH2: Final = {
    "authority": "authority",
    "grantType": "grant",
    "scopes": "scopes",
    "audiences": "audiences",
    "username": "username",
    "password": "password",
}


SCHEMES: Final = "a secret with the name of a scheme of an OpenAPI document is not used without an authentication"


Arguments: TypeAlias = Mapping[str, Any]


def component(function: Function, context: Context, given: Arguments | None = None) -> dict[str, Any]:
    """Return *function* as an entry of `use.functions`, or as a task that calls it with the arguments *given*.

    Raises Inexpressible.
    """
    said = f"the function {function.name!r}"
    if function.name in _BUILT_IN:
        raise Inexpressible(f"{said}, whose name is one of 1.0's own functions")
    for key in function.metadata:
        if key in (*_CHANGING, *_PLACING):
            context.differs(f"{said} has {key!r} in its metadata, which 1.0 does not have", function)
    operation = function.operation
    is_plain = isinstance(operation, str) and (function.type == "http" or operation.startswith("rest:"))
    if is_plain or (isinstance(operation, Mapping) and function.type in ("http", "rest", "openapi", "custom")):
        return _http(function, context, given)
    if function.type in ("rest", "openapi"):
        return _openapi(function, context, given)
    if function.type == "rpc":
        return _grpc(function, context, given)
    if function.type == "asyncapi":
        return _asyncapi(function, context, given)
    return _custom(function, context, given)


def in_place(function: Function, arguments: Arguments, translate: Translator, context: Context) -> dict[str, Any]:
    """Return a task that calls *function* with *arguments*, without its entry in `use.functions`.

    Raises Inexpressible.
    """
    made = component(function, context, translate.template(arguments))
    endpoint = made.get("with", {}).get("endpoint")
    if made["call"] == "http" and endpoint is not None:
        # The names in a URI template are those of properties of the input, and not of arguments.
        uri = endpoint if isinstance(endpoint, str) else endpoint["uri"]
        filled = _with_path(uri, arguments, translate)
        made["with"]["endpoint"] = filled if isinstance(endpoint, str) else {**endpoint, "uri": filled}
    return made


def _with_path(uri: str, arguments: Arguments, translate: Translator) -> str:
    *pieces, last = _PARAMETER.split(uri)
    if not pieces:
        return uri
    texts = [
        f"{show_json(text)[1:-1]}\\({grouped(translate.construction(arguments.get(name)))} | tostring | @uri)"
        for text, name in zip(pieces[::2], pieces[1::2], strict=True)
    ]
    return braced(f'"{"".join(texts)}{show_json(last)[1:-1]}"')


def _custom(function: Function, context: Context, given: Arguments | None) -> dict[str, Any]:
    """Return a call of a function of the worker: what 1.0 has no call for becomes one, too."""
    name = function.name if function.operation is None else function.operation
    if function.type == "custom" and isinstance(name, str) and _NAME.fullmatch(name) and name != "sysout":
        context.reshaped(f"{name}:1.0.0@default is the function {name!r} that a worker has", function)
        written = {}
    else:
        written = {"metadata": {"original": plain(function.model_dump(by_alias=True, exclude_unset=True))}}
        said = f"the type {function.type!r}" if function.type != "custom" else f"the operation {name!r}"
        name = task_name(function.name)
        names = {} if _is_called_by_expression(function, context) else _parameters(function, context, given)
        context.report.to_write[name] = tuple(names)
        context.differs(
            f"1.0 has no counterpart of {said}: {name}:1.0.0@default is called, which the worker has to have", function
        )
    if function.auth_ref is not None:
        context.differs(f"the credentials of the function {function.name!r} are the worker's business", function)
    return {"call": f"{name}:1.0.0@default", **({} if given is None else {"with": dict(given)}), **written}


def _http(function: Function, context: Context, arguments: Arguments | None) -> dict[str, Any]:
    """Return a call by plain HTTP: its arguments fill the URL, and are the query or the body."""
    operation = function.operation
    method, uri, written = _request(function, context)
    names = _PARAMETER.findall(uri)
    takes_body = method not in _WITHOUT_BODY and not isinstance(operation, Mapping)
    if arguments is None and takes_body and not names and _is_called_by_expression(function, context):
        given = {}
        body: Any = "${ . }"
    else:
        parameters = _parameters(function, context, arguments)
        given, body = {key: value for key, value in parameters.items() if key not in names}, None
    headers, query = dict(written.get("headers") or {}), dict(written.get("query") or {})
    is_object = isinstance(operation, Mapping)
    rest: dict[str, str] = {}
    for key, value in given.items():
        if not is_object and key.startswith(_HEADER):
            headers[key.removeprefix(_HEADER)] = value
        elif not is_object and key.startswith(_QUERY):
            query[key.removeprefix(_QUERY)] = value
        elif is_object and key in ("headers", "query", "cookies"):
            raise Inexpressible(f"{key} in the arguments of the function {function.name!r}")
        else:
            rest[key] = value
    if is_object and "body" in rest:
        body = rest.pop("body")
        query |= rest
    elif method in _WITHOUT_BODY:
        query |= rest
    elif rest:
        body = rest
    policy = policy_of(function, context)
    made: dict[str, Any] = {
        "method": method,
        "endpoint": uri if policy is None else {"uri": uri, "authentication": policy},
        "headers": context.translate.template(headers),
        "query": context.translate.template(query),
        "body": body,
    }
    return {"call": "http", "with": {key: value for key, value in made.items() if value not in (None, {})}}


def _request(function: Function, context: Context) -> tuple[str, str, dict[str, Any]]:
    """Return the method, the URL, and the headers and the query that the operation of *function* has."""
    operation = function.operation
    if isinstance(operation, Mapping):
        written = dict(operation)
        method, uri = str(written.pop("method", "get")).lower(), written.pop("uri", None)
    else:
        found = _PLAIN.fullmatch(str(operation).strip())
        written = {}
        method, uri = (found["method"] or "get").lower() if found else "", found["uri"] if found else None
    if (
        not isinstance(uri, str)
        or "${" in uri
        or any(map(str.isspace, uri))
        or "{" in _PARAMETER.sub("", uri)
        or written.keys() - {"headers", "query"}
    ):
        raise Inexpressible(f"the operation {operation!r} of the function {function.name!r}")
    if not uri.startswith(("http://", "https://")):
        context.differs(
            f"the server of the function {function.name!r} is not in the definition: write it into endpoint",
            function,
        )
    return method, uri, written


def _openapi(function: Function, context: Context, given: Arguments | None) -> dict[str, Any]:
    document, operation = _parts(function, 2)
    made: dict[str, Any] = {
        "document": _document(document, function, context),
        "operationId": operation,
    }
    parameters = _parameters(function, context, given)
    if parameters:
        made["parameters"] = parameters
    policy = policy_of(function, context)
    if policy is None and context.workflow.secrets:
        context.note([SCHEMES])
    return {"call": "openapi", "with": made if policy is None else {**made, "authentication": policy}}


def _grpc(function: Function, context: Context, given: Arguments | None) -> dict[str, Any]:
    proto, service, method = _parts(function, 3)
    if "host" not in function.metadata:
        context.differs(
            f"1.0 has the server of a gRPC call in the definition: localhost is written for {function.name!r}", function
        )
    server = {"host": "localhost"} | {
        key: function.metadata[key] for key in ("host", "port") if key in function.metadata
    }
    policy = policy_of(function, context)
    return {
        "call": "grpc",
        "with": {
            "proto": _document(proto, function, context),
            "service": {"name": service, **server, **({} if policy is None else {"authentication": policy})},
            "method": method,
            "arguments": _parameters(function, context, given),
        },
    }


def _asyncapi(function: Function, context: Context, given: Arguments | None) -> dict[str, Any]:
    """Return a call that sends a message or receives one, as the document says or the operation itself."""
    if isinstance(function.operation, Mapping):
        named = {key: str(value) for key, value in function.operation.items()}
        document = named.pop("document", "")
    else:
        document, operation = _parts(function, 2)
        named = {"operation": operation}
    calls = _arguments_of(function, context) if given is None else [given]
    exchange = exchanged(function, document, named, _parameters(function, context, given), calls, context)
    named.pop("action", None)
    policy = policy_of(function, context)
    made: dict[str, Any] = {"document": _document(document, function, context), **named, **exchange}
    if policy is not None:
        made["authentication"] = policy
    if "subscription" not in exchange:
        return {"call": "asyncapi", "with": made}
    result = ".[0]" if function.metadata.get("result") == "message" else ".[0].payload"
    return {"call": "asyncapi", "with": made, "output": {"as": result}}


def _parameters(function: Function, context: Context, given: Arguments | None) -> dict[str, Any]:
    """Return the arguments *given*, or those of *function* as it is called, by their names."""
    if given is not None:
        return dict(given)
    calls = _arguments_of(function, context)
    if not all(isinstance(arguments, Mapping) for arguments in calls):
        raise Inexpressible(f"arguments of the function {function.name!r} that are not written as an object")
    keys = list(dict.fromkeys(key for arguments in calls for key in arguments))
    if any(arguments.keys() != set(keys) for arguments in calls):
        context.differs(f"arguments of the function {function.name!r} that a call does not give are null", function)
    return {key: braced(f".{key}" if key.isidentifier() else f".[{show_json(key)}]") for key in keys}


def _arguments_of(function: Function, context: Context) -> list[Any]:
    """Return the arguments of each call of *function*."""
    calls = (one for one, _ in context.nodes.each(FunctionRef) if one.ref_name == function.name)
    return [context.translate.arguments(one.arguments) for one in calls]


def _is_called_by_expression(function: Function, context: Context) -> bool:
    """Return whether the arguments of all calls of *function* are one expression each."""
    calls = _arguments_of(function, context)
    return all(isinstance(arguments, str) for arguments in calls)


def _parts(function: Function, number: int) -> list[str]:
    operation = function.operation
    parts = operation.split("#") if isinstance(operation, str) else []
    if len(parts) != number or "${" in str(operation) or not all(parts):
        raise Inexpressible(f"the operation {operation!r} of the function {function.name!r}")
    return parts


def _document(located: str, function: Function, context: Context) -> dict[str, Any]:
    checked_uri(located, f"the document of the function {function.name!r}")
    # One function names the credentials for all functions of the same document.
    sharing = [function, *(one for one in context.workflow.functions if str(one.operation).startswith(f"{located}#"))]
    names = (one.auth_ref.resource for one in sharing if one.auth_ref is not None)
    policy = _use(next((one for one in names if one is not None), None), context)
    return {"endpoint": located if policy is None else {"uri": located, "authentication": policy}}


def policy_of(function: Function, context: Context) -> dict[str, str] | None:
    """Return the authentication of calls of *function*. Raises Inexpressible."""
    return _use(None if function.auth_ref is None else function.auth_ref.invocation, context)


def _use(name: str | None, context: Context) -> dict[str, str] | None:
    if name is None:
        return None
    for one in context.workflow.auth:
        if one.name == name:
            authentication(one, context)
    return {"use": name}


def asked(function: Function, ref: FunctionRef, context: Context) -> tuple[Task, str]:
    """Return the call of *function*, and the path of its result in the answer. Raises Inexpressible."""
    arguments = context.translate.arguments(ref.arguments)
    if not isinstance(arguments, Mapping) or not isinstance(function.operation, str) or "$SECRETS" in str(arguments):
        raise Inexpressible(f"the arguments or the operation of the function {function.name!r}")
    if function.type == "graphql":
        request, before = _graphql(function, arguments, ref.selection_set, context)
    else:
        request, before = _odata(function, arguments, context)
    policy = policy_of(function, context)
    if policy is not None:
        request["endpoint"] = {"uri": request["endpoint"], "authentication": policy}
    return {"call": "http", "with": request}, before


def _graphql(
    function: Function, arguments: Mapping[str, Any], selection: str | None, context: Context
) -> tuple[dict[str, Any], str]:
    endpoint, _, rest = str(function.operation).partition("#")
    kind, _, name = rest.partition("#")
    context.differs(
        f"1.0 has no GraphQL: {function.name!r} is called by HTTP, texts in its arguments are no values of enums, and"
        " an answer with errors is no error",
        function,
    )
    given = ", ".join(f"{key}: {_literal(value, context)}" for key, value in arguments.items())
    fields = (selection or "").strip()
    if fields and not fields.startswith("{"):
        fields = f"{{ {fields} }}"
    fields = context.translate.jq(f"_{fields}")[2:-1] if "${" in fields else show_json(fields)[1:-1]
    text = f"{kind} {{ {name}{f'({given})' if given else ''} {fields} }}".replace("  ", " ")
    quoted = f'"{text}"'
    query = braced(quoted) if "\\(" in text else quoted[1:-1].replace('\\"', '"').replace("\\n", "\n")
    return {"method": "post", "endpoint": endpoint, "body": {"query": query}}, ".data"


def _literal(value: Any, context: Context) -> str:
    """Return *value* as it stands in a query that is a text of jq."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_literal(item, context)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_literal(item, context) for item in value) + "]"
    if isinstance(value, str) and "${" in value:
        return f"\\({context.translate.jq(value)} | tojson)"
    return show_json(show_json(value))[1:-1]


def _odata(function: Function, arguments: Mapping[str, Any], context: Context) -> tuple[dict[str, Any], str]:
    service, _, entity = str(function.operation).partition("#")
    context.differs(f"1.0 has no OData: {function.name!r} is called by HTTP, and only the first page is read", function)
    uri, key = f"{service}/{entity}", arguments.get("key")
    options = arguments.get("queryOptions") or {}
    if not isinstance(options, Mapping) or isinstance(key, Mapping):
        raise Inexpressible(f"the arguments of the function {function.name!r}")
    query = {f"${name.removeprefix('$').lower()}": _option(value, context) for name, value in options.items()}
    if isinstance(key, str) and "${" in key:
        literal = 'if type == "string" then "\'\\(.)\'" else . end'
        uri = braced(f'"{uri}(\\({context.translate.jq(key)} | {literal}))"')
    elif key is not None:
        uri = f"{uri}({key!r})" if isinstance(key, str) and not key.isdigit() else f"{uri}({key})"
    made = {"method": "get", "endpoint": uri, **({"query": query} if query else {})}
    return made, ".value" if key is None else "."


def _option(value: Any, context: Context) -> Any:
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return context.translate.template(value) if isinstance(value, str) else str(value)


def authentication(auth: Auth, context: Context) -> dict[str, Any]:
    """Return *auth* as an entry of `use.authentications`. Raises Inexpressible."""
    translate = context.translate.with_secrets()
    properties = auth.properties
    if isinstance(properties, str):
        found = re.fullmatch(r"(?:\$\{\s*)?(?:\$SECRETS\.)?([\w-]+)(?:\s*\})?", properties.strip())
        if found is None or found[1] not in context.workflow.secrets:
            raise Inexpressible(f"the properties {properties!r} of the auth {auth.name!r}")
        return {auth.scheme: {"use": found[1]}}
    given = translate.template(properties) if isinstance(properties, Mapping) else {}
    given = {key: value for key, value in given.items() if key != "metadata"}
    texts = (one for value in given.values() for one in (value if isinstance(value, list) else [value]))
    if not all(isinstance(one, str) for one in texts):
        raise Inexpressible(f"the properties of the auth {auth.name!r}, which are not all texts")
    if auth.scheme == "basic" and given.keys() == {"username", "password"}:
        return {"basic": given}
    if auth.scheme == "bearer" and given.keys() == {"token"}:
        return {"bearer": given}
    if auth.scheme == "oauth2":
        # `oidc` asks the authority for its token endpoint, as 0.8 does.
        context.differs(f"the authority of the auth {auth.name!r} has to publish its token endpoint", auth)
        return {"oidc": _oauth2(auth, given)}
    raise Inexpressible(f"the auth {auth.name!r} of the scheme {auth.scheme!r}")


def _oauth2(auth: Auth, given: dict[str, Any]) -> dict[str, Any]:
    unknown = given.keys() - {*_OAUTH2, "clientId", "clientSecret"}
    grant = given.get("grantType")
    if unknown or grant not in ("password", "clientCredentials"):
        what = ", ".join(sorted(unknown)) or f"grantType {grant}"
        raise Inexpressible(f"{what} of the auth {auth.name!r}")
    made = {_OAUTH2[key]: value for key, value in given.items() if key in _OAUTH2}
    made["grant"] = "client_credentials" if grant == "clientCredentials" else grant
    client = {key: given[was] for key, was in (("id", "clientId"), ("secret", "clientSecret")) if was in given}
    if client.keys() == {"id", "secret"}:
        client["authentication"] = "client_secret_basic"
    return {**made, **({"client": client} if client else {})}
