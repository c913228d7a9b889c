"""The report of an upgrade: changes, and parts that the newer version cannot express."""

from collections.abc import MutableMapping
from dataclasses import dataclass, field, replace
from typing import Any

from swf_temporal.base.errors import Position
from swf_temporal.languages.base import UpgradeChange
from swf_temporal.text.located import Object
from swf_temporal.text.round_trip import WrittenText


@dataclass(slots=True)
class UpgradeReport:
    """All changes to one definition, each reported once, at its first occurrence, with the lines of the others."""

    changes: list[UpgradeChange] = field(default_factory=list)
    word: str = "state"
    """The author's word for a state."""
    text: WrittenText | None = None
    """The text, if the document has the positions of its parts."""
    to_write: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Python functions to write in place of other code: the parameters of each, by name."""
    _lines: dict[int, tuple[Any, int]] = field(default_factory=dict)
    """By the id of an object in the document: the object, so that its id is not reused, and its line."""

    def place(self, node: Any, line: int) -> None:
        """Record that *node* is written in *line*."""
        self._lines[id(node)] = (node, line)

    def called(self, state: MutableMapping[str, Any]) -> str:
        return f"{self.word} {state.get('name')!r}"

    def respelled(self, message: str, node: Any = None) -> None:
        """Report that something in *node* was only renamed."""
        self._add(UpgradeChange("respelled", message, self._line(node)))

    def reshaped(self, message: str, node: Any = None) -> None:
        """Report that something in *node* was expressed in another form."""
        self._add(UpgradeChange("changed", message, self._line(node)))

    def changed(self, old: str, new: str | None, place: Position) -> None:
        """Report that the key or word *old*, at *place*, was renamed to *new*, or removed."""
        if new is None:
            self._add(UpgradeChange("changed", f"{old} does not exist any more", place.line))
        else:
            self._add(UpgradeChange("respelled", f"{old} is {new}", place.line))

    def differs(self, message: str, hint: str | None = None, node: Any = None) -> None:
        """Report that something in *node* is unchanged, and has another effect."""
        self._add(UpgradeChange("differs", message, self._line(node), hint))

    def refused(self, message: str, hint: str | None = None, node: Any = None) -> None:
        """Report that something in *node* is unchanged, and that the other runtime refuses it."""
        self._add(UpgradeChange("refused", message, self._line(node), hint))

    def inexpressible(self, message: str, node: Any = None, hint: str | None = None) -> None:
        """Report that something in *node* cannot be expressed in the newer version, and is unchanged."""
        self._add(UpgradeChange("inexpressible", message, self._line(node), hint))

    def written(self, node: Any, key: str) -> str:
        """Return the author's word for the *key* of *node*."""
        is_known = self.text is not None and isinstance(node, Object)
        return self.text.called(node, key) if is_known and self.text is not None else key

    def _line(self, node: Any) -> int | None:
        if isinstance(node, Object):
            return node.where.position.line
        return self._lines.get(id(node), (None, None))[1]

    def _add(self, change: UpgradeChange) -> None:
        for index, one in enumerate(self.changes):
            if (one.kind, one.message) == (change.kind, change.message):
                line = change.line
                if change.kind == "differs" and line is not None and line not in (one.line, *one.also):
                    self.changes[index] = replace(one, also=(*one.also, line))
                return
        self.changes.append(change)
