"""The server of a channel of an AsyncAPI document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import permanent_failure
from swf_temporal.base.function_types import Callee
from swf_temporal.events.brokers.protocols import WIRES
from swf_temporal.events.brokers.targets import Target
from swf_temporal.functions.asyncapi.operations import BrokerServer
from swf_temporal.functions.asyncapi.parts import names_in, with_values
from swf_temporal.functions.call import Call, variables
from swf_temporal.functions.documents.parts import Document
from swf_temporal.functions.documents.servers import no_server, variable_value
from swf_temporal.settings.calls import Settings
from swf_temporal.text.suggestions import suggestion


@dataclass(frozen=True, slots=True)
class DocumentTarget(Target):
    """The address of a server that a document may describe."""

    server: BrokerServer | None = None
    """What the document says about it."""


def find_server(settings: Settings, call: Call, document: Document, servers: Sequence[BrokerServer]) -> DocumentTarget:
    """Return the server to use, of those that a channel has.

    What is configured wins, for the function or for the document. What is configured for all counts only if its
    protocol is one of the document's: it is meant for other services as well. Then the first server counts whose
    protocol is spoken here, or the first that has the variables to which the function gives values. Raises CallFailed
    if none of them says.
    """
    spoken = [server for server in servers if protocol_of(server) in WIRES]
    if configured := _configured(settings, call.callee, spoken):
        protocol, _, rest = configured.partition("://")
        return _target(protocol.lower(), rest, _alike(spoken, WIRES[protocol.lower()].family))
    if spoken:
        given = variables(call)
        server = next((server for server in spoken if given.keys() <= server.variables.keys()), spoken[0])
        return _target(protocol_of(server), _filled(document, server, given).rpartition("://")[2], server)
    others = ", ".join(sorted({f"'{server.protocol}'" for server in servers}))
    reason = f"its protocols are not supported ({others})" if others else "it does not name one"
    raise no_server(call.function.name, f"the document '{document.name}': {reason}")


def protocol_of(server: BrokerServer) -> str:
    """Return the protocol of a server. Where the scheme of its URL says another, the secure one of the two is meant."""
    scheme = server.url.partition("://")[0].lower() if "://" in server.url else server.protocol
    declared, in_url = WIRES.get(server.protocol), WIRES.get(scheme)
    is_better = in_url is not None and (declared is None or (in_url.family == declared.family and in_url.is_secure))
    return scheme if is_better else server.protocol


def _configured(settings: Settings, callee: Callee, spoken: Sequence[BrokerServer]) -> str | None:
    configured = settings.base_url_for(callee)
    if configured is None:
        return None
    wire = WIRES.get(configured.partition("://")[0].lower())
    is_meant = wire is not None and (not spoken or _alike(spoken, wire.family) is not None)
    if configured == settings.calls.base_url and not is_meant:
        return None
    if wire is None:
        server = f"the server of function '{callee.function}' is {configured!r}"
        message = f"{server}, whose protocol is not one of {', '.join(WIRES)}"
        raise permanent_failure("BadUrl", message)
    return configured


def _alike(servers: Sequence[BrokerServer], family: str) -> BrokerServer | None:
    return next((server for server in servers if WIRES[protocol_of(server)].family == family), None)


def _filled(document: Document, server: BrokerServer, given: Mapping[str, JSON]) -> str:
    """Return the URL of *server*, in which its variables have the values *given*, or those by default."""
    for name in given:
        if name not in server.variables:
            message = f"the server '{server.name}' of '{document.name}' has no variable '{name}'"
            raise permanent_failure("BadOperation", message + suggestion(name, server.variables))
    values: dict[str, str] = {}
    for name in names_in(server.url):
        declared = server.variables.get(name, {})
        known = declared.get("enum")
        default = declared.get("default", known[0] if isinstance(known, list) and known else None)
        if default is None and given.get(name) is None:
            message = f"the document '{document.name}' has no default for the variable '{name}' of {server.url}"
            raise permanent_failure("BadDocument", message)
        values[name] = variable_value(document, name, {**declared, "default": default}, given.get(name))
    return with_values(server.url, values)


def _target(protocol: str, rest: str, server: BrokerServer | None) -> DocumentTarget:
    return replace(DocumentTarget.at(protocol, rest), server=server)
