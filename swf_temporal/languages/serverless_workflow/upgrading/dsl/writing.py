"""The text of a definition of DSL 1.0: the braces of expressions, and YAML with the comments of the text before it."""

import io
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from swf_temporal.languages.serverless_workflow.upgrading.dsl.expressions import braced

_EXPRESSIONS: Final = ("if", "when", "exceptWhen", "as", "from", "in")
"""The keys of what is an expression by definition."""
_OF_YAML_1_1: Final = re.compile(r"(?i:y|yes|n|no|on|off)|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?|0[0-7]+")
"""The plain texts that YAML 1.1 reads as booleans or numbers: older parsers do, ours and that of YAML 1.2 do not."""
Path: TypeAlias = tuple[str | int, ...]
Place: TypeAlias = tuple[int, Path]
"""The column in which a part began, and the path of what it has become."""
_DATA: Final = ("with", "set", "error", "metadata", "document", "input", "each", "jitter")
"""The keys of data, in which only `${ }` marks an expression."""


def marked(node: Any, key: str = "") -> Any:
    """Return *node* with `${ }` around what is an expression by definition, as strict mode asks for."""
    if isinstance(node, dict):
        is_filter = key == "input" and node.keys() <= {"from", "schema"}
        if key in _DATA and not is_filter:
            return {name: marked(value, name) if name == "correlate" else value for name, value in node.items()}
        return {name: marked(value, name) for name, value in node.items()}
    if isinstance(node, list):
        return [marked(item) for item in node]
    if isinstance(node, str) and key in _EXPRESSIONS and "${" not in node:
        return braced(node)
    return node


def yaml_of(document: dict[str, Any], comments: Mapping[int, str], places: Mapping[int, Place], before: str) -> str:
    """Return the text of *document*, with each of the *comments* above the part that it is about.

    *comments* are those of the text *before*, which was rewritten, by line; *places* are those of its parts, by line.
    """
    from ruamel.yaml import YAML  # noqa: PLC0415 - an extra
    from ruamel.yaml.scalarstring import LiteralScalarString, SingleQuotedScalarString  # noqa: PLC0415 - an extra

    def noted(value: Any) -> Any:
        if isinstance(value, dict):
            return yaml.map() if not value else _mapping(yaml, {noted(key): noted(item) for key, item in value.items()})
        if isinstance(value, list):
            return yaml.seq([noted(item) for item in value])
        if not isinstance(value, str):
            return value
        if "\n" in value.strip():
            return LiteralScalarString(value)
        return SingleQuotedScalarString(value) if _OF_YAML_1_1.fullmatch(value) else value

    yaml = YAML()
    yaml.width = 4096
    yaml.indent(mapping=2, sequence=4, offset=2)
    root = noted(document)
    above = _placed(comments, places, before)
    head = above.pop((), [])
    for path, texts in above.items():
        if not _put(root, path, texts):
            head += texts
    if head:
        root.yaml_set_start_comment("\n".join(head))
    stream = io.StringIO()
    yaml.dump(root, stream)
    return stream.getvalue()


def are_apart(text: str, states: Iterable[int]) -> bool:
    """Return whether there are blank lines in *text* before *states*, but for the first, given by their lines."""
    lines = text.splitlines()
    _, *others = sorted(states)
    before = (
        next((line for line in reversed(lines[: one - 1]) if not line.strip().startswith("#")), "-") for one in others
    )
    return bool(others) and all(not line.strip() for line in before)


def spaced(text: str) -> str:
    """Return *text*, a definition in YAML, with blank lines before its components, its tasks and between these."""
    found: list[str] = []
    section = ""
    for line in text.splitlines(keepends=True):
        begins = line[:1].isalpha()
        section = line.strip() if begins else section
        is_task = section == "do:" and line.startswith(("  - ", "  # "))
        if line.strip() in ("use:", "do:") if begins else is_task and not found[-1].startswith(("  # ", "do:")):
            at = len(found)
            while begins and at and found[at - 1].startswith("#"):
                at -= 1
            found.insert(at, "\n")
        found.append(line)
    return "".join(found)


def _mapping(yaml: Any, items: dict[str, Any]) -> Any:
    found = yaml.map()
    found.update(items)
    return found


def _placed(comments: Mapping[int, str], places: Mapping[int, Place], text: str) -> dict[Path, list[str]]:
    """Return the comments by the part that they are about: the one below a comment, or else the one that it is in."""
    found: dict[Path, list[str]] = {}
    written = text.splitlines()
    for line, comment in comments.items():
        below = line + 1
        while below in comments and written[below - 1].lstrip().startswith("#"):
            below += 1
        is_beside = not written[line - 1].lstrip().startswith("#")
        _, own = places.get(line if is_beside else below, (0, None))
        if own is None:
            indent = len(written[line - 1]) - len(written[line - 1].lstrip(" -"))
            inside = (
                start for start in sorted(places, reverse=True) if start <= line and places[start][0] <= indent + 1
            )
            start = next(inside, None)
            own = () if start is None else places[start][1]
        found.setdefault(own, []).append(comment)
    return found


def _put(root: Any, path: Path, texts: Iterable[str]) -> bool:
    """Put a comment above what is at *path* of *root*; return False if there is nothing."""
    node, indent = root, 0
    for key in path[:-1]:
        if not _has(node, key):
            return False
        node, indent = node[key], indent + 2
    if not _has(node, path[-1]):
        return False
    node.yaml_set_comment_before_after_key(path[-1], before="\n".join(texts), indent=indent)
    return True


def _has(node: Any, key: str | int) -> bool:
    return (
        key in node if isinstance(node, dict) else isinstance(node, list) and isinstance(key, int) and key < len(node)
    )


def tasks_in(tasks: list[dict[str, Any]], path: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield all tasks of the list at *path*, each with its path, that ends with its name."""
    for index, step in enumerate(tasks):
        for name, task in step.items():
            at = (*path, index, name)
            yield at, task
            for inner in (("do",), ("try",), ("catch", "do"), ("fork", "branches")):
                inside: Any = task
                for key in inner:
                    inside = inside.get(key, {}) if isinstance(inside, dict) else {}
                if isinstance(inside, list):
                    yield from tasks_in(inside, (*at, *inner))


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
