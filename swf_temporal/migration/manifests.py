"""Kubernetes resources in a project: definitions, and the ConfigMaps with what surrounds them."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final

from swf_temporal.text.located import Object, UnreadableText, plain
from swf_temporal.text.origin import Source
from swf_temporal.text.parsing import read_object
from swf_temporal.text.yaml_text import write_yaml

_NEXT_DOCUMENT: Final = re.compile(r"^---[ \t]*(?:#.*)?$\n?", re.MULTILINE)
_IN_PROJECT: Final = "src/main/resources"
_NAME: Final = re.compile(r"[\w.-]+")


@dataclass(frozen=True, slots=True)
class Mount:
    """A ConfigMap whose files are in a folder of an application."""

    config_map: str
    folder: str
    """Relative to the folder of the application's definition; empty for that folder itself."""
    line: int
    """The line, within the resource, that names the ConfigMap."""


def parts_of(text: str) -> Iterator[tuple[int, str]]:
    """Yield the documents of a stream that are not empty, each with the number of lines before it."""
    begin = 0
    for mark in [*_NEXT_DOCUMENT.finditer(text), None]:
        end = len(text) if mark is None else mark.start()
        if text[begin:end].strip():
            yield text.count("\n", 0, begin), text[begin:end]
        begin = len(text) if mark is None else mark.end()


def resource_in(text: str) -> tuple[str | None, Object | None]:
    """Return the kind of the Kubernetes resource in *text*, and the resource; None if it is something else."""
    if "kind" not in text:
        return None, None
    try:
        root, _ = read_object(Source(text, ""))
    except UnreadableText:
        return None, None
    kind = root.get("kind")
    return (kind, root) if "apiVersion" in root and isinstance(kind, str) else (None, None)


def items_of(text: str, root: Object) -> Iterator[tuple[str, int]]:
    """Yield the text of each item of the list *root*, and the number of lines before it.

    It is cut out, so that its lines stay those of the file, or written anew if it shares its lines with others.
    """
    items = root.get("items")
    for item in items if isinstance(items, list) else ():
        if isinstance(item, Object):
            yield _item(text, item)


def _item(text: str, item: Object) -> tuple[str, int]:
    place = item.where.position
    lines = text.splitlines(keepends=True)[place.line - 1 :]
    margin = place.column - 1
    inside = takewhile(lambda line: not line.strip() or not line[:margin].strip(), lines[1:])
    cut = "".join([lines[0][margin:], *(line[margin:] if line.strip() else "\n" for line in inside)])
    with suppress(UnreadableText):
        found, _ = read_object(Source(cut, ""))
        if plain(found) == plain(item):
            return cut, place.line - 1
    return write_yaml(plain(item)), place.line - 1


def name_of(root: Mapping[str, Any]) -> str | None:
    """Return the name of a resource, if it can be that of a file."""
    metadata = root.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) and _NAME.fullmatch(name) else None


def flow_in(root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the definition in a resource."""
    flow = _object(_object(root, "spec"), "flow")
    return {"id": name_of(root), **flow}


def mounts_of(root: Object) -> Iterator[Mount]:
    """Yield the ConfigMaps that the application of a SonataFlow resource has as files of its project."""
    spec = _object(root, "spec")
    for one in _objects(_object(spec, "resources"), "configMaps"):
        named = _object(one, "configMap")
        if isinstance(named.get("name"), str):
            folder = one.get("workflowPath")
            yield Mount(named["name"], folder.strip("/") if isinstance(folder, str) else "", _line(named))
    template = _object(spec, "podTemplate")
    volumes = {one.get("name"): _object(one, "configMap") for one in _objects(template, "volumes")}
    for one in _objects(_object(template, "container"), "volumeMounts"):
        named, path = volumes.get(one.get("name"), {}), str(one.get("mountPath"))
        if isinstance(named.get("name"), str) and _IN_PROJECT in path:
            yield Mount(named["name"], path.partition(_IN_PROJECT)[2].strip("/"), _line(one))


def _line(node: Mapping[str, Any]) -> int:
    return node.where.position.line if isinstance(node, Object) else 1


def _object(node: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = node.get(key)
    return found if isinstance(found, dict) else {}


def _objects(node: Mapping[str, Any], key: str) -> Iterator[Mapping[str, Any]]:
    found = node.get(key)
    yield from (one for one in (found if isinstance(found, list) else ()) if isinstance(one, dict))
