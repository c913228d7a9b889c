"""At which URL is the service that a document describes?"""

from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urljoin, urlsplit

from swf_temporal.errors import CallFailed
from swf_temporal.functions.call import refusal
from swf_temporal.functions.documents import Document, is_web
from swf_temporal.functions.operations import Operation
from swf_temporal.functions.parameters import as_text
from swf_temporal.functions.settings import Settings, environment_name


def server_url(settings: Settings, function: str, document: Document, operation: Operation) -> str:
    """Return the URL in front of an operation's path.

    What is configured wins: for the function, for the document (as the definition writes it, by its file's
    name, or by that without its ending), for all. Then the document's first server counts; one that is
    relative to the document needs a document that was fetched. Raises CallFailed if none of them says.
    """
    path = PurePosixPath(urlsplit(document.name).path)
    configured = settings.base_url_for((function, document.name, path.name, path.stem))
    if configured:
        return configured
    declared = _swagger_server(document) if document.is_swagger else _server(operation)
    url = urljoin(document.url, declared) if document.url and declared is not None else declared or ""
    if not is_web(url):
        raise no_server(function, f"the document '{document.name}' does not name one")
    return url


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
    return refusal("NoServer", message)


def _server(operation: Operation) -> str:
    server: dict[str, Any] = operation.servers[0] if operation.servers else {}
    url = str(server.get("url", "/"))
    for name, variable in (server.get("variables") or {}).items():
        if isinstance(variable, dict):
            url = url.replace(f"{{{name}}}", as_text(variable.get("default")))
    return url


def _swagger_server(document: Document) -> str:
    content = document.content
    path = str(content.get("basePath", "/"))
    host = content.get("host")
    if not host:
        return path
    schemes = [str(scheme) for scheme in content.get("schemes") or ()]
    if not schemes:
        schemes = [urlsplit(document.url).scheme if document.url else "http"]
    return f"{'https' if 'https' in schemes else schemes[0]}://{host}{path}"
