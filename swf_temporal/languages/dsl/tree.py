"""The tasks in a document as it is written, valid or not, for reading and for editors."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from swf_temporal.text.located import Object, objects_in


class WrittenTask(NamedTuple):
    """A task in a document."""

    holder: Object
    """The object with its name as a key."""
    name: str
    task: Object
    is_function: bool = False
    """Whether it is in `use.functions`."""

    @property
    def owner(self) -> str:
        """Its name in messages."""
        return f"{'function' if self.is_function else 'task'} {self.name!r}"


def written_tasks(root: Object) -> Iterator[WrittenTask]:
    """Yield the tasks in *root*, each before those in it."""
    yield from _listed(root.get("do"))
    use = object_at(root, "use")
    functions = object_at(use, "functions")
    for name, task in list(functions.items()) if functions is not None else ():
        if isinstance(task, Object):
            assert functions is not None  # noqa: S101 - it has a task
            yield WrittenTask(functions, name, task, is_function=True)
            yield from tasks_within(task)
    for holder in objects_in(None if use is None else use.get("extensions")):
        for extension in holder.values():
            if isinstance(extension, Object):
                yield from _listed(extension.get("before"))
                yield from _listed(extension.get("after"))


def tasks_within(task: Object) -> Iterator[WrittenTask]:
    """Yield the tasks inside *task*, each before those in it."""
    for path in (("do",), ("fork", "branches"), ("try",), ("catch", "do")):
        holder = object_at(task, *path[:-1])
        if holder is not None:
            yield from _listed(holder.get(path[-1]))
    for iterator in iterators_of(task):
        yield from _listed(iterator.get("do"))


def iterators_of(task: Object) -> Iterator[Object]:
    """Yield what *task* has for each event or message that it consumes."""
    for path in (("foreach",), ("with", "subscription", "foreach")):
        found = object_at(task, *path)
        if found is not None:
            yield found


def object_at(node: Any, *path: str) -> Object | None:
    """Return the object at *path* in *node*, if there is one."""
    for key in path:
        node = node.get(key) if isinstance(node, Object) else None
    return node if isinstance(node, Object) else None


def _listed(tasks: Any) -> Iterator[WrittenTask]:
    for holder in objects_in(tasks):
        for name, task in holder.items():
            if isinstance(task, Object):
                yield WrittenTask(holder, name, task)
                yield from tasks_within(task)
