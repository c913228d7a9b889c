"""The outline of a definition: a tree of named parts, what each does, and the ways between them.

A language makes one of each definition. All that lists, describes or draws definitions is made from it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from swf_temporal.base.data import JSON
from swf_temporal.base.strict_json import show_json


@dataclass(frozen=True, slots=True)
class WorkflowRef:
    """Another definition, by its id; without a version, the latest is meant."""

    id: str
    version: str | None = None

    def __str__(self) -> str:
        return self.id if self.version is None else f"{self.id} {self.version}"


@dataclass(frozen=True, slots=True)
class Work:
    name: str | None = None
    """What its author calls it."""
    text: str = ""
    """What it does, in the words of the language; none where what it calls and waits for says it all."""
    calls: str | None = None
    """The name of the function that is called."""
    runs: WorkflowRef | None = None
    """The workflow that is started, as it is written."""
    produces: tuple[str, ...] = ()
    """The names of events."""
    awaits: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    """What else there is to say of it: conditions, limits, retries."""
    work: tuple["Work", ...] = ()
    """What is done in it, or after it."""
    details: Mapping[str, JSON] = field(default_factory=dict)
    """What else is written, for programs."""

    @property
    def words(self) -> str:
        """What is done, in a line."""
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
    """A way out of a part: to another part, or out of the scope in which the part stands."""

    on: Literal["completion", "condition", "default", "event", "error", "retry", "compensation"]
    to: str | None = None
    """The path of the part that it leads to."""
    when: str = ""
    """When it is taken, in the words of the language; nothing if that is as soon as the part is done."""
    name: str | None = None
    """What its author calls it."""
    awaits: tuple[str, ...] = ()
    """The names of the events on which it is taken."""
    produces: tuple[str, ...] = ()
    """The names of the events that are produced on it."""
    compensates: bool = False
    """Whether what was done is undone on it."""
    terminates: bool = False
    """Whether it ends all other paths of the instance as well."""
    continues_as: WorkflowRef | None = None
    """The workflow that the instance goes on as."""
    details: Mapping[str, JSON] = field(default_factory=dict)
    """What else is written, for programs."""

    @property
    def is_usual(self) -> bool:
        """Whether it belongs to the usual course, and not to what is done about errors."""
        return self.on not in ("error", "retry", "compensation")

    @property
    def end(self) -> str:
        """What it leads to, in words, if that is not a part."""
        if self.continues_as is not None:
            return f"workflow {self.continues_as}"
        return "the end of all paths" if self.terminates else "end"

    @property
    def consequences(self) -> tuple[str, ...]:
        """What else happens on it, in words."""
        undone = ("undoes what was done",) if self.compensates else ()
        return (*undone, *(f"produces {event}" for event in self.produces))


@dataclass(frozen=True, slots=True)
class OutlinePart:
    """A named part of a definition, such as a state, a task or a branch. The path names it within the definition."""

    path: str
    kind: str
    """What it is, in the word of the language."""
    name: str
    note: str = ""
    """What else it is, in words."""
    work: tuple[Work, ...] = ()
    limits: Mapping[str, str] = field(default_factory=dict)
    """Its timeouts, by the words of the language for them."""
    waits_at_most: str | None = None
    """Which of them ends its wait for events, as it is written."""
    ways: tuple[Way, ...] = ()
    parts: tuple["OutlinePart", ...] = ()
    """The parts that it holds; where they are a scope, the one that it starts with first."""
    is_concurrent: bool = False
    """Whether the parts that it holds run side by side, and are no scope."""
    details: Mapping[str, JSON] = field(default_factory=dict)
    """What else is written, for programs."""

    @property
    def ends(self) -> bool:
        """Whether the workflow, or the scope that it stands in, may end with it."""
        return any(way.to is None for way in self.ways)

    @property
    def uses(self) -> Iterator[tuple[str, Any]]:
        """All that it uses: how, and what; that may be None."""
        for work in _every(self.work):
            yield from (("calls", work.calls), ("runs", work.runs))
            yield from (*(("awaits", one) for one in work.awaits), *(("produces", one) for one in work.produces))
        for way in self.ways:
            yield "continues as", way.continues_as
            yield from (*(("awaits", one) for one in way.awaits), *(("produces", one) for one in way.produces))


@dataclass(frozen=True, slots=True)
class Section:
    """Something else that a definition has, such as errors or timeouts: for people, and for programs."""

    title: str
    lines: tuple[str, ...]
    facts: Any
    """JSON."""


@dataclass(frozen=True, slots=True)
class Outline:
    parts: tuple[OutlinePart, ...] = ()
    """The one that an instance starts with first."""
    remarks: tuple[str, ...] = ()
    """What else there is to say of an instance: in which time it starts, whether it stays active."""
    schedule: Mapping[str, JSON] | None = None
    """A schedule as it is written and, under `words`, in words."""
    sections: tuple[Section, ...] = ()
    details: Mapping[str, JSON] = field(default_factory=dict)
    """What else is written, for programs."""

    @property
    def every_part(self) -> Iterator[OutlinePart]:
        """All parts, each before those that it holds."""
        yield from _every_part(self.parts)

    def part_at(self, path: str) -> OutlinePart | None:
        """Return the part at *path*, or the innermost that holds what is there."""
        holding = [part for part in self.every_part if path == part.path or path.startswith(f"{part.path}/")]
        return max(holding, key=lambda part: len(part.path), default=None)

    def users(self) -> Mapping[tuple[str, Any], list[str]]:
        """Return the paths of the parts that use something, by how they use it (`calls`, `runs` …) and what it is."""
        found: dict[tuple[str, Any], dict[str, None]] = {}
        for part in self.every_part:
            for use, what in part.uses:
                if what is not None:
                    found.setdefault((use, what), {})[part.path] = None
        return {use: list(paths) for use, paths in found.items()}


def in_a_line(value: JSON) -> str:
    """Return a text as it is, and anything else as JSON, in a line."""
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
