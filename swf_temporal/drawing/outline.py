"""The outline of a definition: a tree of named parts, the work of each, and the ways between them.

Each language makes the outline of its definitions. Lists, descriptions and pictures are made from the outline.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from swf_temporal.base.data import JSON
from swf_temporal.base.strict_json import show_json

ITERATION: Final = re.compile(r"\[\d+\]")
"""A step of a path of execution into an iteration, which is no part of a definition."""


@dataclass(frozen=True, slots=True)
class WorkflowRef:
    """A reference to another definition; without a version, to its latest."""

    id: str
    version: str | None = None

    def __str__(self) -> str:
        return self.id if self.version is None else f"{self.id} {self.version}"


@dataclass(frozen=True, slots=True)
class Work:
    name: str | None = None
    """The name that its author gave it."""
    text: str = ""
    """A description in the terms of the language; empty if the calls and awaited events say it all."""
    calls: str | None = None
    """The name of the function that is called."""
    runs: WorkflowRef | None = None
    """The workflow that is started, as written in the definition."""
    produces: tuple[str, ...] = ()
    """The names of events."""
    awaits: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    """Further remarks: conditions, limits, retries."""
    work: tuple["Work", ...] = ()
    """The work inside it, or after it."""
    details: Mapping[str, JSON] = field(default_factory=dict)
    """Further content of the definition, for programs."""

    @property
    def words(self) -> str:
        """A description in one line."""
        parts = [
            *([f"calls {self.calls}"] if self.calls is not None else []),
            *([f"runs workflow {self.runs}"] if self.runs is not None else []),
            *(f"produces {event}" for event in self.produces),
            *([f"waits for {' and '.join(self.awaits)}"] if self.awaits else []),
        ]
        words = ", ".join([self.text or " and ".join(parts) or "does nothing", *self.also])
        return words if self.name is None else f"{self.name}: {words}"


@dataclass(frozen=True, slots=True)
class Way:
    """A way out of a part: to another part, or out of the scope that contains the part."""

    on: Literal["completion", "condition", "default", "event", "error", "retry", "compensation"]
    to: str | None = None
    """The path of the part that it leads to."""
    when: str = ""
    """When it is taken, in the terms of the language; empty if that is when the part is done."""
    name: str | None = None
    """The name that its author gave it."""
    awaits: tuple[str, ...] = ()
    """The names of the events on which it is taken."""
    produces: tuple[str, ...] = ()
    """The names of the events that are produced on it."""
    compensates: bool = False
    """True if it triggers compensation."""
    terminates: bool = False
    """True if it also ends all other paths of the instance."""
    continues_as: WorkflowRef | None = None
    """The workflow that the instance continues as."""
    details: Mapping[str, JSON] = field(default_factory=dict)
    """Further content of the definition, for programs."""

    @property
    def is_usual(self) -> bool:
        """True if it belongs to the normal flow, not to error handling."""
        return self.on not in ("error", "retry", "compensation")

    @property
    def end(self) -> str:
        """A description of its target, if that is not a part."""
        if self.continues_as is not None:
            return f"workflow {self.continues_as}"
        return "the end of all paths" if self.terminates else "end"

    @property
    def consequences(self) -> tuple[str, ...]:
        """Descriptions of its side effects."""
        undone = ("undoes what was done",) if self.compensates else ()
        return (*undone, *(f"produces {event}" for event in self.produces))


@dataclass(frozen=True, slots=True)
class OutlinePart:
    """A named part of a definition, such as a state, a task or a branch. Its path is unique in the definition."""

    path: str
    kind: str
    """The language's name for it."""
    name: str
    note: str = ""
    """A remark about its kind."""
    work: tuple[Work, ...] = ()
    limits: Mapping[str, str] = field(default_factory=dict)
    """Its timeouts, by the language's names for them."""
    ways: tuple[Way, ...] = ()
    parts: tuple["OutlinePart", ...] = ()
    """The parts that it contains; if they form a scope, the start part is first."""
    is_concurrent: bool = False
    """True if the parts that it contains run in parallel, and so do not form a scope."""
    details: Mapping[str, JSON] = field(default_factory=dict)
    """Further content of the definition, for programs."""

    @property
    def ends(self) -> bool:
        """True if the workflow, or the scope that contains it, may end with it."""
        return any(way.to is None for way in self.ways)

    @property
    def uses(self) -> Iterator[tuple[str, Any]]:
        """Its uses, as pairs of the kind of use and the thing used, which may be None."""
        for work in _every(self.work):
            yield from (("calls", work.calls), ("runs", work.runs))
            yield from (*(("awaits", one) for one in work.awaits), *(("produces", one) for one in work.produces))
        for way in self.ways:
            yield "continues as", way.continues_as
            yield from (*(("awaits", one) for one in way.awaits), *(("produces", one) for one in way.produces))


@dataclass(frozen=True, slots=True)
class Section:
    """Another section of a definition, such as errors or timeouts: as lines for people and as JSON for programs."""

    title: str
    lines: tuple[str, ...]
    facts: Any
    """The JSON for programs."""


@dataclass(frozen=True, slots=True)
class Outline:
    parts: tuple[OutlinePart, ...] = ()
    """The parts of the definition; the start part is first."""
    remarks: tuple[str, ...] = ()
    """Remarks about instances: when they may start, whether they stay active."""
    schedule: Mapping[str, JSON] | None = None
    """The schedule as written, with a description under `words`."""
    sections: tuple[Section, ...] = ()
    details: Mapping[str, JSON] = field(default_factory=dict)
    """Further content of the definition, for programs."""

    @property
    def every_part(self) -> Iterator[OutlinePart]:
        """All parts, each before those that it contains."""
        yield from _every_part(self.parts)

    def part_at(self, path: str) -> OutlinePart | None:
        """Return the part at *path*, or the innermost part that contains *path*."""
        holding = [part for part in self.every_part if path == part.path or path.startswith(f"{part.path}/")]
        return max(holding, key=lambda part: len(part.path), default=None)

    def part_of(self, state: str, lane: str) -> OutlinePart | None:
        """Return the part, a branch or a state, to which belongs what happened in *state* on the path *lane*."""
        path = ITERATION.sub("", lane)
        parts = {part.path: part for part in self.every_part}
        exact = next((parts[one] for one in (lane, path, state) if one in parts), None)
        return exact or self.part_at(path) or self.part_at(state)

    def users(self) -> Mapping[tuple[str, Any], list[str]]:
        """Return the paths of the parts that use a thing, by the kind of use (`calls`, `runs` …) and the thing."""
        found: dict[tuple[str, Any], dict[str, None]] = {}
        for part in self.every_part:
            for use, what in part.uses:
                if what is not None:
                    found.setdefault((use, what), {})[part.path] = None
        return {use: list(paths) for use, paths in found.items()}


def in_a_line(value: JSON) -> str:
    """Return a string as it is, and any other value as JSON, in one line."""
    text = value if isinstance(value, str) else show_json(value)
    return " ".join(text.split())


def _every_part(parts: tuple[OutlinePart, ...]) -> Iterator[OutlinePart]:
    for part in parts:
        yield part
        yield from _every_part(part.parts)


def _every(work: tuple[Work, ...]) -> Iterator[Work]:
    for one in work:
        yield one
        yield from _every(one.work)
