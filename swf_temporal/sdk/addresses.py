"""The addresses of a workflow's functions: service, method and path.

Only documents on this machine are read; nothing is fetched.
"""

import asyncio
from collections.abc import Iterable
from typing import Any, TypeAlias

from swf_temporal.base.calls import Function
from swf_temporal.base.errors import CallFailed
from swf_temporal.base.function_types import operation_type
from swf_temporal.functions.calling import Functions

Facts: TypeAlias = dict[str, Any]


def addresses_of(folder: str | None, functions: Iterable[Function]) -> dict[str, Facts]:
    """Return the operation of each function and, if its document is on this machine, the address.

    Documents are found relative to *folder*.
    """
    return asyncio.run(_addresses(folder, functions))


async def _addresses(folder: str | None, functions: Iterable[Function]) -> dict[str, Facts]:
    performing = Functions()
    return {one.name: await _address(one, folder, performing) for one in functions}


async def _address(function: Function, folder: str | None, functions: Functions) -> Facts:
    kind = operation_type(function.type)
    named = {} if kind is None else kind.named(function.operation)
    facts: Facts = {name: value for name, value in named.items() if value}
    try:
        found = await functions.look(function, folder)
    except CallFailed as fault:
        return facts | {"problem": " ".join(fault.message.split())}
    return facts if found is None else {**facts, **found.address}
