"""The task lists in tasks, and their places as JSON Pointers."""

from collections.abc import Iterator, Sequence

from swf_temporal.languages.dsl.model.workflow import (
    CallAsyncApi,
    DoTask,
    ForkTask,
    ForTask,
    ListenTask,
    NamedTask,
    SubscriptionIterator,
    Task,
    TryTask,
)


def escaped(name: str) -> str:
    """Return *name* as a step of a JSON Pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def lists_of(task: Task) -> Iterator[tuple[str, Sequence[NamedTask]]]:
    """Yield the task lists in *task*, each with its place."""
    match task:
        case DoTask() | ForTask():
            yield "do", task.do
        case ForkTask():
            yield "fork/branches", task.fork.branches
        case TryTask():
            yield "try", task.try_
            yield "catch/do", task.catch.do
        case ListenTask(foreach=SubscriptionIterator() as each):
            yield "foreach/do", each.do
        case CallAsyncApi() if task.with_.subscription is not None and task.with_.subscription.foreach is not None:
            yield "with/subscription/foreach/do", task.with_.subscription.foreach.do
