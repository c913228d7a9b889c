"""How much of a definition several runs have reached: its states and branches, and the ways between them."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from swf_temporal.base.grammar import counted
from swf_temporal.drawing.course import Course, Status
from swf_temporal.drawing.outline import Outline


@dataclass(frozen=True, slots=True)
class PartCoverage:
    """By how many runs a part was reached."""

    runs: int
    status: Status = "done"

    @property
    def lines(self) -> Iterator[tuple[Status, str]]:
        """What to say of it."""
        yield self.status, counted(self.runs, "scenario")


@dataclass(frozen=True, slots=True)
class Coverage:
    """What runs have reached of an outline."""

    outline: Outline
    parts: dict[str, PartCoverage]
    """The states and branches that were reached, by their paths."""
    taken: dict[tuple[str, int], int]
    """By how many runs ways were taken, by the path of their part and their number in it."""

    @property
    def unreached(self) -> list[str]:
        """The paths of the states and branches that no run has reached."""
        return [part.path for part in self.outline.every_part if part.path not in self.parts]

    @property
    def untaken(self) -> list[str]:
        """The ways that no run has taken: transitions, conditions, handlers, compensation and ends."""
        return [
            ", ".join([f"{part.path} → {way.end if way.to is None else way.to}", *filter(None, [way.name or way.when])])
            for part in self.outline.every_part
            for number, way in enumerate(part.ways)
            if not self.taken.get((part.path, number))
        ]

    @property
    def counts(self) -> tuple[int, int]:
        """How many states, branches and ways were reached, and how many there are."""
        parts = list(self.outline.every_part)
        total = len(parts) + sum(len(part.ways) for part in parts)
        return total - len(self.unreached) - len(self.untaken), total

    @property
    def percent(self) -> float:
        """The percentage of states, branches and ways that were reached."""
        reached, total = self.counts
        return 100 * reached / total if total else 100.0


def coverage_of(outline: Outline, courses: Iterable[Course]) -> Coverage:
    """Return what runs with these courses have reached together."""
    parts: Counter[str] = Counter()
    taken: Counter[tuple[str, int]] = Counter()
    for course in courses:
        parts.update(course.parts.keys())
        taken.update(way for way, times in course.taken.items() if times)
    return Coverage(outline, {path: PartCoverage(runs) for path, runs in parts.items()}, dict(taken))
