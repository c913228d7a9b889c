"""Many paths of one kind, such as the iterations of a foreach, with a progress record that does not grow with them.

The paths that are complete, from the first on, are the *front*. Only their results are kept: they have no frame, and a
resumed run has no task for them. The others have a frame each, and there are no more of these than the window allows,
unless the first takes longer than those after it.
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
"""The number of iterations that run at once if the definition sets no limit: with room, what Temporal can handle."""


class Iterations(Generic[F]):
    """The iterations of one step, each with a frame of the class F until it becomes part of the front.

    A language supplies functions that run one, tell from its frame if it is complete, and keep its result.
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
        """Run the iterations that are not in *front* yet; `run_one` keeps their *frames* up to date.

        *keep* adds the result of a complete one to the front, in their order. *calls* are the names of everything that
        one can create ids for; None if states within it create some.
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

        *passed_over* is called before one begins: it may return a complete frame, and the iteration is skipped. When
        the run is suspended, the host may store the outputs, unless *hands_over* is false: then the step needs them all
        again.
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
    """Return the front, of the class *kind*, of *number* iterations that begin now and make *calls* calls each.

    Raises PayloadTooLarge if there are more calls than the run could carry over.
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

    *begin* returns the path of an index, or None if it has nothing left to do. *fold* moves its result to the front,
    and returns False if it is not complete yet; it is called for one index after the other.
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
    """Return the result of the first of *paths* that succeeds, at its index among them; the others are cancelled.

    *failed* lists the indexes of those that failed, and belongs to a frame. Raises what *all_failed* returns if all
    fail, and at once any fault that a definition cannot catch.
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
    """Branches that a step did not wait for: they run in parallel, and the instance ends after them."""

    def __init__(self, frames: list[F], run_one: Callable[[F], Coroutine[Any, Any, None]]) -> None:
        """Run the branches of *frames*, a list in the frame of the instance; *run_one* runs one to its end."""
        self._frames = frames
        self._run_one = run_one
        self._group: Group[Any] = Group()

    async def run_beside(self, path: Path[T]) -> T:
        """Return the result of *path*, once it and all branches that it detached are complete."""
        result: T = await self._group.run(path, [partial(self._run, one) for one in self._frames])
        return result

    def add(self, frame: F) -> None:
        """Run one more detached branch."""
        self._frames.append(frame)
        self._group.add(partial(self._run, frame))

    async def _run(self, frame: F) -> None:
        await self._run_one(frame)
        # By identity: two branches may have equal progress.
        self._frames[:] = [one for one in self._frames if one is not frame]
