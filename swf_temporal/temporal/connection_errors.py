"""Messages for a server that cannot be reached, with what the person who set its address can do.

The engine's library tells it as the inner form of its own errors, in one text.
"""

import re
from dataclasses import dataclass

_ANOTHER = "start one with `swf dev`, or name another with TEMPORAL_ADDRESS"
_KEY = "see TEMPORAL_API_KEY, and who may use the namespace"
_CLIENT = "TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH name both as PEM files"


@dataclass(frozen=True, slots=True)
class Trouble:
    """The reason why a server cannot be reached."""

    what: str
    hint: str
    is_refusal: bool = False
    """Whether something answers, and does not deal with us."""


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
    ("certificaterequired", Trouble("it requires a client certificate", _CLIENT, is_refusal=True)),
    ("invalidcertificate", Trouble("its certificate is not valid", "see the TLS settings", is_refusal=True)),
    ("keyparseerror", Trouble("the client's key cannot be read", _CLIENT, is_refusal=True)),
    ("certificateparseerror", Trouble("a certificate cannot be read", _CLIENT, is_refusal=True)),
    ("fatal alert", Trouble("it closes the TLS connection", "see the TLS settings", is_refusal=True)),
    ("http2", Trouble("what listens there does not speak gRPC", _ANOTHER)),
    ("unimplemented", Trouble("what listens there is not a Temporal server", _ANOTHER)),
    ("resourceexhausted", Trouble("it is overloaded, or a limit is reached", "see the limits of the namespace")),
    ("connection refused", Trouble("nothing listens there (connection refused)", _ANOTHER)),
    ("connectionrefused", Trouble("nothing listens there (connection refused)", _ANOTHER)),
    ("dns error", Trouble("the host name is unknown", "see TEMPORAL_ADDRESS")),
    ("connectionreset", Trouble("the connection broke; does it speak TLS?", "TEMPORAL_TLS=true asks for TLS")),
    ("timed out", Trouble("there was no answer in time", _ANOTHER)),
    ("deadlineexceeded", Trouble("there was no answer in time", _ANOTHER)),
    ("timeout", Trouble("there was no answer in time", _ANOTHER)),
)
"""Each by a text that gives it away. The first that applies is taken: what is inside comes before what wraps it."""

_MESSAGE = re.compile(r'code: (\w+), message: "([^"]*)"')
_MAX_LENGTH = 160


def trouble_of(error: object) -> Trouble:
    """Return what *error*, or its text, means."""
    text = " ".join(str(error).split())
    lower = text.lower()
    found = next((trouble for sign, trouble in _KNOWN if sign in lower), None)
    return found or Trouble(_brief(text) or type(error).__name__, _ANOTHER)


def _brief(text: str) -> str:
    message = _MESSAGE.search(text)
    if message is not None:
        text = f"{message[1]}: {message[2]}"
    return text if len(text) <= _MAX_LENGTH else text[:_MAX_LENGTH] + "…"
