"""Puts a document that was made of a text into that text: what stays in place keeps its comments, order and quotes.

The made document knows where its parts were written. So each of its objects and keys is found in the text again, by
whatever name it is called now.
"""

from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from swf_temporal.base.errors import Position
from swf_temporal.text.located import Array, Object
from swf_temporal.text.round_trip import add, rename


@dataclass(frozen=True, slots=True)
class _Key:
    name: str
    value: Any


class WrittenText:
    """What a text says, and where: an object as it was read, beside the document that may be changed in place."""

    def __init__(self, located: Object, root: MutableMapping[str, Any]) -> None:
        self._objects: dict[Position, list[tuple[Any, dict[Position, _Key]]]] = {}
        self._names: dict[Position, str] = {}
        self._note(located, root)

    def called(self, node: Object, key: str) -> str:
        """Return what the author called what now is the *key* of *node*."""
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
        """Return the object of the text that *made* was made of, with its keys, if it is not taken yet."""
        found = self._objects.get(made.where.position, [])
        for index, (_, known) in enumerate(found):
            if not known or any(place in known for place, _ in made.where.keys.values()):
                return found.pop(index)
        return None


class Graft:
    """Puts a made document into the text that it was made of."""

    def __init__(self, written: WrittenText, changed: Callable[[str, str | None, Position], None]) -> None:
        self._written = written
        self._changed = changed
        """What is told of each key or word that is called otherwise now, or nothing any more, and where it stands."""

    def put(self, made: Any, old: Any = None) -> Any:
        """Return *made* as the text is to have it: in the place of *old*, or of what it was made of."""
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
                # What cannot be expressed is left as it was.
                previous = old[key].name if key in old else previous
                continue
            if key in old:
                self._replace(node, key, old[key], value, places[key])
            else:
                add(node, key, self.put(value), previous)
            previous = key

    def _replace(self, node: Any, key: str, was: _Key, value: Any, place: Position) -> None:
        """Put *value* under *key* into the place of what *was* there."""
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
    """Put the keys of the objects in *made* into the order in which they were written; what is new stays behind.

    What was written and is not known to reading is named under `@unknown`.
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
