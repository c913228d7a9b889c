"""What is the smallest scenario that still shows a difference?"""

from collections.abc import Awaitable, Callable, Iterator
from copy import deepcopy
from typing import Any

from tests.agreement.generating import Document

Path = tuple[str | int, ...]
MAX_TRIES = 400


async def shrunk(document: Document, differs: Callable[[list[Document]], Awaitable[list[bool]]]) -> Document:
    """Return the smallest form of *document* that could be found for which *differs* is true.

    It is asked of several at once, all of which are the same but for one thing.
    """
    tries = 0
    while tries < MAX_TRIES:
        smaller = list(_smaller(document))
        for begin in range(0, len(smaller), 12):
            some = smaller[begin : begin + 12]
            tries += len(some)
            verdicts = await differs(some)
            found = next((one for one, verdict in zip(some, verdicts, strict=True) if verdict), None)
            if found is not None:
                document = found
                break
        else:
            break
    return document


def _smaller(document: Document) -> Iterator[Document]:
    for path in sorted(_parts(document), key=len):
        copy = deepcopy(document)
        holder: Any = copy
        for step in path[:-1]:
            holder = holder[step]
        del holder[path[-1]]
        yield copy


def _parts(value: Any, path: Path = ()) -> Iterator[Path]:
    if isinstance(value, dict):
        for key, one in value.items():
            if not (len(path) == 0 and key in {"scenario", "workflow"}):
                yield (*path, key)
            yield from _parts(one, (*path, key))
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield (*path, number)
            yield from _parts(one, (*path, number))
