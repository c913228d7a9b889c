"""An outline as a state diagram of Mermaid.

Mermaid draws no dashed lines between states: ways that are not the usual course have labels between thin dashes.
"""

from collections.abc import Iterator
from itertools import pairwise

from swf_temporal.drawing.outline import Outline, OutlinePart, Way, Work

_MAX_LENGTH = 60
"""Characters of a label, beyond which it is cut."""
_ESCAPED = {character: f"#{ord(character)};" for character in '#;:"<>{}[]%`\\'}
"""Characters with a meaning in diagrams, escaped as Mermaid has it."""


def diagram_of(outline: Outline) -> str:
    return "\n".join(["stateDiagram-v2", *_indented(_scope(outline.parts, "s"))])


def _scope(parts: tuple[OutlinePart, ...], prefix: str) -> Iterator[str]:
    """Yield parts that stand together, from the first on; their ids begin with *prefix*."""
    ids = {part.path: f"{prefix}{number}" for number, part in enumerate(parts, start=1)}
    for part in parts:
        yield from _part(part, ids[part.path])
    yield from (f"[*] --> {ids[part.path]}" for part in parts[:1])
    for part in parts:
        yield from (line for way in part.ways for line in _way(way, ids[part.path], ids))


def _part(part: OutlinePart, part_id: str) -> Iterator[str]:
    yield f'state "{_label(f"{part.name} ({part.kind})")}" as {part_id}'
    if part.parts:
        inside = _lanes(part.parts, part_id) if part.is_concurrent else _scope(part.parts, f"{part_id}s")
        yield from (f"state {part_id} {{", *_indented(inside), "}")
    notes = [*(line for work in part.work for line in _notes(work)), *(" ".join(one) for one in part.limits.items())]
    if notes:
        yield from (f"note right of {part_id}", *_indented(map(_label, notes)), "end note")


def _notes(work: Work) -> Iterator[str]:
    yield work.words
    for inner in work.work:
        yield from _notes(inner)


def _lanes(parts: tuple[OutlinePart, ...], prefix: str) -> Iterator[str]:
    """Yield *parts*, which run side by side, each with what it does, one after the other, or with its own parts."""
    for number, part in enumerate(parts, start=1):
        if number > 1:
            yield "--"
        part_id = f"{prefix}b{number}"
        yield f'state "{_label(part.name)}" as {part_id}'
        works = {f"{part_id}a{index}": work for index, work in enumerate(part.work, start=1)}
        states = [f'state "{_label(work.words)}" as {work_id}' for work_id, work in works.items()]
        course = [f"{here} --> {there}" for here, there in pairwise(["[*]", *works, "[*]"]) if works]
        inside = _scope(part.parts, f"{part_id}s") if part.parts else (*states, *course)
        yield from (f"state {part_id} {{", *_indented(inside), "}")


def _way(way: Way, here: str, ids: dict[str, str]) -> Iterator[str]:
    words = [way.name or way.when, *way.consequences]
    if way.to is None and way.end != "end":
        words.append(way.end)
    label = _label(", ".join(word for word in words if word))
    label = label if way.is_usual or not label else f"┄ {label} ┄"
    # What leads to no part here is told by validation; the way is left out.
    there = "[*]" if way.to is None else ids.get(way.to)
    if there is not None:
        yield f"{here} --> {there}{f' : {label}' if label else ''}"


def _indented(lines: Iterator[str] | tuple[str, ...]) -> Iterator[str]:
    return (f"    {line}" for line in lines)


def _label(text: str) -> str:
    text = " ".join(text.split())
    text = text if len(text) <= _MAX_LENGTH else f"{text[: _MAX_LENGTH - 1]}…"
    escaped = "".join(_ESCAPED.get(character, character) for character in text)
    return escaped.replace("end note", "end#32;note")  # these words would close a note
