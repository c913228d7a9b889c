"""Do definitions of 0.8 come to the same as DSL 1.0? `python -m tests.upgrading.dsl switch/`."""

import argparse
import asyncio
import sys
from collections import Counter
from itertools import chain

import typer

from swf_temporal.sdk.logs import be_quiet
from swf_temporal.sdk.scenarios.host import scenario_host
from tests.upgrading.dsl.agreeing import Compared, Outcome, compared, examples, on_temporal, scenarios
from tests.upgrading.dsl.attribution import attributed
from tests.upgrading.older import older


def main() -> int:
    """Compare the scenarios, and print what differs and how many do."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pattern", nargs="?", default="", help="a part of the paths of scenarios")
    parser.add_argument("--show", action="append", choices=list(Outcome), help="print these, too")
    parser.add_argument("--generated", type=int, default=0, help="how many generated definitions, and no scenarios")
    parser.add_argument("--seed", type=int, default=0, help="the first seed of these")
    parser.add_argument("--temporal", type=int, default=0, metavar="N", help="run every Nth of them on Temporal, too")
    asked = parser.parse_args()
    shown = {Outcome.DIFFER, *map(Outcome, asked.show or ())}
    counts: Counter[Outcome] = Counter()
    attributions: Counter[Outcome | None] = Counter()
    ran: list[Compared] = []
    seeds = range(asked.seed, asked.seed + asked.generated)
    generated = ((f"seed {seed}", older(seed, "0.8")) for seed in seeds)
    for name, document in generated if asked.generated else chain(scenarios(asked.pattern), examples()):
        found = compared(name, document)
        if found is None:
            continue
        counts[found.outcome] += 1
        ran += [found] if found.both else []
        if found.outcome in shown:
            _print(found)
        if found.outcome is Outcome.REPORTED:
            without = attributed(found, document)
            attributions[None if without is None else without.outcome] += 1
            if without is None or without.outcome is not Outcome.AGREE:
                typer.echo("also without what was reported:" if without else "cannot run without what was reported:")
                _print(without or found)
    typer.echo(", ".join(f"{counts[one]} {one}" for one in Outcome))
    agree = attributions[Outcome.AGREE]
    typer.echo(f"{agree} of {attributions.total()} reported agree once what is reported is taken out of the original")
    apart = asyncio.run(_on_temporal(ran[:: asked.temporal])) if asked.temporal else 0
    return int(counts[Outcome.DIFFER] + apart > 0)


async def _on_temporal(ran: list[Compared]) -> int:
    """Run the originals and the rewritten definitions on Temporal; print and return how many differ there."""
    be_quiet()
    apart = left_out = 0
    async with scenario_host() as host:
        for one in ran:
            told = await on_temporal(host, one)
            left_out += told is None
            apart += bool(told)
            for text in told or ():
                typer.echo(f"{one.name}: {text[:400]}")
    typer.echo(
        f"{len(ran) - left_out} on Temporal, both before and after, {apart} of them other than in simulation;"
        f" {left_out} are of the simulation alone"
    )
    return apart


def _print(found: Compared) -> None:
    typer.echo(f"{found.outcome}: {found.name}")
    for text in (*found.differences, *(f"({one})" for one in found.reported)):
        typer.echo(f"    {text[:400]}")


if __name__ == "__main__":
    sys.exit(main())
