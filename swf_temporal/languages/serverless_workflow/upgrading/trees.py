"""Access to the parts of a definition as written, in any version; and the report of what an upgrade changed in them."""

from collections.abc import Container, Iterator, MutableMapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from swf_temporal.base.errors import Position
from swf_temporal.base.strict_json import show_json
from swf_temporal.expressions.early_paths import PathInText, pieces_of
from swf_temporal.languages.base import UpgradeChange
from swf_temporal.languages.serverless_workflow.upgrading.early_paths_to_jq import JqFinds
from swf_temporal.text.origin import Object
from swf_temporal.text.round_trip import WrittenText, rename


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


Tree: TypeAlias = MutableMapping[str, Any]


def children(node: Any, *keys: str) -> Iterator[Tree]:
    """Yield the objects under *keys* of *node*, and those in lists there."""
    for key in keys:
        value = node.get(key) if isinstance(node, MutableMapping) else None
        for one in value if isinstance(value, list) else (value,):
            if isinstance(one, MutableMapping):
                yield one


def states(root: Tree) -> Iterator[Tree]:
    """Yield the states."""
    yield from children(root, "states")


def name_of(node: Tree, key: str = "name") -> str | None:
    """Return the name of *node* under *key*; None if that is not a text."""
    name = node.get(key)
    return name if isinstance(name, str) else None


def called(state: Tree) -> str:
    return f"state {state.get('name')!r}"


def action_lists(state: Tree) -> Iterator[tuple[Tree, list[Tree]]]:
    """Yield the lists of actions in *state*, each with its holder: the state, an entry or a branch."""
    for holder in (state, *children(state, "onEvents", "branches")):
        actions = list(children(holder, "actions", "action"))
        if actions:
            yield holder, actions


def actions(root: Tree) -> Iterator[tuple[Tree, Tree]]:
    """Yield the actions, each with its state."""
    for state in states(root):
        for _, found in action_lists(state):
            for action in found:
                yield state, action


def function_of(action: Tree) -> str | None:
    """Return the name of the function that *action* calls."""
    reference = action.get("functionRef")
    return name_of(reference, "refName") if isinstance(reference, MutableMapping) else name_of(action, "functionRef")


def leavings(root: Tree) -> Iterator[Tree]:
    """Yield the nodes that may have a transition or an end."""
    for state in states(root):
        yield state
        yield from children(state, "onErrors", "dataConditions", "eventConditions", "defaultCondition", "default")


def event_filters(root: Tree) -> Iterator[Tree]:
    """Yield the filters of events."""
    for state in states(root):
        for holder in (state, *children(state, "onEvents", "eventConditions")):
            yield from children(holder, "eventDataFilter")


def renamed(node: Tree, names: dict[str, str]) -> list[str]:
    """Rename the keys of *node* to their new *names*, if those are free; return the renamed ones."""
    done = [old for old, new in names.items() if old in node and new not in node]
    for old in done:
        rename(node, old, names[old])
    return done


def free_name(name: str, taken: Container[Any]) -> str:
    """Return *name*, with a number appended if it is *taken*."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name} {number}"
    return free


SYNONYMS: Final = {"exception": "error"}
"""Names in the draft's examples that differ from its text."""


def path(text: Any) -> JqFinds:
    """Return the translated path *text*. Raises NotInJqError."""
    return JqFinds(str(text), SYNONYMS)


def braced(jq: str) -> str:
    """Return an expression in `${ }`."""
    return f"${{ {jq} }}"


def value(text: Any) -> str:
    """Return the expression that yields the value at the path *text*. Raises NotInJqError."""
    return braced(path(text).value)


def template(given: Any) -> Any:
    """Return *given* with the paths in its texts in braces, changed in place if possible. Raises NotInJqError."""
    if isinstance(given, dict):
        for key in given:
            given[key] = template(given[key])
    elif isinstance(given, list):
        given[:] = [template(item) for item in given]
    elif isinstance(given, str):
        return _text(given)
    return given


def literal(text: str) -> str:
    return text if "${" not in text else braced(show_json(text))


def _text(text: str) -> str:
    pieces = pieces_of(text)
    if len(pieces) == 1:
        piece = pieces[0]
        if not isinstance(piece, PathInText):
            return text if "${" not in text else literal(text)
        return value(piece)
    made = []
    for piece in pieces:
        if isinstance(piece, PathInText):
            finds = path(piece)
            made.append(braced(finds.found if finds.is_singular else finds.value))
        else:
            made.append(literal(piece))
    return "".join(made)
