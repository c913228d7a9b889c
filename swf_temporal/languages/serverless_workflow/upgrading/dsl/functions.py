"""Functions and credentials of 0.8 as components that tasks of DSL 1.0 refer to by their names."""

import re
from collections.abc import Mapping
from typing import Any, Final

from swf_temporal.base.strict_json import show_json
from swf_temporal.languages.serverless_workflow.model.actions import FunctionRef
from swf_temporal.languages.serverless_workflow.model.definitions import Auth, Function
from swf_temporal.languages.serverless_workflow.upgrading.dsl.context import Context
from swf_temporal.languages.serverless_workflow.upgrading.dsl.expressions import Inexpressible, braced

_BUILT_IN: Final = ("http", "openapi", "grpc", "asyncapi", "mcp", "a2a")
_NAME: Final = re.compile(r"[\w.-]+")
_PLAIN: Final = re.compile(r"(?:rest:)?\s*(?:(?P<method>[A-Za-z]+):)?(?P<uri>https?://.+)")
_PARAMETER: Final = re.compile(r"\{([A-Za-z_]\w*)\}")
_HEADER, _QUERY = "HEADER_", "QUERY_"
_WITHOUT_BODY: Final = ("get", "head", "delete", "options")
_CHANGING: Final = ("configKey", "failOnStatusCode")
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


def component(function: Function, context: Context) -> dict[str, Any]:
    """Return *function* as an entry of `use.functions`. Raises Inexpressible."""
    said = f"the function {function.name!r}"
    if function.name in _BUILT_IN:
        raise Inexpressible(f"{said}, whose name is one of 1.0's own functions")
    for key in function.metadata:
        if key in _CHANGING:
            raise Inexpressible(f"{said} with {key!r} in its metadata")
        if key in _PLACING:
            context.differs(f"{said} has {key!r} in its metadata, which 1.0 does not have", function)
    operation = function.operation
    is_plain = isinstance(operation, str) and (function.type == "http" or operation.startswith("rest:"))
    if is_plain or (isinstance(operation, Mapping) and function.type in ("http", "rest", "openapi", "custom")):
        return _http(function, context)
    if function.type == "custom":
        return _custom(function, context)
    if function.type in ("rest", "openapi"):
        return _openapi(function, context)
    if function.type == "rpc":
        return _grpc(function, context)
    raise Inexpressible(f"{said} of the type {function.type!r}")


def _custom(function: Function, context: Context) -> dict[str, Any]:
    name = function.name if function.operation is None else function.operation
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise Inexpressible(f"the operation {name!r} of the function {function.name!r}")
    if function.auth_ref is not None:
        raise Inexpressible(f"the credentials of the custom function {function.name!r}")
    context.report.reshaped(f"{name}:1.0.0@default is the function {name!r} of the worker")
    return {"call": f"{name}:1.0.0@default"}


def _http(function: Function, context: Context) -> dict[str, Any]:
    """Return a call by plain HTTP: its arguments fill the URL, and are the query or the body."""
    operation = function.operation
    if isinstance(operation, Mapping):
        written = dict(operation)
        method, uri = str(written.pop("method", "get")).lower(), written.pop("uri", None)
    else:
        found = _PLAIN.fullmatch(operation.strip())
        written = {}
        method, uri = (found["method"] or "get").lower() if found else "", found["uri"] if found else None
    names = _PARAMETER.findall(str(uri))
    if (
        not isinstance(uri, str)
        or not uri.startswith(("http://", "https://"))
        or "${" in uri
        or "{" in _PARAMETER.sub("", uri)
        or written.keys() - {"headers", "query"}
    ):
        raise Inexpressible(f"the operation {operation!r} of the function {function.name!r}")
    given = {key: value for key, value in _parameters(function, context).items() if key not in names}
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
    body: Any = None
    if is_object and "body" in rest:
        body = rest.pop("body")
        query |= rest
    elif method in _WITHOUT_BODY:
        query |= rest
    elif rest:
        body = rest
    policy = _policy(function, context)
    made: dict[str, Any] = {
        "method": method,
        "endpoint": uri if policy is None else {"uri": uri, "authentication": policy},
        "headers": context.translate.template(headers),
        "query": context.translate.template(query),
        "body": body,
    }
    return {"call": "http", "with": {key: value for key, value in made.items() if value not in (None, {})}}


