"""The metadata that is sent along with a request of gRPC."""

import base64
import binascii
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import permanent_failure
from swf_temporal.functions.auth.auth import headers_for
from swf_temporal.functions.call import Call
from swf_temporal.functions.http.parameters import as_text

Metadata: TypeAlias = Sequence[tuple[str, str | bytes]]

STREAM: Final = "requests"
"""The key of an array of requests where it stands beside metadata."""
_PREFIX: Final = "HEADER_"
_NAME = re.compile(r"(?!grpc-)[0-9a-z_.-]+")
_BINARY = "-bin"


def taken_out(arguments: JSON) -> tuple[Sequence[tuple[str, JSON]], JSON]:
    """Return the metadata in *arguments*, which begin with `HEADER_`, and the other arguments: the request."""
    if not isinstance(arguments, dict):
        return (), arguments
    headers = [(name.removeprefix(_PREFIX), value) for name, value in arguments.items() if name.startswith(_PREFIX)]
    return headers, {name: value for name, value in arguments.items() if not name.startswith(_PREFIX)}


def metadata_of(call: Call, headers: Iterable[tuple[str, JSON]], configured: Mapping[str, str]) -> Metadata:
    """Return the metadata of a call: the definition's *headers* first, then credentials, and what is *configured*.

    Raises CallFailed for what cannot be sent.
    """
    references = call.function.auth_ref
    found: dict[str, str | bytes] = {}
    for name, value in headers:
        if value is not None:
            _add(found, name, as_text(value))
    for name, text in headers_for(references.invocation if references else None, call):
        _add(found, name, text)
    if call.key_in_headers is not None:
        _add(found, "idempotency-key", call.key_in_headers)
    for name, text in configured.items():
        _add(found, name, text)
    return list(found.items())


def metadata_for_asking(call: Call, configured: Mapping[str, str]) -> Metadata:
    """Return the metadata of the question what services there are: the same server is asked that will be called."""
    references = call.function.auth_ref
    named = (references.resource or references.invocation) if references else None
    found: dict[str, str | bytes] = {}
    for name, text in (*headers_for(named, call), *configured.items()):
        _add(found, name, text)
    return list(found.items())


def _add(found: dict[str, str | bytes], name: str, text: str) -> None:
    key = name.lower()
    if key in found:
        return
    if not _NAME.fullmatch(key):
        raise permanent_failure("BadArguments", f"'{name}' cannot be the name of metadata in gRPC")
    if key.endswith(_BINARY):
        found[key] = _bytes(name, text)
    elif text.isascii() and text.isprintable():
        found[key] = text
    else:
        raise permanent_failure("BadArguments", f"the metadata '{name}' would hold a character that gRPC cannot send")


def _bytes(name: str, text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise permanent_failure(
            "BadArguments", f"the metadata '{name}' must be bytes, written in base64: {error}"
        ) from error
