"""Many paths of one kind, such as the iterations of a foreach, with a progress that does not grow with their number.

Of those that are complete from the first on, the *front*, only what they came to is kept: they have no frame, and a run
that goes on has no task for them. The others have a frame each, and no more of them are begun than a window allows,
unless one at the front takes longer than those after it.
"""

from collections.abc import Callable, Iterator
from typing import Any

from swf_temporal.runtime.joining import Path, join_each


async def run_in_turn(
    number: int,
    first: int,
    begin: Callable[[int], Path[Any] | None],
    fold: Callable[[int], bool],
    *,
    window: int,
) -> None:
    """Run the paths from *first* to *number*, at most *window* at once.

    *begin* returns the path of that number, or None if there is nothing left to do of it. *fold* takes what it came to
    to the front, and returns False where it is not complete yet: it is asked for one number after the other.
    """
    front = first

    def advance(_: Any = None) -> None:
        nonlocal front
        while front < number and fold(front):
            front += 1

    def paths() -> Iterator[Path[Any]]:
        for index in range(first, number):
            path = begin(index)
            if path is not None:
                yield path

    advance()
    first = front
    await join_each(paths(), advance, window=window)
    advance()
