"""Functions: names of documents, Knative services, Java services, and default bodies."""

import re
from collections.abc import Container, Iterator, Mapping, MutableMapping
from typing import Any, Final
from urllib.parse import parse_qsl

from swf_temporal.base.calls import Function
from swf_temporal.base.function_types import CONFIG_KEY, CONFIGURED_AS
from swf_temporal.languages.serverless_workflow.upgrading.trees import (
    Tree,
    UpgradeReport,
    actions,
    braced,
    called,
    children,
    function_of,
    name_of,
)
from swf_temporal.text.properties import (
    BY_TITLE,
    DESCRIBED,
    document_of,
    name_by,
    named_in,
    strategy_of,
    usual_name,
)
from swf_temporal.text.round_trip import add, replace

_URIS: Final = "workflow-uri-definitions"
_SCHEMA: Final = "workflow-output-schema"
_JAVA: Final = re.compile(r"service:(?:java:)?(?P<method>[\w.$]+::\w+)")
"""A method of a Java class. The Python function has the name of both: two classes may have methods of one name."""
_KNATIVE: Final = re.compile(r"knative:(?P<service>[^?]+)(?:\?(?P<query>.*))?")
_REST: Final = re.compile(r"rest:(?:(?P<method>\w+):)?(?P<url>.*)", re.DOTALL)
_MARKED: Final = re.compile(r"\s*(?:\$\{\s*(.*?)\s*\}|\{\{\s*(.*?)\s*\}\}|(.*?))\s*", re.DOTALL)
"""An expression, in braces or not."""
_WITH_BODY: Final = ("POST", "PUT")
_HANDLER: Final = re.compile(r"([\w-]+):")
_KNOWN: Final = ("knative", "rest", "service", "script", "sysout", "temporal")
"""The handlers that exist here, too."""
_HINT: Final = "write what it does as a Python function, or give it an operation in the configuration"
_NO_PLACE: Final = {
    "camel": "call the endpoint that the route reaches by HTTP or a broker, or write a Python function",
    "script": "write what the script does as an expression or as a Python function",
    "java": "write what the code does as a Python function",
    "dmn": "let a service or a Python function decide",
    "jwt-parser": "pass the claims in the input, or read the token in a Python function",
}


def extensions(root: Tree, report: UpgradeReport) -> None:
    """Resolve the names that an extension gives to documents, and move an output schema to dataOutputSchema."""
    found = root.get("extensions")
    if not isinstance(found, list):
        return
    left = []
    for extension in found:
        name = _id(extension)
        if name == _URIS and isinstance(extension.get("definitions"), dict):
            for function in children(root, "functions"):
                _resolve(function, extension["definitions"], report)
        elif name == _URIS and extension.get("uri") is not None:
            hint = "write its content under 'definitions' instead of 'uri'"
            report.inexpressible(f"the extension {_URIS!r} has its names in {extension['uri']!r}", extension, hint)
            left.append(extension)
        elif name == _SCHEMA and "dataOutputSchema" not in root and extension.get("outputSchema") is not None:
            root["dataOutputSchema"] = extension["outputSchema"]
            report.reshaped(f"the extension {_SCHEMA!r} is dataOutputSchema")
        else:
            left.append(extension)
    if not left:
        del root["extensions"]
    elif len(left) < len(found):
        found[:] = left


def _id(extension: Any) -> Any:
    return extension.get("extensionid", extension.get("extensionId")) if isinstance(extension, dict) else None


def _resolve(function: Tree, uris: dict[str, Any], report: UpgradeReport) -> None:
    operation = function.get("operation")
    if not isinstance(operation, str):
        return
    alias, mark, rest = operation.partition("#")
    if mark and isinstance(uris.get(alias), str):
        function["operation"] = f"{uris[alias]}#{rest}"
        report.reshaped(f"function {function.get('name')!r}: {alias!r} is {uris[alias]!r}", function)
        if function.get("type", "rest") in DESCRIBED:
            _configure_as(function, alias)


def clients(root: Tree, report: UpgradeReport, properties: Mapping[str, str], application: str = "") -> None:
    """Set the name of a service in the configuration if it differs from that of its document.

    With *application*, it does for all services, as those of another application may have the same names.
    """
    strategy = strategy_of(properties)
    for function in children(root, "functions"):
        name, metadata = function.get("name"), function.get("metadata")
        metadata = metadata if isinstance(metadata, MutableMapping) else {}
        document = document_of(called_by(function))
        if document is None and CONFIG_KEY in metadata:
            del metadata[CONFIG_KEY]
            report.reshaped(f"function {name!r}: {CONFIG_KEY} has no effect on it", function)
        said = metadata.get(CONFIGURED_AS)
        key = said if isinstance(said, str) else None
        if key is None and document is not None:
            key = name_by(strategy, document, str(name), root.get("id"))
        if application and strategy != BY_TITLE:
            usual = key or usual_name(called_by(function))
            key = None if usual is None else named_in(application, usual)
        if key and key != said:
            _configure_as(function, key)
            report.reshaped(f"function {name!r}: its service is configured as {key!r}", function)


