"""Pages of definitions: a list, a page for each, and starting instances."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup
from starlette.responses import Response

from swf_temporal.base.errors import Problem, SwfError, UsageError
from swf_temporal.drawing.svg import svg_of
from swf_temporal.http.console.forms import ADD, RAW, Field, Filled, fields_of, filled, in_words
from swf_temporal.http.console.lists import listing, of_definitions
from swf_temporal.http.console.pages import macros, segment, shown_json
from swf_temporal.http.console.visits import Visit, redirect
from swf_temporal.http.gateway.answers import NEW_ID, VERSION, what_is_wrong
from swf_temporal.http.gateway.refusals import Refused, refusal_of
from swf_temporal.http.gateway.workflows import definition_of
from swf_temporal.languages.loading import check
from swf_temporal.languages.port import Definition
from swf_temporal.operations import schedules
from swf_temporal.operations.client import Instance
from swf_temporal.operations.event_sending import latest_of
from swf_temporal.settings.http import Operation

_RECENT: Final = 8
_MAX_LINES: Final = 5000
"""The number of lines of a source that are shown."""


async def list_definitions(visit: Visit) -> Response:
    """List the definitions, with warnings about them."""
    found = latest_of(visit.asked.catalogue)
    listed = sorted(found, key=lambda one: one.id)
    rows = await asyncio.to_thread(lambda: [(one, _problems_of(_Text(one))) for one in listed])
    unreadable = visit.asked.catalogue.unreadable if visit.asked.sees_everything else None
    return visit.page("definitions.html", rows=rows, unreadable=unreadable)


async def show_definition(visit: Visit) -> Response:
    """Show a definition, with its diagram, its form and its latest instances."""
    return await _shown(visit, definition_of(visit.asked))


async def show_source(visit: Visit) -> Response:
    """Answer with the source of a definition, as a download."""
    definition = definition_of(visit.asked)
    ending = "json" if definition.source.text.lstrip().startswith("{") else "yaml"
    return visit.download(definition.source.text, f"{definition.id}.{ending}")


async def start(visit: Visit) -> Response:
    """Start an instance with the data of the form, or show the form with another row."""
    definition, given = definition_of(visit.asked), await visit.form()
    if ADD in given:
        return await _shown(visit, definition, given=given)
    got = await asyncio.to_thread(filled, definition.input_schema, given)
    chosen = given.get("id", "").strip()
    unfit = await asyncio.to_thread(definition.refusal_of, got.data) if RAW not in got.errors else None
    wrong = dict(got.errors) if unfit is None else {**got.unfit, **got.errors}
    refusal = None
    if chosen and (why := what_is_wrong(NEW_ID, chosen)):
        refusal = Refused(422, "bad-parameter", f"the id {chosen!r}: {why}")
    elif got.errors or (wrong and RAW not in given):
        refusal = Refused(422, "bad-form", in_words(wrong, () if unfit is None else got.unplaced))
    elif unfit is not None:
        refusal = Refused(422, "unfit-input", unfit)
    else:
        try:
            instance = await _started(visit, definition, got.data, chosen)
        except SwfError as error:
            refusal = refusal_of(error)
        else:
            return redirect(f"/console/instances/{segment(instance.id)}")
    return await _shown(visit, definition, refusal, given, replace(got, errors=wrong))


async def _started(visit: Visit, definition: Definition, data: Any, chosen: str) -> Instance:
    asked = visit.asked
    others = [one for one in asked.catalogue.with_reachable(definition) if one is not definition]
    return await asked.client.start(
        definition,
        data,
        workflow_id=chosen or None,
        task_queue=asked.task_queue,
        sub_workflows=others,
        memo=asked.memo(),
    )


async def _shown(
    visit: Visit,
    definition: Definition,
    refusal: Refused | None = None,
    given: Mapping[str, str] | None = None,
    got: Filled | None = None,
) -> Response:
    if not visit.may(Operation.READ):
        raise refusal or Refused(422, "bad-form", "the form needs a page that this key may not see")
    text = _Text(definition)
    is_form = given is not None and RAW not in given
    errors = {} if got is None else got.errors

    def form() -> Markup:
        if is_form or errors:
            return _fields(fields_of(definition.input_schema, given if is_form else None, errors))
        return _empty_form_of(text)

    problems, graph, fields = await asyncio.to_thread(lambda: (_problems_of(text), _graph_of(text), form()))
    lines = definition.source.text.splitlines()
    return visit.page(
        "definition.html",
        422 if refusal else 200,
        definition=definition,
        versions=[one.version for one in visit.asked.catalogue if one.id == definition.id],
        graph=graph,
        problems=problems,
        lines=[(number, line, _at(problems, number)) for number, line in enumerate(lines[:_MAX_LINES], start=1)],
        more_lines=max(0, len(lines) - _MAX_LINES),
        schedule=await _schedule_of(visit, definition),
        fields=fields,
        raw_text=given[RAW] if given is not None and RAW in given else shown_json(_example(got, is_form=is_form)),
        raw_error=errors.get(RAW, ""),
        is_raw=given is not None and RAW in given,
        chosen_id=(given or {}).get("id", ""),
        refusal=refusal,
        version=visit.query(VERSION["name"]),
        recent=(await listing(visit, of_definitions(visit, definition.id), _RECENT)).rows,
    )


def _example(got: Filled | None, *, is_form: bool) -> Any:
    return got.data if is_form and got is not None else {}


def _at(problems: Sequence[Problem], line: int) -> list[Problem]:
    return [one for one in problems if one.position.line == line]


async def _schedule_of(visit: Visit, definition: Definition) -> dict[str, Any] | None:
    """Return the server's schedule of the definition; None if it has none."""
    if not definition.has_schedule:
        return None
    try:
        return await schedules.facts_of(visit.asked.client, definition.id)
    except UsageError as error:
        return {"note": error.message, "upcoming": [], "paused": False}


@dataclass(frozen=True)
class _Text:
    """A definition, as a cache key: equal if read from the same text."""

    definition: Definition

    def __hash__(self) -> int:
        return hash(self.definition.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Text) and self._key == other._key

    @property
    def _key(self) -> tuple[str, str, str]:
        return self.definition.digest, self.definition.id, self.definition.source.name


@lru_cache(maxsize=500)
def _problems_of(text: _Text) -> tuple[Problem, ...]:
    """Return the warnings about a definition."""
    source = text.definition.source
    folder = Path(source.name).parent if Path(source.name).is_file() else None
    try:
        return check(source.text, name=source.name, folder=folder).problems
    except SwfError:
        return ()


@lru_cache(maxsize=100)
def _empty_form_of(text: _Text) -> Markup:
    return _fields(fields_of(text.definition.input_schema))


def _fields(form: tuple[Field, ...]) -> Markup:
    """Return the fields of a form as HTML."""
    field = macros("parts.html").field
    return Markup("").join(field(one, "s") for one in form)


@lru_cache(maxsize=100)
def _graph_of(text: _Text) -> Markup | str:
    """Return the diagram of a definition, or why it cannot be drawn."""
    try:
        return Markup(svg_of(text.definition.picture(), is_styled=False, ids="g-"))  # noqa: S704 - it escapes all texts
    except UsageError as error:
        return str(error)