def _openapi(function: Function, context: Context) -> dict[str, Any]:
    document, operation = _parts(function, 2)
    made: dict[str, Any] = {
        "document": _document(document, function, context),
        "operationId": operation,
    }
    parameters = _parameters(function, context)
    if parameters:
        made["parameters"] = parameters
    policy = _policy(function, context)
    if policy is None and context.workflow.secrets:
        context.note([SCHEMES])
    return {"call": "openapi", "with": made if policy is None else {**made, "authentication": policy}}


def _grpc(function: Function, context: Context) -> dict[str, Any]:
    proto, service, method = _parts(function, 3)
    if "host" not in function.metadata:
        raise Inexpressible(
            f"the function {function.name!r}, whose server is not in the definition: 1.0 needs its host there"
        )
    server = {key: function.metadata[key] for key in ("host", "port") if key in function.metadata}
    policy = _policy(function, context)
    return {
        "call": "grpc",
        "with": {
            "proto": _document(proto, function, context),
            "service": {"name": service, **server, **({} if policy is None else {"authentication": policy})},
            "method": method,
            "arguments": _parameters(function, context),
        },
    }


def _parameters(function: Function, context: Context) -> dict[str, str]:
    """Return the parameters of *function*, by the names of the arguments that it is called with."""
    calls = [one.arguments or {} for one, _ in context.nodes.each(FunctionRef) if one.ref_name == function.name]
    if not all(isinstance(arguments, Mapping) for arguments in calls):
        raise Inexpressible(f"arguments of the function {function.name!r} that are not written as an object")
    keys = list(dict.fromkeys(key for arguments in calls for key in arguments))
    if any(arguments.keys() != set(keys) for arguments in calls):
        context.differs(f"arguments of the function {function.name!r} that a call does not give are null", function)
    return {key: braced(f".{key}" if key.isidentifier() else f".[{show_json(key)}]") for key in keys}


def _parts(function: Function, number: int) -> list[str]:
    operation = function.operation
    parts = operation.split("#") if isinstance(operation, str) else []
    if len(parts) != number or "${" in str(operation) or not all(parts):
        raise Inexpressible(f"the operation {operation!r} of the function {function.name!r}")
    return parts


def _document(uri: str, function: Function, context: Context) -> dict[str, Any]:
    # One function names the credentials for all functions of the same document.
    sharing = [function, *(one for one in context.workflow.functions if str(one.operation).startswith(f"{uri}#"))]
    names = (one.auth_ref.resource for one in sharing if one.auth_ref is not None)
    name = next((one for one in names if one is not None), None)
    if name is None:
        return {"endpoint": uri}
    context.used_auths[name] = None
    return {"endpoint": {"uri": uri, "authentication": {"use": name}}}


def _policy(function: Function, context: Context) -> dict[str, str] | None:
    name = None if function.auth_ref is None else function.auth_ref.invocation
    if name is None:
        return None
    context.used_auths[name] = None
    return {"use": name}


def authentication(auth: Auth, context: Context) -> dict[str, Any]:
    """Return *auth* as an entry of `use.authentications`. Raises Inexpressible."""
    translate = context.translate.with_secrets()
    properties = auth.properties
    if isinstance(properties, str):
        found = re.fullmatch(r"(?:\$\{\s*)?(?:\$SECRETS\.)?([\w-]+)(?:\s*\})?", properties.strip())
        if found is None:
            raise Inexpressible(f"the properties {properties!r} of the auth {auth.name!r}")
        return {auth.scheme: {"use": found[1]}}
    given = translate.template(properties) if isinstance(properties, Mapping) else {}
    given = {key: value for key, value in given.items() if key != "metadata"}
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
