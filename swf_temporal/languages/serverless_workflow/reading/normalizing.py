"""Rewriting a definition to canonical form.

The model defines the fields of a node; a table of `Spelling`s defines the other ways to write the node. `Normalizer`
walks a document by both and changes it in place: shorthands become objects, other versions' keys the present ones,
free-form values plain JSON. Unknown keys are removed from a node, but kept in its `Where`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import UnionType
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin

from swf_temporal.base.errors import Position, Problem, Severity
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.text.origin import Array, Object, Source, Where
from swf_temporal.text.suggestions import nearest

Step: TypeAlias = "Callable[[Object, Normalizer], None]"
"""Rewrites one node if renaming a key is not enough."""

TRUTHS = {"true": True, "false": False, "yes": True, "no": False, "on": True, "off": False}
"""Texts that are read as true or false, as YAML authors intend."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """The other forms in which a kind of node may be written."""

    short: str | None = None
    """The key whose value may be given as a bare text in place of the object."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Keys of other versions of the specification, with their present names."""
    tolerated: Mapping[str, str] = field(default_factory=dict)
    """Keys that no version defines but authors, and official examples, use, with their present names."""
    steps: tuple[Step, ...] = ()

    def then(self, newer: "Spelling") -> "Spelling":
        """Return this spelling combined with that of a newer version, whose steps come after its own."""
        return Spelling(
            short=newer.short or self.short,
            renamed={**self.renamed, **newer.renamed},
            tolerated={**self.tolerated, **newer.tolerated},
            steps=(*self.steps, *newer.steps),
        )


_AS_IT_IS = Spelling()
_ATTRIBUTES = frozenset({"contextAttributeValue", "contextAttributes"})
"""Keys with attributes of events as values, which have no fractions: 1.10 is meant as a text."""


@dataclass(frozen=True, slots=True)
class NodeField:
    """A field of a node, as the model describes it."""

    kinds: Mapping[str, type[Node]] = field(default_factory=dict)
    """The kinds of nodes allowed here: by their `type`, or the only one under an empty key."""
    many: bool = False
    free: bool = False
    null: bool = False
    """Whether null is a value like any other here, and not the same as a missing key."""
    truth: bool = False


@cache
def parts(kind: type[Node]) -> Mapping[str, NodeField]:
    """Return the fields of *kind* for authors, without those whose alias begins with @."""
    return {name: part for name, part in every_part(kind).items() if not name.startswith("@")}


@cache
def every_part(kind: type[Node]) -> Mapping[str, NodeField]:
    """Return the fields of *kind*: those for authors, and those that are set in reading."""
    if not kind.__pydantic_fields_complete__:
        kind.model_rebuild()  # it refers to a class that is defined after it, as states in states do
    named = ((info.alias or name, info) for name, info in kind.model_fields.items())
    return {name: _part(info.annotation) for name, info in named if name != "@"}


def _part(annotation: Any) -> NodeField:
    args = [arg for arg in get_args(annotation) if arg not in (type(None), Ellipsis)]
    origin = get_origin(annotation)
    if origin in (Union, UnionType) and len(args) == 1:
        return _part(args[0])
    if origin is Annotated:
        return _part(args[0])
    if origin is tuple:
        element = _part(args[0])
        return NodeField(element.kinds, many=True, free=element.free)
    kinds = {_type(arg): arg for arg in args or [annotation] if isinstance(arg, type) and issubclass(arg, Node)}
    return NodeField(kinds, free=annotation is Any or origin is dict, null=annotation is Any, truth=annotation is bool)


def _type(kind: type[Node]) -> str:
    info = kind.model_fields.get("type")
    words = get_args(info.annotation) if info else ()
    return str(words[0]) if words else ""


