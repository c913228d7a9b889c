"""The command `swf test`, and its report in JUnit format."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import typer

from swf_temporal.base.errors import UsageError
from swf_temporal.base.stopping import run_until_stopped
from swf_temporal.cli.options import ScenarioHost
from swf_temporal.cli.output import OutputFormat, print_data, write
from swf_temporal.sdk.logs import be_quiet
from swf_temporal.sdk.scenarios.report import Verdict, covered_by, page_about, verdicts
from swf_temporal.simulation.scenario import Scenario, find_scenarios


@dataclass(frozen=True, slots=True)
class Reports:
    """The reports about scenarios, besides their results."""

    junit: Path | None = None
    page: Path | None = None
    """The destination of the HTML page with pictures."""
    coverage: int | None = None
    """The required coverage of each definition in percent; None if coverage is not measured."""


def test_all(
    paths: Iterable[Path], where: ScenarioHost, reports: Reports, only: str | None, form: OutputFormat
) -> None:
    """Run the scenarios at *paths*, filtered by the text *only*, and exit with the exit code."""
    there = find_scenarios(paths)
    if not there:
        raise UsageError("there is no scenario to test", "scenarios are YAML documents with the key `scenario`")
    found = [one for one in there if only is None or _matches(one, only)]
    if not found:
        raise UsageError(f"there is no scenario to test: none has {only!r} in its claim, file or sections")
    be_quiet()
    raise typer.Exit(run_until_stopped(_test(found, where, reports, form)))


async def _test(scenarios: Sequence[Scenario], host: ScenarioHost, reports: Reports, form: OutputFormat) -> int:
    found = []
    running = verdicts(
        scenarios, in_simulation=host is not ScenarioHost.TEMPORAL, on_temporal=host is not ScenarioHost.SIMULATION
    )
    async for verdict in running:
        if form is OutputFormat.TEXT:
            typer.echo(verdict)
        found.append(verdict)
    if form is not OutputFormat.TEXT:
        print_data([verdict.to_json() for verdict in found], form)
    if reports.junit is not None:
        _write_junit(reports.junit, found)
    is_covered = _tell_coverage(found, reports)
    failed = sum(bool(verdict.differences) for verdict in found)
    left_out = sum(verdict.left_out is not None for verdict in found)
    counts = [f"{len(found) - failed - left_out} passed", f"{failed} failed"]
    typer.echo(", ".join(counts + ([f"{left_out} left out"] if left_out else [])), err=True)
    return int(failed > 0 or not is_covered)


def _tell_coverage(verdicts: Sequence[Verdict], reports: Reports) -> bool:
    """Write and print the coverage of definitions by scenarios; return True if it is sufficient."""
    if reports.page is None and reports.coverage is None:
        return True
    found = covered_by(verdicts)
    if reports.page is not None:
        write(reports.page, page_about(found).encode())
    if reports.coverage is None:
        return True
    for covered in found:
        typer.echo(f"coverage: {covered.words}", err=True)
        for line in covered.lines:
            typer.echo(f"  {line}", err=True)
    return all(covered.coverage.percent >= reports.coverage for covered in found)


def _matches(scenario: Scenario, text: str) -> bool:
    return any(text.casefold() in part.casefold() for part in (scenario.claim, str(scenario.file), *scenario.spec))


def _write_junit(path: Path, verdicts: Sequence[Verdict]) -> None:
    """Write *verdicts* to *path* as JUnit XML. Raises UsageError if that is not possible."""
    suite = Element(
        "testsuite",
        name="swf",
        tests=str(len(verdicts)),
        failures=str(sum(bool(verdict.differences) for verdict in verdicts)),
        skipped=str(sum(verdict.left_out is not None for verdict in verdicts)),
        errors="0",
    )
    for verdict in verdicts:
        scenario = verdict.scenario
        case = SubElement(
            suite,
            "testcase",
            name=f"{scenario.claim} ({verdict.host})",
            classname=str(scenario.file),
            file=str(scenario.file),
            line=str(scenario.line),
        )
        if verdict.left_out is not None:
            SubElement(case, "skipped", message=verdict.left_out)
        elif verdict.differences:
            text = "\n".join(verdict.differences)
            failure = SubElement(case, "failure", message=_plain(text.splitlines()[0]))
            failure.text = _plain(text)
    indent(suite)
    write(path, tostring(suite, encoding="utf-8", xml_declaration=True))


def _plain(text: str) -> str:
    """Return *text* without the characters that XML does not allow."""
    return "".join(one for one in text if one.isprintable() or one in "\n\t")
