"""Many paths of one kind, such as the iterations of a foreach, with a progress that does not grow with their number.

Of those that are complete from the first on, the *front*, only what they came to is kept: they have no frame, and a run
that goes on has no task for them. The others have a frame each, and no more of them are begun than a window allows,
unless one at the front takes longer than those after it.
"""

from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Any, Final, Generic, TypeVar

from swf_temporal.base.errors import WorkflowFault
from swf_temporal.runtime.joining import Group, Missing, Path, SuspendRequested, join, join_each
from swf_temporal.runtime.lanes import LaneBase
from swf_temporal.runtime.progress import Front

F = TypeVar("F")
K = TypeVar("K", bound=Front)

MAX_AT_ONCE: Final = 1000
"""How many iterations run at once where the definition sets no limit: what an engine can hold, with room."""


class Iterations(Generic[F]):
    """The iterations of one step, each with a frame of the class F until it is at the front.

    A language says how one is run, whether its frame says that it is complete, and what is kept of it.
    """

    def __init__(
        self,
        lane: LaneBase,
        front: Front,
        frames: dict[int, F],
        *,
        run_one: Callable[[int], Awaitable[None]],
        is_complete: Callable[[F], bool],
        keep: Callable[[F], None],
        calls: AbstractSet[str] | None,
    ) -> None:
        """Run those that *front* has not yet, whose *frames* are written by `run_one` as it goes.

        *keep* adds to the front what a complete one came to, in their order. *calls* are the names of all that one can
        give ids to; None is that states within it give some.
        """
        self._lane = lane
        self._front = front
        self._frames = frames
        self._run_one = run_one
        self._is_complete = is_complete
        self._keep = keep
        self._calls = calls

    async def run(
        self,
        *,
        window: int = MAX_AT_ONCE,
        passed_over: Callable[[int], F | None] = lambda _: None,
        hands_over: bool = True,
    ) -> None:
        """Run them all, at most *window* at once. The first that fails fails the step, and ends the others.

        *passed_over* is asked before one begins: the frame that it returns is complete, and nothing is done. Where the
        run is suspended the host may hold the outputs, unless the step *hands_over* none: it needs all of them again.
        """
        lane, front = self._lane, self._front

        def begin(index: int) -> Path[None] | None:
            frame = self._frames.get(index)
            if frame is not None and self._is_complete(frame):
                return None
            if (complete := passed_over(index)) is not None:
                self._frames[index] = complete
                return None

            async def path() -> None:
                await lane.run.pacing.give_way()
                await self._run_one(index)

            return path

        try:
            await run_in_turn(front.of, front.count, begin, self._fold, window=window)
        except SuspendRequested:
            if hands_over:
                front.hand_over(lane.run.host)
            raise
        lane.run.begin_iterations(lane.path)

    def _fold(self, index: int) -> bool:
        frame = self._frames.get(index)
        if frame is None or not self._is_complete(frame):
            return False
        self._keep(frame)
        self._front.count = index + 1
        del self._frames[index]
        self._lane.run.forget_iteration(self._lane.path, index, self._calls)
        return True


def begin_front(kind: type[K], number: int, lane: LaneBase, calls: int = 1) -> K:
    """Return the front, of the class *kind*, of *number* iterations that begin now, and make so many *calls* each.

    Raises PayloadTooLarge where these are more than the run could carry on.
    """
    lane.run.begin_iterations(lane.path, number * calls)
    return kind(number)


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


T = TypeVar("T")


async def first_to_succeed(
    paths: Sequence[Path[T]], failed: list[int], lane: LaneBase, all_failed: Callable[[], WorkflowFault]
) -> list[T | Missing]:
    """Return the result of the first of *paths* that does not fail, at its place among them: the others are ended then.

    *failed* are the numbers of those that did, and belongs to a frame. Raises what *all_failed* returns if all do, and
    at once what no definition can catch.
    """

    def contender(index: int) -> Path[T]:
        async def path() -> T:
            if index not in failed:
                try:
                    return await paths[index]()
                except WorkflowFault as fault:
                    if not fault.catchable:
                        raise
                    failed.append(index)
            if len(failed) < len(paths):
                await lane.run.stand_still()
            raise all_failed()

        return path

    if not paths:
        raise all_failed()
    return await join([contender(index) for index in range(len(paths))], need=1)


class DetachedBranches(Generic[F]):
    """The branches that a step did not wait for: they run beside everything else, and the instance ends after them."""

    def __init__(self, frames: list[F], run_one: Callable[[F], Coroutine[Any, Any, None]]) -> None:
        """Run those of *frames*, which belong to the frame of the instance; *run_one* runs one to its end."""
        self._frames = frames
        self._run_one = run_one
        self._group: Group[Any] = Group()

    async def run_beside(self, path: Path[T]) -> T:
        """Return the result of *path*, once it and all branches that it has left running are complete."""
        result: T = await self._group.run(path, [partial(self._run, one) for one in self._frames])
        return result

    def add(self, frame: F) -> None:
        """Leave one more running."""
        self._frames.append(frame)
        self._group.add(partial(self._run, frame))

    async def _run(self, frame: F) -> None:
        await self._run_one(frame)
        # By identity: two branches may have come equally far.
        self._frames[:] = [one for one in self._frames if one is not frame]