def called_by(function: Tree) -> Function:
    """Return *function* as in calls."""
    metadata = function.get("metadata")
    return Function(
        str(function.get("name")),
        str(function.get("type", "rest")),
        function.get("operation"),
        metadata=metadata if isinstance(metadata, Mapping) else {},
    )


def _configure_as(function: Tree, name: str) -> None:
    metadata = function.get("metadata")
    if isinstance(metadata, MutableMapping) and CONFIGURED_AS in metadata:
        metadata[CONFIGURED_AS] = name
    elif isinstance(metadata, MutableMapping):
        add(metadata, CONFIGURED_AS, name)
    else:
        add(function, "metadata", {CONFIGURED_AS: name}, "operation")


def operations(root: Tree, report: UpgradeReport) -> None:
    """Rewrite operations of functions with another form here."""
    services = {name_of(one) for one in children(root, "functions") if str(one.get("operation")).startswith("service:")}
    for function in children(root, "functions"):
        operation = function.get("operation")
        if function.get("type") != "custom" or not isinstance(operation, str):
            continue
        java, knative = _JAVA.fullmatch(operation), _KNATIVE.fullmatch(operation)
        if java is not None and not operation.startswith("service:python:"):
            function["operation"] = java["method"]
            report.reshaped(
                f"function {function.get('name')!r}: {operation!r} is the Python function {java['method']!r}", function
            )
        elif knative is not None:
            _knative(function, knative, report)
        elif (hint := _hint_without_place(operation)) is not None:
            needs = " needs a handler" if hint is _HINT else ""
            report.inexpressible(f"function {function.get('name')!r}: {operation!r}{needs}", function, hint)
    for state, action in actions(root):
        _sent(root, services, state, action, report)
        _answer(root, state, action, report)


def share_variables(root: Tree, report: UpgradeReport) -> None:
    """Let scripts return their variables, so that later scripts see them, and expressions as `$WORKFLOW.python`."""
    for function in children(root, "functions"):
        metadata = function.get("metadata")
        if function.get("type") != "custom" or not str(function.get("operation")).startswith("script:python"):
            continue
        if isinstance(metadata, dict):
            add(metadata, "returnsVariables", True)  # noqa: FBT003 - the value of the key
        else:
            add(function, "metadata", {"returnsVariables": True}, "operation")
        report.reshaped(f"function {function.get('name')!r}: its variables are shared", function)


def scripts(root: Tree, report: UpgradeReport) -> None:
    """Say the language of scripts in Java, which SonataFlow does not require."""
    for function in children(root, "functions"):
        if function.get("type") == "custom" and str(function.get("operation")).strip() == "script":
            function["operation"] = "script:java"
            report.reshaped(f"function {function.get('name')!r}: its script is one in Java", function)


def registered(root: Tree, report: UpgradeReport) -> None:
    """Define the functions that actions name with a prefix, as in `ansible:play`: an application registers them."""
    functions = root.get("functions", [])
    if not isinstance(functions, list):
        return
    names = {name_of(one) for one in children(root, "functions")}
    for _, action in actions(root):
        name = function_of(action)
        if name is None or name in names or _HANDLER.match(name) is None:
            continue
        names.add(name)
        if "functions" not in root:
            add(root, "functions", functions, "id")
        functions.append({"name": name, "type": "custom", "operation": name})
        report.reshaped(f"function {name!r}, which the application registers, is defined", action)


