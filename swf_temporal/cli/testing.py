"""`swf test`: run scenarios."""

from pathlib import Path
from typing import Annotated

import typer

from swf_temporal.cli.interrupts import default_sigint
from swf_temporal.cli.options import Mode, Output, ScenarioHost, not_empty
from swf_temporal.cli.output import OutputFormat

EXAMPLES = {"test": "Example: swf test scenarios/ --host both --junit report.xml"}


def run_tests(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Files with scenarios, and folders of them.")],
    *,
    host: Annotated[
        ScenarioHost,
        typer.Option("--host", help="Run in virtual time in this process, on a Temporal server, or on both."),
    ] = ScenarioHost.SIMULATION,
    junit: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Write a report in JUnit format to this file.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE", help="Write a page with the course of each scenario to this file."),
    ] = None,
    coverage: Annotated[
        int | None,
        typer.Option(
            "--coverage",
            metavar="PERCENT",
            min=0,
            max=100,
            help="Show the parts of definitions that no scenario reached; fail if the coverage of one is below this.",
        ),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            "-k",
            metavar="TEXT",
            callback=not_empty,
            help="Only scenarios with this text in their claim, file or sections.",
        ),
    ] = None,
    form: Output = OutputFormat.TEXT,
    mode: Mode = None,  # noqa: ARG001 - its callback has the effect
) -> None:
    """Run scenarios.

    A scenario has a workflow, the answers of functions, events, and the expected outcome. With --host both, the traces
    of both hosts must be the same, too. A scenario that expects an invalid definition is only read. Exits with 0 if all
    scenarios pass, with 1 if one fails, or if too little of a definition was reached.
    """
    with default_sigint():
        from swf_temporal.cli.scenarios import Reports, test_all
    test_all(paths, host, Reports(junit, report, coverage), only, form)
