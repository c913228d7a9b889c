"""The URLs of services: what the operator configures for a function or its document, or what a definition says."""

from collections.abc import Mapping

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.function_types import Callee, environment_name
from swf_temporal.functions.documents.documents import Document, is_web
from swf_temporal.functions.http.parameters import as_text
from swf_temporal.settings.calls import Settings


def service_url(settings: Settings, callee: Callee, url: str) -> str:
    """Return the *url* that a definition gives; one without a host follows what is configured for *callee*.

    Raises CallFailed if it has no host, and none is configured.
    """
    if is_web(url):
        return url
    server = settings.base_url_for(callee)
    if server is None:
        raise no_server(callee.function, f"'{url}' does not name one")
    return f"{server.rstrip('/')}/{url.lstrip('/')}"


def no_server(function: str, reason: str) -> CallFailed:
    """Return the fault of a function whose service is nowhere, saying how to set it."""
    variable = f"SWF_BASE_URL_{environment_name(function)}"
    message = f"the server of function '{function}' is not known: {reason}; set {variable} or SWF_BASE_URL"
    return permanent_failure("NoServer", message)


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
