"""Executions with which an instance goes on from where it was in another one: see `going_on.py`."""

from collections.abc import Sequence
from typing import Any

from temporalio.api.common.v1 import Payload
from temporalio.converter import DataConverter

from swf_temporal.data import JSON
from swf_temporal.errors import PayloadUnavailable
from swf_temporal.runtime.sharing import with_copies


async def record_of_start(converter: DataConverter, payloads: Sequence[Payload]) -> dict[str, Any]:
    """Return what an execution is given to know beside its data; nothing where that is none of ours, or unreadable."""
    try:
        _, record, *_ = await converter.decode(list(payloads[:2]))
    except (ValueError, RuntimeError, PayloadUnavailable):
        return {}
    return record if isinstance(record, dict) else {}


async def before_it_went_on(converter: DataConverter, payloads: Sequence[Payload]) -> tuple[str | None, int | None]:
    """Return the execution from which another one goes on, and how many entries of its trace belong to the instance.

    None for one that begins an instance: its input are *payloads*.
    """
    match (await record_of_start(converter, payloads)).get("again"):
        case {"run": str(run), "entries": int(entries)}:
            return run, entries
    return None, None


async def input_of_start(converter: DataConverter, payloads: Sequence[Payload]) -> JSON:
    """Return the data with which an instance began whose first execution, or one to go on with, was given *payloads*.

    Raises ValueError, RuntimeError or PayloadUnavailable where they cannot be read.
    """
    progress = (await record_of_start(converter, payloads)).get("progress")
    if isinstance(progress, dict):
        return with_copies(progress).get("input")
    return next(iter(await converter.decode(list(payloads[:1]))), None)
