"""The names of workflows: their paths within a namespace, and what a reference to one may mean."""

from collections.abc import Iterator
from posixpath import basename, dirname, join, normpath, splitext
from typing import Final

from swf_temporal.base.calls import Function as Callee
from swf_temporal.languages.direktiv.model.workflow import (
    Function,
    JobFunction,
    SharedFunction,
    SubflowFunction,
    WorkflowFunction,
)

NAMELESS: Final = "workflow"
"""The name of a definition that was not read from a file, and has none of its own."""
LATEST: Final = "latest"
"""The ref of the definition that has none."""
_ENDINGS: Final = ("", ".yaml", ".yml")


def split_name(name: str) -> tuple[str, str | None]:
    """Return the path and the ref of a definition, which stands behind a colon; `latest` is the one without a ref."""
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
    """Return the names that *reference* may mean where *caller* makes it, the likeliest first, and its version.

    A path is one from the root of the namespace, with or without a slash; one that begins with a dot, or that leads
    nowhere from the root, is one from the folder of the caller.
    """
    path, version = split_name(reference)
    return tuple(dict.fromkeys(_candidates(path, caller))), version


def path_of(file: str, caller: str) -> str:
    """Return the path of a file in the namespace. Where *caller* begins it with a dot, it is one from its folder."""
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
"""The word by which what performs calls knows functions of this language."""
KINDS = {"reusable": "knative-workflow", "isolated": "kubernetes-job"}
"""Former words for types of functions."""


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
