"""Errors of requests that the server refused.

The SDK reports such an error as one text, the debug form of its inner errors.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from temporalio.service import RPCError, RPCStatusCode, TLSConfig

from swf_temporal.base.client_errors import (
    InboxFullError,
    InstanceEndedError,
    InstanceNotFoundError,
    InstancePausedError,
    ServerUnavailableError,
)
from swf_temporal.base.errors import PayloadUnavailable, UsageError

_FOR_GOOD: Final = frozenset({RPCStatusCode.INVALID_ARGUMENT, RPCStatusCode.UNIMPLEMENTED})
"""The server's answers to a request that would fail each time."""
NOT_PERMITTED: Final = frozenset({RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNAUTHENTICATED})
"""The server's answers to a caller that may not make the request."""
_NOT_CONFIGURED = "[TMPRL1105]"
"""The SDK's error code for a reference to a stored payload where no storage is configured."""


def not_there(error: RPCError, workflow_id: str) -> UsageError:
    """Return the error of a request about an instance that the server refused."""
    if error.status == RPCStatusCode.NOT_FOUND:
        if "already completed" in error.message:
            return has_ended(workflow_id)
        return InstanceNotFoundError(f"there is no instance {workflow_id!r}", instance=workflow_id)
    if "number of signal" in error.message or "for signal events" in error.message:
        return InboxFullError(
            f"{workflow_id!r} was sent more events than one execution accepts: {error.message}",
            "send it again later: the instance continues as new once its calls have ended and it keeps fewer events",
            instance=workflow_id,
        )
    if "Workflow Task in failed state" in error.message:
        text = f"{workflow_id!r} takes nothing now: its worker cannot run it, and tries again"
        return ServerUnavailableError(text, f"`swf status {workflow_id}` shows why")
    return refused_by_server(error, f"the server did not answer for {workflow_id!r}")


def is_paused(workflow_id: str) -> InstancePausedError:
    """Return the error of a query to an instance that is paused."""
    hint = f"`swf resume {workflow_id}` lets it continue"
    text = f"the instance {workflow_id!r} is paused, and answers once it is resumed"
    return InstancePausedError(text, hint, instance=workflow_id)


def refused_by_server(error: RPCError, what: str) -> UsageError:
    """Return the error that *what* was refused by the server: ServerUnavailableError if it may succeed later."""
    text = f"{what}: {error.message}"
    if error.status in _FOR_GOOD:
        return UsageError(text)
    if error.status in NOT_PERMITTED:
        return ServerUnavailableError(text, "see TEMPORAL_API_KEY, and who may use the namespace", is_refusal=True)
    return ServerUnavailableError(text)


@contextmanager
def refusals_as_usage_errors() -> Iterator[None]:
    """Within the context, raise UsageError if the server refuses, and PayloadUnavailable if storage is missing."""
    try:
        yield
    except RPCError as error:
        raise refused_by_server(error, "the server refuses") from None
    except RuntimeError as error:
        if _NOT_CONFIGURED not in str(error):
            raise
        what = "a payload is stored outside of Temporal, and no storage is configured here"
        raise PayloadUnavailable(what, "set `storage` in the configuration, or SWF_STORAGE") from None


def has_ended(workflow_id: str) -> InstanceEndedError:
    """Return the error of a request to an instance that has ended."""
    return InstanceEndedError(
        f"the instance {workflow_id!r} has ended already", "call its result() to see how", instance=workflow_id
    )


_ANOTHER = "start one with `swf dev`, or name another with TEMPORAL_ADDRESS"
_KEY = "see TEMPORAL_API_KEY, and who may use the namespace"
_CLIENT = "TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH name both as PEM files"
_RENEWED = "TEMPORAL_TLS_CLIENT_CERT_PATH names one that has not expired, of an authority that the server trusts"
_TIME = "see that certificate, and the clock of this machine"


@dataclass(frozen=True, slots=True)
class Trouble:
    """The reason why a server cannot be reached."""

    what: str
    hint: str
    is_refusal: bool = False
    """Whether something answers but refuses the connection."""


