"""Results and exceptions of Python code, as a workflow sees them."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import thread
from contextlib import contextmanager
from itertools import dropwhile
from math import isfinite
from pathlib import Path
from traceback import FrameSummary, StackSummary, extract_tb
from typing import Final

from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, permanent_failure
from swf_temporal.base.grammar import with_article
from swf_temporal.base.strict_json import checked, write_json
from swf_temporal.functions.call import Call

_PACKAGE: Final = Path(__file__).parents[2]
_MAX_FRAMES: Final = 20
_NOT_JSON: Final = (PydanticSerializationError, ValueError, RecursionError)


def as_json(call: Call, result: object) -> JSON:
    """Return *result* as JSON, converted by pydantic if necessary. Raises CallFailed if that is not possible."""
    try:
        return _plain(result)
    except _NOT_JSON as error:
        name = with_article(type(result).__name__)
        message = f"custom function '{call.function.name}' returned {name}, not JSON: {error}"
        raise permanent_failure("NotJSON", message) from error


def _plain(value: object) -> JSON:
    """Return *value* as JSON. Raises one of _NOT_JSON."""
    plain: JSON = to_jsonable_python(value)
    return checked(plain, _written(plain))  # type: ignore[no-any-return]  # now checked to be JSON


def _written(value: JSON) -> bytes:
    """Return *value* as JSON, written by the fast library; what that refuses, ours refuses with the place."""
    try:
        return to_json(value)
    except PydanticSerializationError:
        return write_json(value).encode()


@contextmanager
def exceptions_as_faults() -> Iterator[None]:
    """Raise a call's fault for anything that its Python code raises, even KeyboardInterrupt."""
    try:
        yield
    except GeneratorExit:
        raise
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise raised(error) from error  # of something that the code itself awaited or cancelled
    except BaseException as error:
        raise raised(error) from error


def raised(error: BaseException) -> CallFailed:
    """Return the fault for an exception: its name and code are the exception's class."""
    if isinstance(error, CallFailed):
        return _recorded(error)
    name = type(error).__name__
    fault = CallFailed(str(error) or name, name=name, code=name, cause=name)
    fault.frames = _frames_of(error)
    return fault


def _recorded(fault: CallFailed) -> CallFailed:
    """Return *fault*, raised by the user's code, with facts that are JSON.

    Others could not be recorded, and an attempt without an outcome would be repeated forever.
    """
    seconds: object = fault.retry_after
    if seconds is not None and not (isinstance(seconds, int | float) and isfinite(seconds)):
        fault.retry_after = None
    for name in ("status", "body"):
        try:
            setattr(fault, name, _plain(getattr(fault, name)))
        except _NOT_JSON as error:
            setattr(fault, name, f"not JSON: {error}" if name == "body" else None)
    return fault


def _frames_of(error: BaseException) -> str:
    """Return the places where *error* and its cause were raised, the innermost frame last, without our own code."""
    own = list(dropwhile(_is_on_the_way, extract_tb(error.__traceback__)))
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    before = [] if cause is None else extract_tb(cause.__traceback__)[-_MAX_FRAMES:]
    return "".join(StackSummary.from_list([*before, *own[-_MAX_FRAMES:]]).format()).rstrip()


def _is_on_the_way(frame: FrameSummary) -> bool:
    """Return whether *frame* is in our code, on the way to the user's."""
    return frame.filename == thread.__file__ or Path(frame.filename).is_relative_to(_PACKAGE)
