"""`python -m bench.activations [--before REVISION]`: what workflow code takes, without a server, a worker or a client.

The work is run once, on a server, and its activations are recorded. After that each contender runs them by itself, in a
process of its own, in turn with the others. Of processor times the least is told: what a busy machine adds is not the
code's, and so ten rounds on a busy machine tell releases apart that differ by some percent.

*Live* is what a worker does that has the workflow in memory, *replayed* the same after it was evicted.
"""

import argparse
import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from bench.contender import end, line_of
from bench.recorded import ANSWER
from bench.revisions import ROOT, checked_out
from bench.signals import SOURCE, TYPE, Kind, definition
from bench.work import WORK
from bench.worker import INTERPRETED, UNSANDBOXED
from swf_temporal.temporal.server import local_server

BEFORE = "before"
HOW = ("live", "replayed")
_RECORDED = Path(__file__).with_name("recorded.py")
_EVENTS = 30
_NOTHING = {"count": 0, "sum": 0, "squares": 0}

Times = dict[str, dict[str, dict[str, float]]]
"""Seconds by work, contender, and how it is run."""


def main() -> None:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench.activations", description=__doc__.partition("\n")[0])
    parser.add_argument("--before", metavar="REVISION", help="compare with the workflow code of this revision of git")
    parser.add_argument("--rounds", type=int, default=10, help="how often everything is measured (default: 10)")
    parser.add_argument("--only", choices=list(_works()), action="append", help="only this work")
    parser.add_argument("--json", action="store_true", help="print what was measured, in seconds, as JSON")
    given = parser.parse_args()
    works = [work for name, work in _works().items() if given.only is None or name in given.only]
    if given.before:
        with checked_out(given.before) as tree:
            found = asyncio.run(_measured(works, given.rounds, tree))
    else:
        found = asyncio.run(_measured(works, given.rounds, None))
    if given.json:
        print(json.dumps(found, indent=2))
    else:
        print("\n\n".join(_table(found, how) for how in HOW))


def _works() -> dict[str, dict[str, Any]]:
    """Return the work, as it is described to those that do it."""
    found: dict[str, dict[str, Any]] = {}
    for work in WORK:
        if not (work.calls_service or work.by_type or work.signalled):
            by_hand = {"by_hand": work.by_hand or work.name, "input": work.data}
            given = {"name": work.name, "title": work.title, "data": work.data, "events": []}
            found[work.name] = {**given, "definition": work.definition(""), **by_hand}
    events = [
        {"specversion": "1.0", "id": str(n), "source": SOURCE, "type": TYPE, "data": {"n": n}} for n in range(_EVENTS)
    ]
    found["events"] = {
        "name": "events",
        "title": f"{_EVENTS} events, one after the other",
        "data": _NOTHING,
        "events": events,
        "definition": definition(Kind.COUNTS),
        "by_hand": "counting",
        "input": {"data": _NOTHING, "kind": Kind.COUNTS},
    }
    return found


async def _measured(works: Sequence[dict[str, Any]], rounds: int, before: Path | None) -> Times:
    async with AsyncExitStack() as stack:
        contenders, unknown = {}, set()
        server = local_server(as_installed=True)
        address = (await server.__aenter__()).client.service_client.config.target_host
        try:
            trees = {BEFORE: before, INTERPRETED: ROOT, UNSANDBOXED: ROOT}
            for name, tree in trees.items():
                if tree is not None:
                    kind = UNSANDBOXED if name == UNSANDBOXED else INTERPRETED
                    contenders[name] = await stack.enter_async_context(_process(kind, tree, address))
                    unknown |= {(name, one) for one in await _unknown(contenders[name], works)}
        finally:
            await server.__aexit__(None, None, None)
        found: Times = {work["title"]: {name: {} for name in contenders} for work in works}
        for number in range(rounds):
            print(f"round {number + 1} of {rounds} …", file=sys.stderr, flush=True)
            for work in works:
                for name, one in contenders.items():
                    if (name, work["name"]) in unknown:
                        continue
                    least = found[work["title"]][name]
                    for how, seconds in (await _answer(one, work["name"])).items():
                        least[how] = min(seconds, least.get(how, seconds))
    return found


@asynccontextmanager
async def _process(contender: str, tree: Path, address: str) -> AsyncIterator[Process]:
    """Start a contender on the modules of *tree*, for as long as the context lasts."""
    env = {**os.environ, "PYTHONPATH": str(tree)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", str(_RECORDED), contender, address, stdin=PIPE, stdout=PIPE, cwd=tree, env=env
    )
    assert process.stdin
    try:
        yield process
    finally:
        await end(process)


async def _unknown(process: Process, works: Sequence[dict[str, Any]]) -> list[str]:
    """Have all work recorded, and return the names of that whose language the revision does not know."""
    unknown = [work["name"] for work in works if await _answer(process, json.dumps(work)) is None]
    await _answer(process, "")
    return unknown


async def _answer(process: Process, line: str) -> Any:
    assert process.stdin
    process.stdin.write(f"{line}\n".encode())
    return json.loads((await line_of(process, ANSWER)).removeprefix(ANSWER))


def _table(found: Times, how: str) -> str:
    compares = any(BEFORE in one for one in found.values())
    head = [f"workflow code, {how}, ms", "interpreted", "by hand", "interpreted : by hand"]
    head += ["before", "after : before"] if compares else []
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for title, one in found.items():
        ours, by_hand = one[INTERPRETED][how], one[UNSANDBOXED][how]
        cells = [title, f"{1000 * ours:.3f}", f"{1000 * by_hand:.3f}", f"{ours / by_hand:.2f}"]
        if compares:
            before = one[BEFORE].get(how)
            cells += ["-", "-"] if before is None else [f"{1000 * before:.3f}", f"{ours / before:.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
