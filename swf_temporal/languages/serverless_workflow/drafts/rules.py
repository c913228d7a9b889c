"""The validation context that the rules of all drafts share, with problems in the author's words."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TypeVar

from swf_temporal.base.errors import Position, Problem, Severity
from swf_temporal.base.grammar import plural, with_article
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.states import NodesByKind
from swf_temporal.languages.serverless_workflow.reading.normalizing import parts
from swf_temporal.text.origin import Source

_NAME_IT = "it is referred to by its name: write one"

_Kind = TypeVar("_Kind", bound=Node)


class DraftContext(ABC):
    """One definition under validation. Each draft derives its own, with the words for its parts."""

    def __init__(self, root: Node, source: Source) -> None:
        self._source = source
        self._nodes = NodesByKind(self._walk(root, "the workflow", ""))

    @abstractmethod
    def called(self, node: Node, number: int) -> str:
        """Return the words for *node*, the *number*th of its kind there; empty if there are none."""

    def each(self, kind: type[_Kind]) -> Iterator[tuple[_Kind, str]]:
        """Yield every node of *kind*, or of a kind derived from it, with the words for its location."""
        return self._nodes.each(kind)

    def error(self, code: str, message: str, position: Position, hint: str | None = None) -> Problem:
        """Return a problem that prevents the definition from running."""
        return self._source.problem(code, message, position, hint)

    def warning(self, code: str, message: str, position: Position, hint: str | None = None) -> Problem:
        return self._source.problem(code, message, position, hint, Severity.WARNING)

    def repeated(self, word: str, nodes: Sequence[Node], within: str = "") -> Iterator[Problem]:
        """Yield a problem for each of *nodes* with the name of an earlier one or none; *word* is the word for them."""
        first: dict[str, Node] = {}
        for node in nodes:
            name = str(getattr(node, "name", ""))
            if not name.strip():
                yield self.error(
                    "missing",
                    f"{with_article(word)}{within} has an empty name",
                    node.where.value("name"),
                    _NAME_IT,
                )
            elif name in first:
                message = f"there are several {plural(word)} named {name!r}{within}"
                yield self._duplicate(message, node, first[name], "name")
            else:
                first[name] = node

    def repeated_ids(self, word: str, nodes: Sequence[Node], within: str = "") -> Iterator[Problem]:
        """Yield a problem for each of *nodes* with the id of an earlier one; *word* is the word for them."""
        first: dict[str, Node] = {}
        for node in nodes:
            own = getattr(node, "id", None)
            if own is not None and first.setdefault(own, node) is not node:
                message = f"there are several {plural(word)} with the id {own!r}{within}"
                yield self._duplicate(message, node, first[own], "id")

    def within(self, text: str, position: Position, offset: int | None) -> Position:
        """Return the position of the character at *offset* of *text*, which is in one line at *position*."""
        line = self._source.problem("", "", position).line
        for skipped in (0, 1):  # there may be a quote before the text
            start = position.column - 1 + skipped
            if offset and line[start : start + len(text)] == text:
                return Position(position.line, position.column + skipped + offset)
        return position

    def _duplicate(self, message: str, node: Node, first: Node, key: str) -> Problem:
        hint = f"the first is at line {first.where.value(key).line}"
        return self.error("duplicate-name", message, node.where.value(key), hint)

    def _walk(self, node: Node, owner: str, above: str) -> Iterator[tuple[Node, str]]:
        """Yield *node* and those in it, each with the words for its location."""
        yield node, owner
        for attribute in _attributes(type(node)):
            value = getattr(node, attribute)
            for number, child in enumerate(value if isinstance(value, tuple) else (value,), 1):
                if isinstance(child, Node):
                    called = self.called(child, number)
                    path = f"{called} of {above}" if called and above else called or above
                    yield from self._walk(child, path or owner, path)


@cache
def _attributes(kind: type[Node]) -> tuple[str, ...]:
    """Return the fields in which nodes of *kind* hold other nodes."""
    names = {info.alias or name: name for name, info in kind.model_fields.items()}
    return tuple(names[key] for key, part in parts(kind).items() if part.kinds)
