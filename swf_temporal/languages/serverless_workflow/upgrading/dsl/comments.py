"""Comments of a YAML text, by the line that they stand in."""

from collections.abc import Iterator
from typing import Any


def comments_of(root: Any) -> dict[int, str]:
    """Return the comments in a document that ruamel.yaml has read, without the number sign, by line, from 1."""
    found: dict[int, str] = {}
    for token in _tokens(root):
        for offset, line in enumerate(token.value.splitlines()):
            if line.strip().startswith("#"):
                found[token.start_mark.line + 1 + offset] = line.strip().removeprefix("#").removeprefix(" ")
    return dict(sorted(found.items()))


def _tokens(node: Any) -> Iterator[Any]:
    attached = getattr(node, "ca", None)
    if attached is not None:
        yield from _flat(attached.comment)
        yield from _flat(list(attached.items.values()))
        yield from _flat(attached.end)
    inside = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    for one in inside:
        yield from _tokens(one)


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for one in value:
            yield from _flat(one)
    elif hasattr(value, "start_mark"):
        yield value
