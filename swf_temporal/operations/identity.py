"""Who acts: the identity of a client's requests, which histories keep of every change.

The history of an instance has the identity of who started it, sent it an event, changed its data, paused, resumed,
cancelled or terminated it. So nothing else is stored. Where the server takes a reason, this begins with the identity,
too: unlike the identity, it reaches the worker, and is part of why an instance ended.
"""

import copy
import dataclasses
import getpass
import os
import socket
from hashlib import sha256
from typing import Final, TypeVar

from temporalio.client import Client

MAX_LENGTH: Final = 200
"""The number of characters of an identity: the server sets no limit, and each change in a history has one."""
_MAX_REASON: Final = 1000
_DIGITS: Final = 8
_UNSHOWN: Final = "\N{REPLACEMENT CHARACTER}"

_Client = TypeVar("_Client", bound=Client)


def identity_of(text: str) -> str:
    """Return *text*, which anyone may have written, as an identity: in one line, printable and of limited length.

    A text that had to be changed ends with a digest, so that two of them remain two.
    """
    safe = "".join(one if one.isprintable() else _UNSHOWN for one in text)
    if safe == text and len(text) <= MAX_LENGTH:
        return text
    digest = sha256(text.encode(errors="replace")).hexdigest()[:_DIGITS]
    return f"{safe[: MAX_LENGTH - _DIGITS - 1]}…{digest}"


def user_identity() -> str:
    """Return the identity of who runs this process, `USER@HOST`, as the machine knows it."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError, ImportError):  # a user without a name, as in containers
        user = str(os.getuid()) if hasattr(os, "getuid") else "user"
    return identity_of(f"{user}@{socket.gethostname()}")


def with_identity(client: _Client, identity: str) -> _Client:
    """Return *client* with another identity, on the same connection: the SDK has one for each connection."""
    service = copy.copy(client.service_client)
    service.config = dataclasses.replace(service.config, identity=identity)
    config = client.config()
    config["service_client"] = service
    return type(client)(**config)


def reason_by(identity: str | None, reason: str | None) -> str | None:
    """Return the *reason* for a change as it is sent to the server, beginning with the identity, if there is one."""
    reason = reason if reason is None or len(reason) <= _MAX_REASON else f"{reason[:_MAX_REASON]}…"
    return reason if identity is None else f"{identity}: {reason}" if reason else identity


def reason_in(sent: str, identity: str) -> str:
    """Return the reason that was given by *identity*, from the one that was sent."""
    return "" if sent == identity else sent.removeprefix(f"{identity}: ")