class Normalizer:
    """One pass over one document."""

    def __init__(
        self,
        source: Source,
        spellings: Mapping[type[Node], Spelling],
        fallback: type[Node],
    ) -> None:
        self.source = source
        self.spellings = spellings
        self.fallback = fallback
        """The kind as which a node of an unknown `type` is read; the model will report the type."""
        self.problems: list[Problem] = []
        self.state_ids: dict[str, str] = {}
        """The names of states by id."""

    def tolerate(self, message: str, position: Position, hint: str | None = None) -> None:
        """Report a deviation from the specification that is read as intended."""
        self.warn("tolerated-spelling", message, position, hint)

    def warn(self, code: str, message: str, position: Position, hint: str | None = None) -> None:
        """Report a problem that does not prevent the definition from running."""
        self.problems.append(self.source.problem(code, message, position, hint, Severity.WARNING))

    def normalize(self, kind: type[Node], value: Any, position: Position) -> Any:
        """Return *value*, written at *position*, in the canonical form of the model *kind*."""
        spelling = self.spellings.get(kind, _AS_IT_IS)
        if isinstance(value, str) and spelling.short is not None:
            text, value = value, Object(position)
            value.put(spelling.short, text, (position, position))
        if not isinstance(value, Object):
            return value
        for key in [key for key in value if key.startswith("@")]:
            del value[key]  # authors cannot set fields that are set in reading
        for old, new in spelling.renamed.items():
            if old in value and new not in value:
                value.rename(old, new)
        for old, new in spelling.tolerated.items():
            if old in value and new not in value:
                self.tolerate(f"{old!r} is read as {new!r}", value.where.key(old))
                value.rename(old, new)
        for step in spelling.steps:
            step(value, self)
        self._normalize_fields(every_part(kind), value)
        return value

    def _normalize_fields(self, known: Mapping[str, NodeField], value: Object) -> None:
        for key in list(value):
            part, item = known.get(key), value[key]
            if part is None and key == "type":
                continue  # an unknown type: building the model reports it with the known ones
            if part is None or (item is None and not part.null):
                del value[key]
            elif part.free:
                value[key] = _freed(item, value.where, (key,), as_written=key in _ATTRIBUTES)
            elif part.many:
                value[key] = self._normalize_items(part, item, value.where, key)
            elif part.kinds:
                value[key] = self.normalize(self._kind(part, item), item, value.where.value(key))
            elif part.truth and isinstance(item, str) and item.lower() in TRUTHS:
                truth = value[key] = TRUTHS[item.lower()]
                message = f"{key} is the text {item!r}, and is read as {str(truth).lower()}"
                self.tolerate(message, value.where.value(key))
        value["@"] = value.where

    def _normalize_items(self, part: NodeField, items: Any, where: Where, key: str) -> Any:
        if isinstance(items, str) and not part.kinds:
            self.tolerate(f"{key} is a list: a single text is read as its only element", where.value(key))
            return [items]
        if not isinstance(items, Array):
            return items
        if part.kinds:
            placed = zip(items, items.positions, strict=True)
            normalized = [self.normalize(self._kind(part, item), item, position) for item, position in placed]
            return Array(normalized, items.positions)
        for index, position in enumerate(items.positions):
            where.inside[(key, index)] = position
        return list(items)

    def _kind(self, part: NodeField, item: Any) -> type[Node]:
        if len(part.kinds) == 1:
            return next(iter(part.kinds.values()))
        word = item.get("type") if isinstance(item, Object) else None
        return part.kinds.get(nearest(str(word), part.kinds) or "", self.fallback)


def _freed(value: Any, where: Where, path: tuple[str | int, ...], *, as_written: bool) -> Any:
    """Return *value* as plain JSON, recording in *where* the positions of the texts and objects in it.

    A number with a fraction becomes its text if *as_written*, else a JSON number.
    """
    if isinstance(value, Object):
        for key, (_, position) in value.where.keys.items():
            where.inside[(*path, key)] = position
        return {key: _freed(item, where, (*path, key), as_written=as_written) for key, item in value.items()}
    if isinstance(value, Array):
        for index, position in enumerate(value.positions):
            where.inside[(*path, index)] = position
        return [_freed(item, where, (*path, index), as_written=as_written) for index, item in enumerate(value)]
    if isinstance(value, float):
        return str(value) if as_written else float(value)
    return value
