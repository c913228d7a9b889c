"""Documents of functions on this machine, to inspect functions before anything is called.

Validation uses this for every function of every definition, so nothing heavy is imported here.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from swf_temporal.base.calls import Function
from swf_temporal.base.errors import CallFailed
from swf_temporal.base.function_types import operation_type
from swf_temporal.functions.call import Call
from swf_temporal.functions.documents.parts import UnresolvedReference, as_path, is_web

_Value = TypeVar("_Value")


class NotLocalError(Exception):
    """The document is on the web, and only a call may fetch it."""


def document_named(function: Function) -> str | None:
    """Return the file or URL of the document that *function* names; None if it does not name one."""
    kind = operation_type(function.type)
    return None if kind is None else kind.document(function.operation)


def file_named(function: Function, base: str | None) -> Path | None:
    """Return the file of the document that *function* names, relative to *base*; None if it does not name one.

    The file need not exist.
    """
    name = document_named(function)
    if name is None or is_web(name):
        return None
    path = Path(as_path(name))
    if base is None or path.is_absolute():
        return path
    return None if is_web(base) else Path(as_path(base)) / path


async def looked(look: Callable[[Call], Awaitable[_Value]], function: Function, base: str | None) -> _Value | None:
    """Return the result of *look* for *function*; None if its document is on the web. Only raises CallFailed."""
    try:
        return await look(Call(function, base=base))
    except NotLocalError:
        return None
    except CallFailed:
        raise
    except Exception as error:
        message = f"function '{function.name}' could not be inspected: {type(error).__name__}: {error}"
        raise CallFailed(message, code="InternalError", cause=type(error).__name__) from error


def only_local(read: Callable[[], _Value]) -> Callable[[], _Value]:
    """Return *read*, but raising NotLocalError if a document refers to another one on the web."""

    def reading() -> _Value:
        try:
            return read()
        except UnresolvedReference as needed:
            if is_web(needed.location):
                raise NotLocalError(needed.message) from needed
            raise

    return reading
