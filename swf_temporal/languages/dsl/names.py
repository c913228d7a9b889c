"""The identity of a definition, the versions of the language, and the tasks in a document as it is written."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from swf_temporal.text.origin import Object, objects_in


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


NAME: Final = "dsl"
"""The name of the language in records."""
TITLE: Final = "Serverless Workflow 1.0"
LATEST_DSL: Final = (1, 0, 3)
"""The latest version of the language that is known."""
FIRST_OPEN: Final = (1, 0, 3)
"""The first version of the language whose standard errors have the domain of the Open Workflow Specification."""
_NUMBERS: Final = re.compile(r"(\d+)\.(\d+)\.(\d+)")
LATEST: Final = "latest"
"""The version of a workflow to run that means the latest."""


NAME_FORM: Final = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
"""The pattern of namespaces and names of definitions."""
VERSION_FORM: Final = (
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
    r"(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?"
)
"""The pattern of semantic versions."""
DIRECTIVES: Final = ("continue", "exit", "end")
"""The values of `then` that are no names of tasks."""
OF_WORKER: Final = "@default"
"""The end of the name of a function in the default catalog, which has the functions of the worker."""
OF_ZIGFLOW: Final = frozenset({"workflowType", "taskQueue"})
"""The keys of `document` by which zigflow, another runtime on Temporal, identifies a workflow."""

LIKE_ZIGFLOW: Final = (
    "that is zigflow's: a document with document.taskQueue and document.workflowType, in place of namespace and name, "
    "is read as zigflow reads it"
)
"""The hint about what DSL 1.0 has not, but zigflow, whose older documents have the identity of DSL 1.0."""


def id_of(namespace: str, name: str) -> str:
    """Return the id of the definition *name* in *namespace*, which is also the type of its workflows on Temporal.

    Neither may have a dot, so that it is unique. The workflows of zigflow are in no namespace.
    """
    return f"{namespace}.{name}" if namespace else name


def version_numbers(dsl: str) -> tuple[int, int, int]:
    """Return the numbers of a version of the language; those of the present one if they cannot be read."""
    found = _NUMBERS.match(dsl)
    return FIRST_OPEN if found is None else (int(found[1]), int(found[2]), int(found[3]))


def own_function(called: str) -> str | None:
    """Return the name of the worker's own function that `name:version@default` means, if it means one."""
    name, _, version = called.removesuffix(OF_WORKER).partition(":")
    return name if called.endswith(OF_WORKER) and name and version else None


def is_zigflow(root: Mapping[str, Any]) -> bool:
    """Return True if *root* has the identity of a zigflow document."""
    document = root.get("document")
    return isinstance(document, dict) and not OF_ZIGFLOW.isdisjoint(document)
