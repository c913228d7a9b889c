"""Who carries out functions of the types that users add?"""

from collections.abc import Awaitable, Callable, Iterable, Mapping

from swf_temporal.data import JSON
from swf_temporal.functions.call import Call
from swf_temporal.functions.custom.outcomes import as_json, raised
from swf_temporal.functions.registry import FunctionType


def performers(types: Mapping[str, FunctionType]) -> dict[str, Callable[[Call], Awaitable[JSON]]]:
    """Return for each of *types* what performs its calls."""
    return {name: _performer(kind) for name, kind in types.items()}


async def close(types: Iterable[FunctionType]) -> None:
    """Let go of what *types* hold, those that hold something."""
    for kind in types:
        end = getattr(kind, "aclose", None)
        if end is not None:
            await end()


def _performer(kind: FunctionType) -> Callable[[Call], Awaitable[JSON]]:
    async def perform(call: Call) -> JSON:
        try:
            result = await kind.perform(call)
        except Exception as error:
            raise raised(error) from error
        return as_json(call, result)

    return perform
