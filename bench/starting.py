"""`python -m bench.starting [--before REVISION]`: how long commands take from the start of the process to its end.

Each is run as a process again and again, its own answer being a matter of milliseconds: a small definition, a server
beside it. With `--before` the commands of an earlier revision, checked out to a folder of its own, are run in turn with
those of this checkout, so that what else the machine does hurts both alike. Ratios are taken within the rounds.

Of times the least is told: what a busy machine adds is not the command's. The processor's time says how much work it
is, wherever it waited.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.revisions import ROOT, checked_out
from swf_temporal.temporal.server import local_server
from tests.cli.conftest import HELLO, WAITER


@dataclass(frozen=True, slots=True)
class Case:
    """A command, and how long it may take, in seconds."""

    title: str
    arguments: tuple[str, ...]
    limit: float
    env: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Cost:
    """What one process took, in seconds."""

    wall: float
    cpu: float
    code: int = 0
    """The exit code."""


def main() -> None:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench.starting", description=__doc__.partition("\n")[0])
    parser.add_argument("--before", metavar="REVISION", help="compare with the commands of this revision of git")
    parser.add_argument("--rounds", type=int, default=9, help="how often everything is measured")
    parser.add_argument("--json", action="store_true", help="print what was measured, in seconds, as JSON")
    given = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        trees = {"after": ROOT}
        if given.before:
            trees = {"before": stack.enter_context(checked_out(given.before)), **trees}
        measured = asyncio.run(_measured(trees, folder, given.rounds))
    if given.json:
        print(json.dumps([_as_json(case, costs) for case, costs in measured], indent=2))
    else:
        print("\n".join(_table(measured, compares=bool(given.before))))


async def _measured(trees: Mapping[str, Path], folder: Path, rounds: int) -> list[tuple[Case, dict[str, list[Cost]]]]:
    (folder / "hello.yaml").write_text(HELLO)
    (folder / "waiter.yaml").write_text(WAITER)
    async with local_server(as_installed=True) as server:
        address = server.client.service_client.config.target_host
        cases = _cases(address)
        swf = Swf(folder, address)
        await asyncio.to_thread(swf.run, ROOT, ("start", "waiter.yaml", "--id", "waiting"), {})
        return await asyncio.to_thread(_rounds, cases, trees, swf, rounds)


def _cases(address: str) -> list[Case]:
    def completing(words: str) -> dict[str, str]:
        return {"_SWF_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}

    asking = {"TEMPORAL_ADDRESS": address}
    simulated = ("run", "--simulate", "hello.yaml", "--input", '{"name": "Ada"}')
    openapi = str(ROOT / "examples" / "orders" / "orders.sw.yaml")
    return [
        Case("validate", ("validate", "hello.yaml"), 0.3, {}),
        Case("validate, with an OpenAPI document", ("validate", openapi), 0.3, {}),
        Case("run --simulate", simulated, 0.35, {}),
        Case("list", ("list",), 0.35, asking),
        Case("cancel", ("cancel", "nobody"), 0.35, asking),
        Case("schedule list", ("schedule", "list"), 0.35, asking),
        Case("result of nobody", ("result", "nobody"), 0.35, asking),
        Case("complete a command", (), 0.2, completing("swf va")),
        Case("complete an option", (), 0.2, completing("swf run --si")),
        Case("complete an id", (), 0.2, {**asking, **completing("swf status wa")}),
    ]


@dataclass(frozen=True, slots=True)
class Swf:
    """The command, in a folder with a few definitions."""

    folder: Path
    address: str

    def run(self, tree: Path, arguments: Sequence[str], env: Mapping[str, str]) -> Cost:
        """Run the command of *tree* to its end; return what it took."""
        home = {"HOME": str(self.folder), "XDG_CACHE_HOME": str(self.folder)}
        command = ["-c", "from swf_temporal.cli.main import main; main()", *arguments]
        return cost_of(tree, command, self.folder, {**home, "TEMPORAL_ADDRESS": self.address, **env})


def cost_of(tree: Path, arguments: Sequence[str], folder: Path, env: Mapping[str, str]) -> Cost:
    """Run Python with *arguments* on the modules of *tree* in *folder*, to its end; return what it took."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TEMPORAL_", "SWF_"))}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    begun = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env={**kept, "PYTHONPATH": str(tree), **env},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Cost(time.perf_counter() - begun, used.ru_utime + used.ru_stime, process.returncode)


def _rounds(
    cases: Sequence[Case], trees: Mapping[str, Path], swf: Swf, rounds: int
) -> list[tuple[Case, dict[str, list[Cost]]]]:
    """Run every case once in each tree to have everything compiled, and then so many times in turn."""
    costs: list[tuple[Case, dict[str, list[Cost]]]] = [(case, {name: [] for name in trees}) for case in cases]
    for number in range(-1, rounds):
        for case, found in costs:
            for name, tree in trees.items():
                cost = swf.run(tree, case.arguments, case.env)
                if number >= 0:
                    found[name].append(cost)
    return costs


def _table(measured: Sequence[tuple[Case, dict[str, list[Cost]]]], *, compares: bool) -> Iterator[str]:
    head = ["s", "at most", "wall", "CPU"]
    if compares:
        head = ["s", "at most", "wall before", "after", "ratio", "CPU before", "after", "ratio"]
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    for case, costs in measured:
        cells = [case.title, f"{case.limit:.2f}"]
        for measure in ("wall", "cpu"):
            cells += [f"{_least(costs[name], measure):.3f}" for name in costs]
            if compares:
                cells.append(f"{_ratio(costs, measure):.2f}")
        yield f"| {' | '.join(cells)} |"


def _least(costs: Sequence[Cost], measure: str) -> float:
    return float(min(getattr(cost, measure) for cost in costs))


def _ratio(costs: Mapping[str, Sequence[Cost]], measure: str) -> float:
    pairs = zip(costs["after"], costs["before"], strict=True)
    return float(median(getattr(after, measure) / getattr(before, measure) for after, before in pairs))


def _as_json(case: Case, costs: Mapping[str, Sequence[Cost]]) -> dict[str, object]:
    return {
        "command": case.title,
        "limit": case.limit,
        **{name: [{"wall": cost.wall, "cpu": cost.cpu} for cost in each] for name, each in costs.items()},
    }


if __name__ == "__main__":
    main()
