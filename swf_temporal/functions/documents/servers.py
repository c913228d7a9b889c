"""At which URL is the service that a document describes?"""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from urllib.parse import urljoin

from swf_temporal.data import JSON
from swf_temporal.errors import CallFailed
from swf_temporal.functions.call import permanent_failure
from swf_temporal.functions.documents.documents import Document, is_web
from swf_temporal.functions.documents.parts import as_path
from swf_temporal.functions.openapi.operations import Operation
from swf_temporal.functions.openapi.parameters import as_text
from swf_temporal.functions.operator.settings import Settings, environment_name
from swf_temporal.functions.urls import split_url
from swf_temporal.text.suggestions import suggestion


def server_url(
    settings: Settings,
    function: str,
    document: Document,
    operation: Operation,
    variables: Mapping[str, JSON] | None = None,
) -> str:
    """Return the URL in front of an operation's path.

    What is configured wins: for the function, for the document (as the definition writes it, by its file's
    name, or by that without its ending), for all. Then the document's first server counts, or the first that has the
    *variables* which the definition gives; others have their defaults. A server that is relative to the document needs
    one that was fetched. Raises CallFailed if none of them says.
    """
    configured = configured_url(settings, function, document.name)
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
        raise no_server(function, f"the document '{document.name}' does not name one")
    return url


def configured_url(settings: Settings, function: str, document: str) -> str | None:
    """Return the URL that is configured for a function, or for its *document*, or for all; None if there is none."""
    path = PurePosixPath(split_url(as_path(document)).path)
    return settings.base_url_for((function, document, path.name, path.stem))


def service_url(settings: Settings, function: str, url: str) -> str:
    """Return the *url* that a definition gives; one without a host follows what is configured for the function.

    Raises CallFailed if it has no host, and none is configured.
    """
    if is_web(url):
        return url
    server = settings.base_url_for((function,))
    if server is None:
        raise no_server(function, f"'{url}' does not name one")
    return f"{server.rstrip('/')}/{url.lstrip('/')}"


def no_server(function: str, reason: str) -> CallFailed:
    """Return the fault of a function whose service is nowhere, saying how to set it."""
    variable = f"SWF_BASE_URL_{environment_name(function)}"
    message = f"the server of function '{function}' is not known: {reason}; set {variable} or SWF_BASE_URL"
    return permanent_failure("NoServer", message)


def _server(document: Document, operation: Operation, given: Mapping[str, JSON]) -> str:
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


def variable_value(document: Document, name: str, declared: Mapping[str, JSON], given: JSON) -> str:
    """Return the value of a server's variable: what is *given*, or its default. Raises CallFailed if that cannot be."""
    if given is None:
        return as_text(declared.get("default"))
    values = declared.get("enum")
    possible = [as_text(value) for value in values] if isinstance(values, list) else []
    if possible and as_text(given) not in possible:
        kinds = ", ".join(possible)
        message = (
            f"the server in '{document.name}' has no '{as_text(given)}' for its variable '{name}': it can be {kinds}"
        )
        raise permanent_failure("BadOperation", message)
    return as_text(given)


def _swagger_server(document: Document, operation: Operation) -> str:
    content = document.content
    path = str(content.get("basePath", "/"))
    host = content.get("host")
    if not host:
        return path
    own = split_url(document.url).scheme if document.url else "http"
    scheme = "https" if "https" in operation.schemes else next(iter(operation.schemes), own)
    return f"{scheme}://{host}{path}"
