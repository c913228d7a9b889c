"""What is shown of what stands at a place: a state, a function, an event, or what an expression yields."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from swf_temporal.base.errors import SwfError
from swf_temporal.base.strict_json import show_json
from swf_temporal.drawing.outline import OutlinePart
from swf_temporal.editing.document import EditedDocument, Span
from swf_temporal.expressions.compiled import NOTHING, BadExpression
from swf_temporal.languages.loading import documents_in
from swf_temporal.languages.marks import Kind, Mark
from swf_temporal.languages.port import ShownExpression
from swf_temporal.simulation.reading import read_scenarios

_MAX_SHOWN: Final = 1_000
"""Characters that are shown of what an expression yields."""
_MAX_FILES: Final = 50
"""How many files beside the definition are looked at for a scenario."""


class Sample(NamedTuple):
    """Data on which expressions are tried."""

    data: Any
    origin: str


def hover(document: EditedDocument, line: int, column: int) -> tuple[Span, str] | None:
    """Return what is to be shown at a place, as Markdown, and of which part of the text."""
    mark = document.mark_at(line, column)
    if mark is not None:
        place, told = document.place_of(mark), _told(document, mark)
        return None if place is None or not told else (place, told)
    text = document.lines[line] if line < len(document.lines) else ""
    expression = document.language.expression_at(text, column)
    if expression is None:
        return None
    return Span(line, expression.start, expression.end), _yielded(document, expression)


def _told(document: EditedDocument, mark: Mark) -> str:
    definition = document.definition
    if definition is None:
        return ""
    match mark.kind:
        case Kind.STATE:
            return "\n\n".join(_of_part(one) for one in _parts(definition.outline.parts) if one.name == mark.name)
        case Kind.FUNCTION:
            uses = [one.function for one in definition.functions if one.function.name == mark.name]
            return "\n\n".join(f"**{one.name}**: {one.type}, `{one.operation}`" for one in uses)
        case Kind.EVENT:
            event = definition.event(mark.name)
            return f"**{event.name}**: {event.kind}, type `{event.type}`, source `{event.source}`"
        case _:
            return ""


def _parts(parts: Iterable[OutlinePart]) -> Iterator[OutlinePart]:
    for one in parts:
        yield one
        yield from _parts(one.parts)


def _of_part(part: OutlinePart) -> str:
    lines = [f"**{part.name}**: {part.kind}" + (f", {part.note}" if part.note else "")]
    lines += [f"- {work.words}" for work in part.work]
    lines += [f"- {name}: {limit}" for name, limit in part.limits.items()]
    for way in part.ways:
        to = way.end if way.to is None else way.to
        lines.append(f"- on {way.on}{f', {way.when}' if way.when else ''}: {to}")
    return "\n".join(lines)


def _yielded(document: EditedDocument, expression: ShownExpression) -> str:
    sample = _sample(document)
    if sample is None:
        return (
            "There is no sample to try it on: write a scenario beside the definition, or `default` in its input schema."
        )
    try:
        outcome = expression.evaluate(sample.data)
    except (BadExpression, SwfError) as error:
        return f"On {sample.origin}: {error}"
    if outcome is NOTHING:
        return f"On {sample.origin} it yields nothing."
    shown = show_json(outcome, indent=2)
    more = "…" if len(shown) > _MAX_SHOWN else ""
    return f"On {sample.origin} it yields\n```json\n{shown[:_MAX_SHOWN]}{more}\n```"


def _sample(document: EditedDocument) -> Sample | None:
    found = None if document.folder is None else _of_scenario(document.folder, Path(document.name).name)
    schema = None if document.definition is None else document.definition.input_schema
    if found is None and isinstance(schema, dict):
        for key in ("default", "example"):
            if key in schema:
                return Sample(schema[key], f"the `{key}` of the input schema")
        examples = schema.get("examples")
        if isinstance(examples, list) and examples:
            return Sample(examples[0], "the first example of the input schema")
    return found


def _of_scenario(folder: Path, name: str) -> Sample | None:
    """Return the input of the first scenario beside the definition *name* that is about it."""
    for file in documents_in(folder)[:_MAX_FILES]:
        try:
            scenarios = read_scenarios(file)
        except SwfError:
            continue
        for one in scenarios:
            if isinstance(one.workflow, Path) and one.workflow.name == name:
                return Sample(one.input, f"the input of the scenario “{one.claim}”")
    return None
