"""Documents that are changed and written again, while everything unchanged is preserved, including comments and order.

YAML is read and written by ruamel.yaml, which keeps comments; it comes with the extra `upgrade`, and is imported when
the first YAML text is changed. JSON stays JSON, indented as it was.

The converted document knows the positions of its parts. So each of its objects and keys can be found in the text again,
whatever its present name.
"""

import io
import re
from collections.abc import Callable, Mapping, MutableMapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from swf_temporal.base.errors import MissingExtra, Position
from swf_temporal.base.strict_json import NotJSON, read_json, show_json
from swf_temporal.text.origin import Array, Object, Source, UnreadableText

_BESIDE = 2
"""The index, among the comments of a key, of the one beside its value and below."""
_INDENTED = re.compile(r"^( +|\t+)\S", re.MULTILINE)
_LIST = re.compile(r"^( *)[^\s#-][^\n]*:[ \t]*(?:#[^\n]*)?\n(?:[ \t]*(?:#[^\n]*)?\n)*( *)- ", re.MULTILINE)


class UnkeptText(ValueError):  # noqa: N818 - named for what it is about
    """A YAML text that ruamel.yaml refuses, such as one with tabs between its parts."""

    def __init__(self, message: str, position: Position) -> None:
        super().__init__(message)
        self.position = position


