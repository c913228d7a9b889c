"""Pages of what an instance has done: a step with its data, attempts and error, a part of the graph, and the trace.

The trace is searched by state, kind, branch and text; the iterations of a state are folded into one row.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

from starlette.responses import Response
from temporalio.converter import DataConverter

from swf_temporal.base.client_errors import InstanceNotFoundError
from swf_temporal.base.errors import UsageError
from swf_temporal.base.strict_json import show_beginning, show_json
from swf_temporal.http.console.pages import cut
from swf_temporal.http.console.visits import Visit
from swf_temporal.http.gateway.instances import instance_of
from swf_temporal.http.gateway.refusals import Refused
from swf_temporal.operations.instance_history import InstanceHistory
from swf_temporal.operations.steps import Step, step_of, visits_of, word_of
from swf_temporal.temporal.continuing import trace_to_json

Entry: TypeAlias = Mapping[str, Any]
"""An entry of a trace as the query `trace` returns it, with its `run`."""

MAX_ROWS: Final = 200
"""The number of rows on a page."""
_MIN_FOLDED: Final = 4
"""The number of iterations that are folded."""
_ITERATED: Final = re.compile(r"(.*?)\[(\d+)\]")


@dataclass(slots=True)
class Fold:
    """The iterations of a state in one row."""

    branch: str
    """The beginning of their paths of execution."""
    path: str
    """The path of execution that iterates."""
    first: Entry
    last: Entry
    entries: int = 0
    iterations: set[int] = field(default_factory=set)
    failed: set[int] = field(default_factory=set)
    """Steps in which an action failed for good."""
    retried: int = 0
    completed: int = 0
    """The number of actions that are complete."""

    def add(self, entry: Entry, iteration: int) -> None:
        self.entries += 1
        self.last = entry
        self.iterations.add(iteration)
        match entry["kind"]:
            case "action-failed":
                self.failed.add(iteration)
            case "action-retried":
                self.retried += 1
            case "action-completed":
                self.completed += 1


class Row(NamedTuple):
    """A row of a trace: an entry, or the iterations that are folded into it."""

    entry: Entry
    fold: Fold | None = None

    @property
    def size(self) -> int:
        """The number of entries in it."""
        return 1 if self.fold is None else self.fold.entries


def folded(entries: Sequence[Entry], inside: str = "") -> list[Row]:
    """Return *entries* as rows; iterations of what is *inside* that path of execution are not folded."""
    folds: dict[tuple[str, str, int], Fold] = {}
    visits = Counter[tuple[str, str]]()
    keys: list[tuple[str, str, int] | None] = []
    for entry in entries:
        run, lane = str(entry.get("run", "")), entry["lane"]
        found = _ITERATED.match(lane)
        if found is None or (inside and lane.startswith(inside)):
            keys.append(None)
            if entry["kind"] == "state-entered":
                visits[run, lane] += 1
            continue
        key = run, found[1], visits[run, found[1]]
        fold = folds.get(key)
        if fold is None:
            fold = folds[key] = Fold(f"{found[1]}[", found[1], entry, entry)
        fold.add(entry, int(found[2]))
        keys.append(key)
    rows, told = list[Row](), set[tuple[str, str, int]]()
    for entry, of in zip(entries, keys, strict=True):
        if of is None or len(folds[of].iterations) < _MIN_FOLDED:
            rows.append(Row(entry))
        elif of not in told:
            told.add(of)
            rows.append(Row(entry, folds[of]))
    return rows


class Wanted(NamedTuple):
    """The filters of a search, each empty if it does not apply."""

    run: str = ""
    state: str = ""
    kind: str = ""
    branch: str = ""
    """The beginning of the path of execution."""
    text: str = ""
    """A text in the name, the path or the details, in any case."""

    @property
    def is_any(self) -> bool:
        """Whether a filter applies to the entries of a run."""
        return any(self[1:])

    def fits(self, entry: Entry) -> bool:
        return (
            (not self.state or entry["state"] == self.state)
            and (not self.kind or entry["kind"] == self.kind)
            and (not self.branch or entry["lane"].startswith(self.branch))
            and (not self.text or self.text.casefold() in _text(entry))
        )


def _text(entry: Entry) -> str:
    return f"{entry['lane']} {entry['name']} {entry['kind']} {show_json(entry['detail'])}".casefold()


class Found(NamedTuple):
    """A page of what a search has found, the latest entries first."""

    rows: list[Row]
    total: int
    """The number of entries of the instance, or of the run that is searched."""
    matching: int
    after: int
    """The number of rows before those of the next page; 0 if there is none."""
    states: list[str]
    kinds: list[str]
    runs: list[str]
    word: str
    """The language's word for a state."""
    incomplete: list[str]
    """Why some runs could not be followed to their end."""


