"""`python -m bench --before REVISION`: what interpreting cost in an earlier release, and what it costs now.

A client of one release may start what a worker of another does not take, so each has a server, a client and workers of
its own, and its own counterpart written by hand. They measure in turn, a round at a time. What the machine does
meanwhile is in the counterparts as well: releases are compared by their ratios to them, within each round.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Any

from bench.revisions import ROOT, checked_out
from bench.worker import INTERPRETED, UNSANDBOXED
from tests.processes import ending_with_us


@dataclass(frozen=True, slots=True)
class Change:
    """What a piece of work took in each round, as `python -m bench --json` tells it, then and now."""

    work: str
    before: list[dict[str, Any]]
    after: list[dict[str, Any]]

    def typical(self, when: str, measure: str) -> float:
        """Return the median of what interpreting took, in units of the same written by hand."""
        return median(_ratio(costs, measure) for costs in getattr(self, when))

    def ratio(self, measure: str) -> float:
        """Return the median, over the rounds, of what it takes now in units of what it took then."""
        rounds = zip(self.before, self.after, strict=True)
        return median(_ratio(after, measure) / _ratio(before, measure) for before, after in rounds)


def compare_with(revision: str, works: Sequence[str], rounds: int, seconds: float) -> list[Change]:
    """Measure those of *works* that *revision* knows, in turn with it: once, and again as long as *seconds* last."""
    with checked_out(revision) as tree:
        known = _asked(
            tree, "-c", "import json; from bench.work import WORK; print(json.dumps([w.name for w in WORK]))"
        )
        changes = {name: Change(name, [], []) for name in works if name in known}
        only = [option for name in changes for option in ("--only", name)]
        started = monotonic()
        for number in range(rounds):
            if (monotonic() - started) * (number + 1) > seconds * max(number, 1):
                break  # one more would end too late
            for when, folder in (("before", tree), ("after", ROOT)):
                print(f"round {number + 1} of {rounds}, {when} …", file=sys.stderr)
                for one in _asked(folder, "-m", "bench", "--rounds", "1", "--json", *only):
                    getattr(changes[one["work"]], when).extend(one["rounds"])
    return list(changes.values())


def _ratio(costs: dict[str, Any], measure: str) -> float:
    return float(costs[INTERPRETED][measure] / costs[UNSANDBOXED][measure])


def _asked(tree: Path, *arguments: str) -> Any:
    """Return the JSON that Python prints, run with *arguments* on the modules of *tree*."""
    env = {**os.environ, "PYTHONPATH": str(tree)}
    command = [*ending_with_us(), sys.executable, *arguments]
    done = subprocess.run(command, cwd=tree, env=env, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)
