"""Which scenarios of the specification's conformance test kit hold? `python -m tests.dsl.kit [FOLDER]`.

Runs the features in FOLDER, or those of both texts, on both hosts, and prints a table. With `--write` it writes the
page and the report. Ends with 1 if a scenario fails.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import typer

from swf_temporal.sdk.logs import be_quiet
from swf_temporal.sdk.scenarios.host import scenario_host
from tests.dsl.kit import report
from tests.dsl.kit.features import scenarios_in
from tests.dsl.kit.report import HOSTS, Outcome
from tests.dsl.kit.running import Running, failures, on_temporal, simulate


async def main() -> int:
    asked = _arguments()
    be_quiet()
    folders = [asked.folder] if asked.folder else report.folders()
    if not folders:
        typer.echo(f"the texts of the specification are not at {report.TEXTS}", err=True)
        return 2
    hosts = [asked.host] if asked.host else list(HOSTS)
    outcomes = await _run(folders, hosts)
    rows = [["text", "feature", "scenario", *hosts], *report.table(outcomes, hosts)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    for one in outcomes:
        for failure in one.failures[:1]:  # what follows is mostly because of it
            typer.echo(f"{one.text}, {one.scenario.id}, on {one.host}: {failure}", err=True)
    typer.echo(report.count(outcomes))
    if asked.write:
        report.PAGE.write_text(report.page(outcomes), encoding="utf-8")
        report.REPORT.write_text(report.report(outcomes), encoding="utf-8")
    return int(any(one.failures for one in outcomes))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.dsl.kit", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="a folder of features; by default, those of both texts")
    parser.add_argument("--host", choices=HOSTS, help="the only host")
    parser.add_argument("--write", action="store_true", help="write the page and the report")
    asked = parser.parse_args()
    if asked.write and (asked.folder or asked.host):
        parser.error("--write needs the results of both texts on both hosts")
    return asked


async def _run(folders: Sequence[Path], hosts: Sequence[str]) -> list[Outcome]:
    found: list[Outcome] = []
    async with AsyncExitStack() as stack:
        for host in hosts:
            run: Running = simulate
            if host == "temporal":
                run = on_temporal(await stack.enter_async_context(scenario_host()))
            # One at a time: some workflows of the kit have the same name.
            for folder in folders:
                found += [
                    Outcome(folder.parent.name, one, host, await failures(one, run)) for one in scenarios_in(folder)
                ]
    return found


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
