"""Do simulation and Temporal agree? `python -m tests.agreement --count 5000 --seed 0`.

Runs so many generated definitions on both hosts, and prints how many there were and how many differed. The smallest
scenario that was found for each difference is written to a file, which `swf test FILE --host both` runs as well.
"""

import argparse
import asyncio
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path

import typer

from swf_temporal.base.errors import UsageError
from swf_temporal.sdk.logs import be_quiet
from swf_temporal.sdk.scenarios.host import ScenarioHost, scenario_host
from swf_temporal.simulation.scenario import ObservedRun
from tests.agreement import generating_direktiv, generating_dsl
from tests.agreement.comparing import Compared, compare
from tests.agreement.generating import Document, scenario
from tests.agreement.shrinking import shrunk

_BATCH = 250


async def main() -> int:
    asked = _arguments()
    be_quiet()
    found: list[Compared] = []
    count = invalid = ties = 0
    begun = time.monotonic()
    async with scenario_host() as host:
        for begin in range(asked.seed, asked.seed + asked.count, _BATCH):
            seeds = range(begin, min(begin + _BATCH, asked.seed + asked.count))
            generated = scenario
            if asked.direktiv or asked.dsl:
                generated = generating_direktiv.scenario if asked.direktiv else generating_dsl.scenario
            compared = await compare(host, [generated(seed) for seed in seeds])
            count += len(compared)
            invalid += sum(one.simulated is None for one in compared)
            ties += sum(one.is_tie for one in compared)
            for one in compared:
                if one.differences:
                    found.append(one)
                    typer.echo(f"{one.document['scenario']}: {'; '.join(one.differences)[:600]}")
            took = time.monotonic() - begun
            typer.echo(f"{count} definitions, {len(found)} disagreements, {took:.0f} s", err=True)
        for one in found[: asked.shrink]:
            typer.echo(f"smallest: {await _written(host, one, asked.out)}")
    told = f"{len(found)} disagreements, {ties} ended in the instant in which a sub-workflow did"
    typer.echo(f"{count - invalid} definitions ran on both hosts ({invalid} cannot run): {told}")
    return int(bool(found))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.agreement", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="how many definitions")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first; the others follow")
    parser.add_argument("--direktiv", action="store_true", help="whether they are Direktiv workflows")
    parser.add_argument("--dsl", action="store_true", help="whether they are workflows of DSL 1.0")
    parser.add_argument("--out", type=Path, default=Path(".agreement"), help="the folder for what differs")
    parser.add_argument("--shrink", type=int, default=20, help="of how many the smallest form is looked for")
    return parser.parse_args()


async def _written(host: ScenarioHost, one: Compared, folder: Path) -> Path:
    """Write the smallest scenario that differs as *one* does, and return where."""
    number = 0

    async def differs(documents: list[Document]) -> list[bool]:
        nonlocal number
        renamed = []
        for document in documents:
            number += 1
            renamed.append(_renamed(document, number))
        try:
            return [bool(compared.differences) for compared in await compare(host, renamed)]
        except UsageError:
            # One of them is no scenario: ask of each by itself.
            return [False] if len(documents) == 1 else [(await differs([document]))[0] for document in documents]

    smallest = await shrunk(one.document, differs)
    [compared] = await compare(host, [_renamed(smallest, number + 1)])
    return await asyncio.to_thread(_write, compared, folder)


def _write(one: Compared, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{one.document['scenario'].replace(', ', '-').replace(' ', '-')}.yaml"
    comments = [f"# {line}" for line in one.differences]
    document = one.document if one.simulated is None else {**one.document, "expect": _expected(one.simulated)}
    path.write_text("\n".join([*comments, json.dumps(document, indent=2)]) + "\n")
    return path


def _expected(seen: ObservedRun) -> Document:
    facts = asdict(seen)
    error = {key: value for key, value in (facts["error"] or {}).items() if value is not None}
    return {"status": seen.status, **({"error": error} if error else {})}


def _renamed(document: Document, number: int) -> Document:
    """Return *document* with another id for its main workflow: one id runs once at a time."""
    main = document["workflow"]
    if "document" in main:
        named = main["document"]
        name = f"{named.get('name', 'none').partition('x')[0]}x{number}"
        return {**document, "workflow": {**main, "document": {**named, "name": name}}}
    return {**document, "workflow": {**main, "id": f"{main.get('id', 'none').partition('x')[0]}x{number}"}}


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