async def search(history: InstanceHistory, converter: DataConverter, wanted: Wanted, skip: int = 0) -> Found:
    """Return what happened in an instance as far as it is *wanted*, without the first *skip* rows."""
    entries, runs, incomplete, word = list[Entry](), list[str](), list[str](), "state"
    for run in history.runs:
        replayed = await run.replayed(converter)
        runs.append(run.run_id)
        word = word_of(replayed)
        if replayed.failure is not None:
            incomplete.append(replayed.failure)
        if wanted.run in ("", run.run_id):
            entries += ({**one, "run": run.run_id} for one in trace_to_json(replayed.trace))
    matching = [one for one in entries if wanted.fits(one)]
    rows = (folded(matching, wanted.branch) if not wanted.text else [Row(one) for one in matching])[::-1]
    shown = rows[skip : skip + MAX_ROWS]
    after = skip + MAX_ROWS if len(rows) > skip + MAX_ROWS else 0
    states, kinds = _of(entries, "state"), _of(entries, "kind")
    return Found(shown, len(entries), len(matching), after, states, kinds, runs, word, incomplete)


def _of(entries: Iterable[Entry], key: str) -> list[str]:
    return sorted({one[key] for one in entries if one[key]})


_MAX_NUMBER: Final = 10**9


async def show_step(visit: Visit) -> Response:
    """Show a step of an instance: the one that `run` and `entry` name, or those of the part of the graph `part`."""
    found = await instance_of(visit.asked, visit.asked.path_id(), 1.0)
    instance_id, run, part = found.instance.id, visit.query("run"), visit.query("part")
    if part:
        status = visit.query("status")
        visits = await visit.drawing.answer(visit.asked, instance_id, partial(visits_of, part=part, status=status))
        return visit.page("part.html", instance_id=instance_id, visits=visits, wanted=status)
    number = _number(visit.query("entry"))
    question = partial(step_of, number=number)
    step = await visit.drawing.answer(visit.asked, instance_id, question, run) if run else None
    if step is None:
        raise InstanceNotFoundError(
            f"there is no step {number} of a run {run!r} of {instance_id!r}", instance=instance_id
        )
    return visit.page("step.html", instance_id=instance_id, step=step, body=_body(step))


def _body(step: Step) -> str | None:
    """Return the beginning of the answer with which a service failed the call; None if there is none."""
    if step.fault is None or step.fault.body is None:
        return None
    body: Any = step.fault.body
    return body[:_MAX_BODY] + ("…" if len(body) > _MAX_BODY else "") if isinstance(body, str) else _shown(body)


_MAX_BODY: Final = 8_000
"""The number of characters of such an answer that are shown."""


def _shown(value: Any) -> str:
    return cut(*show_beginning(value, _MAX_BODY))


async def show_trace(visit: Visit) -> Response:
    """Search what happened in an instance, by the filters in the URL."""
    found = await instance_of(visit.asked, visit.asked.path_id(), 1.0)
    instance_id = found.instance.id
    query = {name: visit.query(name) for name in (*Wanted._fields, "after")}
    wanted, skip = Wanted(*(query[name] for name in Wanted._fields)), _number(query["after"] or "0")
    question, seen, why = partial(search, wanted=wanted, skip=skip), Found([], 0, 0, 0, [], [], [], "state", []), ""
    try:
        seen = await visit.drawing.answer(visit.asked, instance_id, question, wanted.run or None)
    except InstanceNotFoundError:
        raise
    except UsageError as error:
        why = str(error)
    return visit.page("trace.html", instance_id=instance_id, found=seen, query=query, wanted=wanted, why=why)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text) <= _MAX_NUMBER):
        raise Refused(
            422, "bad-number", f"{text!r} is not the number of an entry", "begin with the page of the instance"
        )
    return int(text)
