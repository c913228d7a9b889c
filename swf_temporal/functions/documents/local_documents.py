"""Which file on this machine describes a function, so that it can be looked at before anything is called?

This is asked of every function of every definition that is validated, so nothing heavy is imported here.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from swf_temporal.calls import Function
from swf_temporal.errors import CallFailed
from swf_temporal.functions.call import Call
from swf_temporal.functions.documents.parts import UnresolvedReference, as_path, is_web

_Value = TypeVar("_Value")

_PARTS = {"rest": 1, "openapi": 1, "asyncapi": 1, "rpc": 2}
"""The types whose functions are described by a document, with how many parts stand after its name."""
_NO_FILE = ("rest:", "reflection:", "grpc://", "grpcs://")


class NotLocalError(Exception):
    """What is needed is on the web, where only a call may look."""


def file_named(function: Function, base: str | None) -> Path | None:
    """Return the file with the document that *function* names, found relative to *base*; None if it names none.

    Whether there is such a file is another question.
    """
    operation, parts = function.operation, _PARTS.get(function.type)
    if parts is None or not isinstance(operation, str) or operation.startswith(_NO_FILE):
        return None
    name, *rest = (part.strip() for part in operation.rsplit("#", parts))
    if not name or len(rest) != parts or is_web(name):
        return None
    path = Path(as_path(name))
    if base is None or path.is_absolute():
        return path
    return None if is_web(base) else Path(as_path(base)) / path


async def looked(look: Callable[[Call], Awaitable[_Value]], function: Function, base: str | None) -> _Value | None:
    """Return what *look* finds of *function*; None if that is on the web. Raises CallFailed, and nothing else."""
    try:
        return await look(Call(function, base=base))
    except NotLocalError:
        return None
    except CallFailed:
        raise
    except Exception as error:
        message = f"function '{function.name}' could not be looked at: {type(error).__name__}: {error}"
        raise CallFailed(message, code="InternalError", cause=type(error).__name__) from error


def only_here(read: Callable[[], _Value]) -> Callable[[], _Value]:
    """Return *read*, but raising NotLocalError where a document leads into another one that is on the web."""

    def reading() -> _Value:
        try:
            return read()
        except UnresolvedReference as needed:
            if is_web(needed.location):
                raise NotLocalError(needed.message) from needed
            raise

    return reading
