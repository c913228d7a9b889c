"""The messages of gRPC that the arguments of a call are."""

import re
from collections.abc import Iterator
from typing import Any, Final

from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from swf_temporal.base.data import JSON, kind_of
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.grammar import with_article
from swf_temporal.functions.rpc.metadata import STREAM

_KNOWN: Final = "google.protobuf"
"""The package of the messages that are more than objects in JSON."""
_BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/_-]{4})*(?:[A-Za-z0-9+/_-]{2}(?:==)?|[A-Za-z0-9+/_-]{3}=?)?", re.ASCII)
_SHOWN: Final = 40


def requests_of(method: MethodDescriptor, arguments: JSON, pool: DescriptorPool) -> list[Message]:
    """Return the messages that the arguments are: an array of them for a stream, else one. Raises CallFailed."""
    if not method.client_streaming:
        return [_message(method, {} if arguments is None else arguments, pool)]
    if isinstance(arguments, dict) and list(arguments) == [STREAM]:
        arguments = arguments[STREAM]
    if not isinstance(arguments, list):
        message = (
            f"the method '{method.name}' takes a stream: its arguments are an array of '{method.input_type.name}', "
            f"or an object with that array as '{STREAM}'"
        )
        raise permanent_failure("BadArguments", message)
    return [_message(method, item, pool) for item in arguments]


def _message(method: MethodDescriptor, value: Any, pool: DescriptorPool) -> Message:
    wanted = method.input_type
    if not isinstance(value, dict) and wanted.file.package != _KNOWN:
        raise _bad(method, f"an object with its fields, and this is {with_article(kind_of(value))}")
    try:
        message = json_format.ParseDict(value, GetMessageClass(wanted)(), descriptor_pool=pool)
    except (json_format.Error, TypeError, ValueError, AttributeError) as error:
        # Values of the wrong shape, such as an array in place of an object, reach the library's own code.
        raise _bad(method, str(error)) from error
    for path, text in _bytes_in(value, wanted, pool):
        if _BASE64.fullmatch(text) is None:  # the library leaves out what is none
            raise _bad(method, f"the field '{path}' must be bytes, written in base64, and this is {text[:_SHOWN]!r}")
    lacking = message.FindInitializationErrors()  # type: ignore[attr-defined]  # public, but not in the stubs
    if lacking:
        raise _bad(method, f"the field '{lacking[0]}' is required, and is missing")
    return message


def _bad(method: MethodDescriptor, what: str) -> CallFailed:
    return permanent_failure(
        "BadArguments", f"the method '{method.name}' takes a '{method.input_type.full_name}': {what}"
    )


def _bytes_in(value: Any, kind: Descriptor, pool: DescriptorPool, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the texts that are bytes in *value*, which was read as a message of *kind*, and where they are."""
    if kind.full_name == f"{_KNOWN}.BytesValue":
        yield path or "value", str(value)
    if not isinstance(value, dict):
        return
    if kind.full_name == f"{_KNOWN}.Any":
        named = str(value.get("@type", "")).rpartition("/")[2]
        if named:
            inner = pool.FindMessageTypeByName(named)
            yield from _bytes_in(value.get("value") if inner.file.package == _KNOWN else value, inner, pool, path)
        return
    fields = {name: field for field in kind.fields for name in (field.name, field.json_name)}
    for name, item in value.items():
        if item is None or name not in fields:
            continue
        yield from _in_field(item, fields[name], pool, f"{path}.{name}".lstrip("."))


def _in_field(item: Any, field: FieldDescriptor, pool: DescriptorPool, path: str) -> Iterator[tuple[str, str]]:
    kind = field.message_type
    if kind is not None and kind.GetOptions().map_entry:
        value = kind.fields_by_name["value"]
        items, field, kind = list(item.items()), value, value.message_type
    else:
        items = list(enumerate(item)) if isinstance(item, list) else [("", item)]
    for key, each in items:
        place = f"{path}[{key}]" if key != "" else path
        if field.type == FieldDescriptor.TYPE_BYTES:
            yield place, str(each)
        elif kind is not None:
            yield from _bytes_in(each, kind, pool, place)
