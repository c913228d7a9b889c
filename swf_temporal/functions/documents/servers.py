"""The URLs of services: as configured for a function or its document, or as the definition states."""

from collections.abc import Mapping

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.function_types import Callee, environment_name
from swf_temporal.functions.documents.documents import Document, is_web
from swf_temporal.functions.http.parameters import as_text
from swf_temporal.settings.calls import Settings


def service_url(settings: Settings, callee: Callee, url: str) -> str:
    """Return the *url* in a definition; one without a host is relative to the configured server of *callee*.

    Raises CallFailed if it has no host, and none is configured.
    """
    if is_web(url):
        return url
    server = settings.base_url_for(callee)
    if server is None:
        raise no_server(callee.function, f"'{url}' does not name one")
    return f"{server.rstrip('/')}/{url.lstrip('/')}"


def no_server(function: str, reason: str) -> CallFailed:
    """Return the fault of a function whose server is not known, with how to configure it."""
    variable = f"SWF_BASE_URL_{environment_name(function)}"
    message = f"the server of function '{function}' is not known: {reason}; set {variable} or SWF_BASE_URL"
    return permanent_failure("NoServer", message)


def variable_value(document: Document, name: str, declared: Mapping[str, JSON], given: JSON) -> str:
    """Return the value of a server's variable: the *given* one, or its default. Raises CallFailed if it is invalid."""
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
