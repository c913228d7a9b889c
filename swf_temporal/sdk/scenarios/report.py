"""What scenarios have reached of their definitions: in lines, and as a page with pictures."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from swf_temporal.base.errors import InvalidDefinition
from swf_temporal.drawing.course import Course, course_of
from swf_temporal.drawing.coverage import Coverage, coverage_of
from swf_temporal.drawing.outline import WorkflowRef
from swf_temporal.drawing.svg import figure_of, page_with
from swf_temporal.drawing.texts import xml_text
from swf_temporal.languages.port import Definition
from swf_temporal.sdk.scenarios.verdicts import Verdict
from swf_temporal.simulation.scenario import workflows_of


@dataclass(slots=True)
class Covered:
    """A definition, and the scenarios that ran it."""

    definition: Definition
    runs: list[tuple[Verdict, Course]] = field(default_factory=list)

    @property
    def coverage(self) -> Coverage:
        """What they have reached together."""
        return coverage_of(self.definition.outline, (course for _, course in self.runs))

    @property
    def words(self) -> str:
        """How much that is, in a line."""
        coverage, called = self.coverage, WorkflowRef(self.definition.id or "", self.definition.version)
        reached, total = coverage.counts
        return (
            f"{int(coverage.percent)} % of {called} ({self.definition.source.name}): "
            f"{reached} of {total} states, branches and ways"
        )

    @property
    def lines(self) -> Iterator[str]:
        """What they have not reached."""
        coverage = self.coverage
        yield from (f"not reached: {path}" for path in coverage.unreached)
        yield from (f"not taken: {way}" for way in coverage.untaken)


def covered_by(verdicts: Sequence[Verdict]) -> list[Covered]:
    """Return the definitions that scenarios ran, each once, in the order in which they were met."""
    found: dict[str, Covered] = {}
    for verdict in verdicts:
        if verdict.run is None:
            continue
        try:
            definition = workflows_of(verdict.scenario)[0]
        except InvalidDefinition:  # its verdict says so
            continue
        covered = found.setdefault(definition.digest, Covered(definition))
        if any(one.scenario is verdict.scenario for one, _ in covered.runs):
            continue  # it ran on the other host, too
        covered.runs.append((verdict, course_of(definition.outline, verdict.run.trace)))
    return list(found.values())


def page_about(found: Sequence[Covered]) -> str:
    """Return a page with the coverage of each definition, and with the course of each of its scenarios to unfold."""
    return page_with("Scenarios", _body(found))


def _body(found: Sequence[Covered]) -> Iterator[str]:
    ids = (f"g{number}-" for number in count(1))
    for covered in found:
        yield figure_of(covered.definition.picture(covered.coverage, f"coverage: {covered.words}"), next(ids))
        for verdict, course in covered.runs:
            mark = "✗" if verdict.differences else "✓"
            yield f"<details><summary>{mark} {xml_text(f'{verdict.scenario} ({verdict.host})')}</summary>"
            if verdict.differences:
                lines = [line for one in verdict.differences for line in one.splitlines()]
                yield "\n".join(["<pre>", *map(xml_text, lines), "</pre>"])
            yield figure_of(covered.definition.picture(course, verdict.scenario.claim, course.words), next(ids))
            yield "</details>"
