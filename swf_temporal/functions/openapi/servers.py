"""The URL of the service that an OpenAPI document describes."""

import re
from collections.abc import Mapping
from urllib.parse import urljoin

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import permanent_failure
from swf_temporal.base.function_types import Callee
from swf_temporal.functions.documents.documents import Document, is_web
from swf_temporal.functions.documents.servers import no_server, variable_value
from swf_temporal.functions.openapi.operations import OpenApiOperation
from swf_temporal.functions.urls import split_url
from swf_temporal.settings.calls import Settings
from swf_temporal.text.suggestions import suggestion


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
