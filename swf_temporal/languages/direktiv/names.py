"""The names of workflows, which are their paths in a namespace, and the resolution of references to them."""

from collections.abc import Iterator
from posixpath import basename, dirname, join, normpath, splitext
from typing import Final

from swf_temporal.base.calls import Function as Callee
from swf_temporal.languages.direktiv.model import (
    Function,
    JobFunction,
    SharedFunction,
    SubflowFunction,
    WorkflowFunction,
)

NAMELESS: Final = "workflow"
"""The name of a definition that was not read from a file and does not set one."""
LATEST: Final = "latest"
"""The ref that means the definition without one."""
_ENDINGS: Final = ("", ".yaml", ".yml")


def split_name(name: str) -> tuple[str, str | None]:
    """Return the path and the ref, after a colon, of a definition; `latest` is the one without a ref."""
    path, _, ref = name.rpartition(":") if ":" in name else (name, "", "")
    return path, ref if ref and ref != LATEST else None


def name_at(path: str) -> str:
    """Return the name of the definition in the file at *path*: `/a/b@v1.yaml` and `/a/b:v1.yaml` are `/a/b.yaml:v1`."""
    stem, ending = splitext(path)
    folder, base = dirname(stem), basename(stem)
    for separator in "@:":
        name, _, ref = base.partition(separator)
        if name and ref:
            return f"{join(folder, name)}{ending}" + ("" if ref == LATEST else f":{ref}")
    return path


def candidates(reference: str, caller: str) -> tuple[tuple[str, ...], str | None]:
    """Return the names that *reference* in *caller* may mean, the most likely first, and its version.

    A path starts at the root of the namespace, with or without a slash; one that begins with a dot, or that is not
    found from the root, is relative to the folder of the caller.
    """
    path, version = split_name(reference)
    return tuple(dict.fromkeys(_candidates(path, caller))), version


def path_of(file: str, caller: str) -> str:
    """Return the path of a file in the namespace. If it begins with a dot, it is relative to the folder of *caller*."""
    start = dirname(caller) if caller.startswith("/") and file.startswith(".") else "/"
    return normpath(join(start, file.lstrip("/")))


def _candidates(path: str, caller: str) -> Iterator[str]:
    folder = dirname(caller) if caller.startswith("/") else "/"
    starts = [] if path.startswith(".") else [normpath(join("/", path))]
    if not path.startswith("/"):
        starts.append(normpath(join(folder, path)))
        yield path
    for start in starts:
        for ending in _ENDINGS:
            yield f"{start}{ending}"


TYPE = "direktiv"
"""The type of functions of this language in calls."""
KINDS = {"reusable": "knative-workflow", "isolated": "kubernetes-job"}
"""Former names of function types."""


def called(function: Function) -> Callee:
    operation = {"type": KINDS.get(function.type, function.type)}
    match function:
        case WorkflowFunction() | JobFunction():
            operation["image"] = function.image
        case SharedFunction():
            operation["service"] = function.service
        case SubflowFunction():
            operation["workflow"] = function.workflow
    return Callee(function.id, TYPE, operation)