class RoundTrip:
    """A text, and the document in it that may be changed in place."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._yaml: Any = None
        found = _json(text)
        if found is None:
            self._yaml = _yaml(text)
            found = _loaded(self._yaml, text)
        self.root: Any = found
        self._copies: dict[int, tuple[Any, Any]] = {}
        """The copies that replace aliases, by their identity, each with its original."""
        self.has_merged = _write_out_merges(self.root) if self._yaml is not None else False
        """Whether there were merge keys, `<<`, which were replaced by what they merge."""
        if self._yaml is not None:
            self._separate(self.root, {id(self.root)})

    def written(self) -> str:
        """Return the text of the document as it is now."""
        if self._yaml is None:
            match = _INDENTED.search(self._text)
            indent = None if match is None and "\n" not in self._text.strip() else match[1] if match else 2
            end = "\n" if self._text.endswith("\n") else ""
            return show_json(self.root, indent=indent) + end
        self._share_again(self.root)
        stream = io.StringIO()
        self._yaml.dump(self.root, stream)
        return stream.getvalue()

    def _separate(self, node: Any, seen: set[int]) -> None:
        """Replace aliases by copies, so that a change of one does not affect the others."""
        for key, value in _inside(node):
            if id(value) in seen:
                copy = node[key] = deepcopy(value)
                self._copies[id(copy)] = (copy, value)
                self._separate(copy, seen)
            else:
                seen.add(id(value))
                self._separate(value, seen)

    def _share_again(self, node: Any) -> None:
        """Turn copies into aliases again if they are still equal to their originals."""
        for key, value in _inside(node):
            copied = self._copies.get(id(value))
            if copied is not None and copied[0] == copied[1]:
                node[key] = copied[1]
            else:
                if copied is not None:
                    value.yaml_set_anchor(None)
                self._share_again(value)


def _inside(node: Any) -> list[tuple[Any, Any]]:
    """Return the objects and lists in *node*, each with its key or index."""
    items = node.items() if isinstance(node, MutableMapping) else enumerate(node) if isinstance(node, list) else ()
    return [(key, value) for key, value in items if isinstance(value, MutableMapping | list)]


def _write_out_merges(node: Any) -> bool:
    """Replace the merge keys in *node* by what they merge; return whether there were any."""
    found = False
    if getattr(node, "merge", None):
        merged = {key: value for key, value in node.items() if key not in node._ok}  # noqa: SLF001 - no public name
        delattr(node, "_yaml_merge")
        for key, value in merged.items():
            node[key] = deepcopy(value)
        found = True
    for _, value in _inside(node):
        found = _write_out_merges(value) or found
    return found


def _json(text: str) -> Any:
    try:
        return read_json(text)
    except NotJSON:
        return None


def _yaml(text: str) -> Any:
    try:
        from ruamel.yaml import YAML  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtra("upgrade", "changing YAML and keeping its comments", "ruamel.yaml") from None
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.brace_single_entry_mapping_in_flow_sequence = True
    yaml.width = 4096
    listed = _LIST.search(text)
    offset = 0 if listed is None else max(0, len(listed[2]) - len(listed[1]))
    yaml.indent(mapping=2, sequence=offset + 2, offset=offset)
    return yaml


def _loaded(yaml: Any, text: str) -> Any:
    from ruamel.yaml.error import MarkedYAMLError  # noqa: PLC0415 - an extra

    try:
        return yaml.load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark
        place = Position() if mark is None else Position(mark.line + 1, mark.column + 1)
        raise UnkeptText(str(error.problem), place) from None


def round_trip(source: Source) -> RoundTrip:
    """Return the document in *source*. Raises UnreadableText if its comments and order cannot be kept."""
    try:
        return RoundTrip(source.text)
    except UnkeptText as unkept:
        message = f"this is readable, but cannot be rewritten with its comments: {unkept}"
        raise UnreadableText(source.problem("syntax", message, unkept.position, "write it otherwise")) from None


def rename(node: MutableMapping[str, Any], old: str, new: str) -> None:
    """Rename the key *old* to *new*, keeping its place and its comments."""
    replace(node, old, {new: node[old]})


def replace(node: MutableMapping[str, Any], old: str, items: dict[str, Any]) -> None:
    """Replace the key *old* by *items*, the first of which gets its comments."""
    insert = getattr(node, "insert", None)
    if insert is None:
        kept = list(node.items())
        node.clear()
        for key, value in kept:
            if key == old:
                node.update(items)
            else:
                node[key] = value
        if isinstance(node, Object) and old in node.where.keys:
            node.where.keys[next(iter(items))] = node.where.keys.pop(old)
        return
    position = list(node).index(old)
    comment = node.ca.items.pop(old, None)  # type: ignore[attr-defined]  # of a mapping with comments
    del node[old]
    for offset, (key, value) in enumerate(items.items()):
        insert(position + offset, key, value)
    if comment is not None and items:
        node.ca.items[next(iter(items))] = comment  # type: ignore[attr-defined]  # as above


def add(node: MutableMapping[str, Any], key: str, value: Any, after: str | None = None) -> None:
    """Add *key* after the key *after*, or else before all others.

    Not at the end, where comments about what follows may be.
    """
    keys = list(node)
    position = keys.index(after) + 1 if after in keys else 0
    insert = getattr(node, "insert", None)
    if insert is None:
        kept = list(node.items())
        node.clear()
        node.update([*kept[:position], (key, value), *kept[position:]])
        return
    if after is not None and position < len(keys):
        _leave_comment_to(node, after, keys[position])
    insert(position, key, value)


def _leave_comment_to(node: Any, key: str, following: str) -> None:
    """Move the comment lines below *key* to the *following* key, which they are about."""
    tokens = node.ca.items.get(key)
    token = next((one for one in (tokens or ())[_BESIDE:] if one is not None), None)
    if token is None:
        return
    beside, _, below = token.value.partition("\n")
    if not below.strip():
        return
    token.value = f"{beside}\n"
    if not beside.strip():
        del node.ca.items[key]
    lines = [line.strip().removeprefix("#").removeprefix(" ") for line in below.strip().splitlines()]
    node.yaml_set_comment_before_after_key(following, before="\n".join(lines), indent=node.lc.col)


@dataclass(frozen=True, slots=True)
class _Key:
    name: str
    value: Any


class WrittenText:
    """A text in two forms: as the object that was read, with positions, and as the document to change in place."""

    def __init__(self, located: Object, root: MutableMapping[str, Any]) -> None:
        self._objects: dict[Position, list[tuple[Any, dict[Position, _Key]]]] = {}
        self._names: dict[Position, str] = {}
        self._note(located, root)

    def called(self, node: Object, key: str) -> str:
        """Return the author's name for the present *key* of *node*."""
        return self._names.get(node.where.key(key), key) if key in node.where.keys else key

    def _note(self, located: Any, node: Any) -> None:
        if isinstance(located, Object) and isinstance(node, Mapping):
            known = {located.where.key(key): _Key(key, value) for key, value in located.items() if key in node}
            self._objects.setdefault(located.where.position, []).append((node, known))
            self._names.update((position, key.name) for position, key in known.items())
            for key in known.values():
                self._note(key.value, node[key.name])
        elif isinstance(located, Array) and isinstance(node, list):
            for value, inner in zip(located, node, strict=False):
                self._note(value, inner)

    def take(self, made: Object) -> tuple[Any, dict[Position, _Key]] | None:
        """Return the object of the text from which *made* was converted, with its keys, unless it is taken already."""
        found = self._objects.get(made.where.position, [])
        for index, (_, known) in enumerate(found):
            if not known or any(place in known for place, _ in made.where.keys.values()):
                return found.pop(index)
        return None