def to_write(root: Tree) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the Python functions to write for calls of *root*, each with the names of its arguments.

    They are for methods in Java, and otherwise have the operations without a counterpart as their names.
    """
    for function in children(root, "functions"):
        operation = function.get("operation")
        if not isinstance(operation, str) or function.get("type") != "custom":
            continue
        java = _JAVA.fullmatch(operation)
        if java is not None or _hint_without_place(operation) is not None:
            yield operation if java is None else java["method"], _parameters(root, function.get("name"))


def _parameters(root: Tree, name: Any) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for _, action in actions(root):
        for reference in children(action, "functionRef"):
            arguments = reference.get("arguments")
            if reference.get("refName") == name and isinstance(arguments, dict):
                names.update(dict.fromkeys(map(str, arguments)))
    return tuple(names)


def _hint_without_place(operation: str) -> str | None:
    """Return what to write instead of an *operation* without a counterpart; None for others."""
    kind, mark, _ = operation.partition(":")
    if operation.startswith("script:python"):
        return None
    if kind in _NO_PLACE:
        return _NO_PLACE[kind]
    return _HINT if mark and _HANDLER.match(operation) and kind not in _KNOWN else None


def _knative(function: Tree, found: re.Match[str], report: UpgradeReport) -> None:
    """Call a Knative service by HTTP, at its name within the Kubernetes cluster."""
    query = dict(parse_qsl(found["query"] or "", keep_blank_values=True))
    if query.get("asCloudEvent", "").lower() == "true":
        hint = "send the event by an eventRef, with a sink that leads to the service"
        report.inexpressible(f"function {function.get('name')!r}: asCloudEvent", function, hint)
        return
    service = found["service"].rstrip("/").split("/")
    host = ".".join(reversed(service[-2:])) + ".svc.cluster.local" if len(service) > 1 else service[0]
    path = query.get("path", "").lstrip("/")
    method = query.get("method", "POST").upper()
    function["operation"] = f"rest:{method}:http://{host}/{path}"
    report.reshaped(f"function {function.get('name')!r}: the service {found['service']!r} is called by HTTP", function)


def _sent(root: Tree, services: Container[Any], state: Tree, action: Tree, report: UpgradeReport) -> None:
    """Make the argument explicit if SonataFlow sends all data: for calls without arguments."""
    reference = action.get("functionRef")
    name, function = _called(root, action)
    operation = function.get("operation")
    rest = _REST.fullmatch(operation) if isinstance(operation, str) else None
    has_body = rest is not None and (rest["method"] or "GET").upper() in _WITH_BODY and "{" not in rest["url"]
    if not has_body and name not in services:
        return
    if isinstance(reference, dict) and reference.get("arguments"):
        return
    everything = braced(_everything(root))
    if isinstance(reference, dict):
        reference["arguments"] = everything
    else:
        replace(action, "functionRef", {"functionRef": {"refName": name, "arguments": everything}})
    report.reshaped(f"{called(state)}: {name!r} is sent all data, as it has no arguments", action)


def _everything(root: Tree) -> str:
    """Return the expression of all data, in the language of *root*."""
    return "$" if root.get("expressionLang") == "jsonpath" else "."


def _answer(root: Tree, state: Tree, action: Tree, report: UpgradeReport) -> None:
    """Select the body of a response whose status does not matter: here the result also has the status."""
    name, function = _called(root, action)
    metadata = function.get("metadata")
    is_http = function.get("type", "rest") in ("rest", "openapi") or str(function.get("operation")).startswith("rest:")
    if not is_http or not isinstance(metadata, dict) or metadata.get("failOnStatusCode") is not False:
        return
    given = action.get("actionDataFilter", {})
    if not isinstance(given, dict) or given.get("useResults") is False:
        return
    old = given.get("results")
    everything = _everything(root)
    marked = _MARKED.fullmatch(everything if old is None else str(old))
    inner = marked[1] or marked[2] or marked[3] if marked is not None else ""
    is_path = everything == "$" and inner.startswith("$") and not inner.startswith("$.body")
    if not (is_path or root.get("expressionLang", "jq") == "jq") or inner.startswith((".body", "fn:")) or not inner:
        report.differs(
            f"{called(state)}: the result of {name!r} has the keys 'status', 'headers' and 'body'", None, action
        )
        return
    results = braced(_of_body(inner, is_path=is_path))
    if old is None and given:
        add(given, "results", results)
    elif old is None:
        add(action, "actionDataFilter", {"results": results}, "functionRef")
    else:
        given["results"] = results
    body = f"the body, which is {results!r} of the response"
    report.reshaped(f"{called(state)}: the result of {name!r} is {body}", action)


def _of_body(inner: str, *, is_path: bool) -> str:
    """Return the expression that selects *inner* of the body from a whole response."""
    if is_path:
        return f"$.body{inner[1:]}"
    return ".body" if inner == "." else f".body | {inner}"


def _called(root: Tree, action: Tree) -> tuple[str | None, Tree]:
    """Return the name of the function that *action* calls, and the function."""
    name = function_of(action)
    return name, next((one for one in children(root, "functions") if name is not None and name_of(one) == name), {})