_KNOWN: tuple[tuple[str, Trouble], ...] = (
    ("unauthenticated", Trouble("it does not accept the caller's credentials", _KEY, is_refusal=True)),
    ("permissiondenied", Trouble("it does not permit this", _KEY, is_refusal=True)),
    (
        "invalidcontenttype",
        Trouble(
            "it does not speak TLS, which an API key or a TLS setting asks for",
            "unset TEMPORAL_API_KEY and the TLS settings, or name another with TEMPORAL_ADDRESS",
            is_refusal=True,
        ),
    ),
    (
        "unknownissuer",
        Trouble(
            "its certificate is signed by an authority that is not trusted here",
            "TEMPORAL_TLS_SERVER_CA_CERT_PATH names the certificate of that authority",
            is_refusal=True,
        ),
    ),
    (
        "notvalidforname",
        Trouble(
            "its certificate is for another name",
            "TEMPORAL_TLS_SERVER_NAME says by which name it is known",
            is_refusal=True,
        ),
    ),
    ("expiredcontext", Trouble("its certificate has expired", _TIME, is_refusal=True)),
    ("notvalidyetcontext", Trouble("its certificate is not valid yet", _TIME, is_refusal=True)),
    ("certificaterequired", Trouble("it requires a client certificate", _CLIENT, is_refusal=True)),
    ("alert: certificateexpired", Trouble("the client's certificate has expired", _RENEWED, is_refusal=True)),
    ("alert: unknownca", Trouble("it does not accept the client's certificate", _RENEWED, is_refusal=True)),
    ("alert: badcertificate", Trouble("it does not accept the client's certificate", _RENEWED, is_refusal=True)),
    ("alert: certificateunknown", Trouble("it does not accept the client's certificate", _RENEWED, is_refusal=True)),
    ("must have both client cert", Trouble("there is a client certificate without its key", _CLIENT, is_refusal=True)),
    ("keymismatch", Trouble("the client's key does not belong to its certificate", _CLIENT, is_refusal=True)),
    ("nocertificatespresented", Trouble("the client's certificate cannot be read", _CLIENT, is_refusal=True)),
    ("invalidcertificate", Trouble("its certificate is not valid", "see the TLS settings", is_refusal=True)),
    ("keyparseerror", Trouble("the client's key cannot be read", _CLIENT, is_refusal=True)),
    ("certificateparseerror", Trouble("a certificate cannot be read", _CLIENT, is_refusal=True)),
    ("fatal alert", Trouble("it closes the TLS connection", "see the TLS settings", is_refusal=True)),
    ("text/html", Trouble("a web server or a proxy answers there, with a page of HTML", _ANOTHER)),
    ("http2", Trouble("what listens there does not speak gRPC", _ANOTHER)),
    ("unimplemented", Trouble("what listens there is not a Temporal server", _ANOTHER)),
    ("resourceexhausted", Trouble("it is overloaded, or a limit is reached", "see the limits of the namespace")),
    ("connection refused", Trouble("nothing listens there (connection refused)", _ANOTHER)),
    ("connectionrefused", Trouble("nothing listens there (connection refused)", _ANOTHER)),
    ("dns error", Trouble("the host name is unknown", "see TEMPORAL_ADDRESS")),
    ("timed out", Trouble("there was no answer in time", _ANOTHER)),
    ("deadlineexceeded", Trouble("there was no answer in time", _ANOTHER)),
    ("timeout", Trouble("there was no answer in time", _ANOTHER)),
)
"""Each by a text that identifies it. The first match applies: inner errors come before those that wrap them."""

_CLOSED = ("connectionreset", "broken pipe", "close_notify", "operation was canceled", "connection closed")
"""Texts that show that the connection was closed. The reason is then a refusal of the client, with or without TLS."""
_PLAIN = Trouble("it closes the connection; does it speak TLS?", "TEMPORAL_TLS=true asks for TLS")
_NAMELESS = Trouble("it closes the TLS connection; does it require a client certificate?", _CLIENT)
_NOT_LET_IN = Trouble("it closes the TLS connection; is the client's certificate valid, and one it knows?", _RENEWED)

_MESSAGE = re.compile(r'code: (\w+), message: "([^"]*)"')
_MAX_LENGTH = 160


def trouble_of(error: object, *, tls: TLSConfig | bool | None = None) -> Trouble:
    """Return the meaning of *error*, or of its text, for a client that uses *tls*."""
    text = " ".join(str(error).split())
    lower = text.lower()
    found = next((trouble for sign, trouble in _KNOWN if sign in lower), None)
    if found is None and any(sign in lower for sign in _CLOSED):
        has_certificate = isinstance(tls, TLSConfig) and tls.client_cert is not None
        found = _PLAIN if not tls else _NOT_LET_IN if has_certificate else _NAMELESS
    return found or Trouble(brief(text) or type(error).__name__, _ANOTHER)


def brief(text: str) -> str:
    """Return the status and message of the SDK's error, or else its text, shortened to a readable length."""
    message = _MESSAGE.search(text)
    if message is not None:
        text = f"{message[1]}: {message[2]}"
    return text if len(text) <= _MAX_LENGTH else text[:_MAX_LENGTH] + "…"