class Graft:
    """Applies a converted document to the text from which it was converted."""

    def __init__(self, written: WrittenText, changed: Callable[[str, str | None, Position], None]) -> None:
        self._written = written
        self._changed = changed
        """Called for each key or word that was renamed or removed: the old name, the new one or None, and where."""

    def put(self, made: Any, old: Any = None) -> Any:
        """Return *made* in the form for the text, where it replaces *old* or the object from which it was converted."""
        if isinstance(made, Object):
            taken = self._written.take(made)
            if taken is None:
                return {key: self.put(value) for key, value in made.items() if not key.startswith("@")}
            if "@left" not in made:
                self._become(*taken, made)
            return taken[0]
        if isinstance(made, dict):
            return self._by_names(made, old if isinstance(old, MutableMapping) else {})
        if isinstance(made, list):
            return self._list([self.put(one) for one in made], old if isinstance(old, list) else [])
        return old if old == made and type(made) in (type(old), *type(old).__mro__) else made

    def _become(self, node: Any, known: dict[Position, _Key], made: Object) -> None:
        places = {key: place for key, (place, _) in made.where.keys.items() if place in known}
        found = [(key, known[places[key]]) for key in made if key in places]
        first = {id(was): key for key, was in reversed([*sorted(found, key=lambda one: one[0] != one[1].name)])}
        old = {key: was for key, was in found if first[id(was)] == key}
        kept = {one.name for one in old.values()} | set(made.get("@unknown", ()))
        for place, one in known.items():
            if one.name not in kept:
                self._changed(one.name, None, place)
                del node[one.name]
        previous: str | None = None
        for key, value in made.items():
            if key.startswith("@"):
                # Parts that cannot be expressed are left as they were.
                previous = old[key].name if key in old else previous
                continue
            if key in old:
                self._replace(node, key, old[key], value, places[key])
            else:
                add(node, key, self.put(value), previous)
            previous = key

    def _replace(self, node: Any, key: str, was: _Key, value: Any, place: Position) -> None:
        """Replace the key that *was* there by *key* with *value*."""
        if was.name != key:
            self._changed(was.name, key, place)
            rename(node, was.name, key)
        elif isinstance(value, str) and isinstance(was.value, str) and value.isalpha() and value != was.value:
            self._changed(f"{key} {was.value!r}", repr(value), place)
        if value != was.value or type(value) is not type(was.value):
            node[key] = self.put(value, node[key])

    def _by_names(self, made: Mapping[str, Any], old: MutableMapping[str, Any]) -> Any:
        for key in [key for key in old if key not in made]:
            del old[key]
        for key, value in made.items():
            old[key] = self.put(value, old.get(key))
        return old

    def _list(self, made: list[Any], old: list[Any]) -> list[Any]:
        index = 0
        for one in made:
            if any(_is(one, other) for other in old[index:]):
                while not _is(one, old[index]):
                    del old[index]
            else:
                old.insert(index, one)
            index += 1
        while len(old) > index:
            del old[index]
        return old


def in_order(made: Any) -> Any:
    """Sort the keys of the objects in *made* by their positions in the text; new keys come last.

    Keys that reading did not know are listed under `@unknown`.
    """
    if isinstance(made, Object):
        made.pop("@", None)
        unknown = [key for key in made.where.keys if key not in made]
        at, placed = made.where.position, []
        for key in made:
            at = made.where.key(key) if key in made.where.keys else at
            placed.append((at.line, at.column, key))
        items = {key: in_order(made[key]) for *_, key in sorted(placed, key=lambda one: one[:2])}
        made.clear()
        made.update(items)
        if unknown:
            made["@unknown"] = unknown
    elif isinstance(made, list):
        for one in made:
            in_order(one)
    return made


def _is(one: Any, other: Any) -> bool:
    return one is other or (not isinstance(one, dict | list) and one == other)
