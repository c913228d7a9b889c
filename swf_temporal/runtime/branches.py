"""Branches: paths side by side within one step, and those that a step leaves running to the end of the instance."""

from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

from swf_temporal.base.errors import WorkflowFault
from swf_temporal.runtime.joining import Group, Missing, Path, join
from swf_temporal.runtime.lanes import LaneBase

F = TypeVar("F")
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
