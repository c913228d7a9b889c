"""Which trials does a mutant meet? Those that come by the line that changes, the likely ones before the others."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

from tests.mutation.mutant import Mutant
from tests.mutation.mutants import HELPERS, JQ_PROCESS, line_of_helper
from tests.mutation.trials import Baseline, Kind, Trial


def trials_for(
    place: tuple[str, int],
    kind: Kind,
    baseline: Baseline,
    killers: Sequence[str] = (),
    most: float = math.inf,
    function: tuple[int, int] = (0, 0),
    changed: str | None = None,
) -> list[Trial]:
    """Return the trials of a kind that come by *place*: *killers* of neighbours first, then one of every folder.

    Before these come the quickest that run each further line of the *function* with these lines: most trials take the
    same way through it, and what changes may show on another. Of each folder one of every file comes first, and of each
    file the quickest: those that are about the same thing mostly stand together, and many others may come by as well.
    Together they take at most *most* seconds without a mutant; the others are left out. Those of the test files that
    mirror *place*, and the file that is *changed* if it runs in a helper process, come before, and take as much again.
    """
    file, line = place
    passing = [trial for trial in baseline if trial.kind is kind and line in trial.passes.get(file, ())]
    passing.sort(key=lambda one: one.seconds)
    for part_of in (file_of, _folder_of):
        rounds: Counter[str] = Counter()
        order: dict[str, tuple[int, float]] = {}
        for one in passing:
            order[one.name] = rounds[part_of(one)], one.seconds
            rounds[part_of(one)] += 1
        passing.sort(key=lambda one: order[one.name])
    every_way = _of_every_line(passing, file, function)
    passing.sort(key=lambda one: (one.name not in killers, one.name not in every_way))
    mirrors = {_mirror_of(file), _mirror_of(changed or file)}
    mirroring = [one for one in passing if file_of(one) in mirrors]
    others = [one for one in passing if file_of(one) not in mirrors]
    return [*_affordable(mirroring, most), *_affordable(others, most)]


def _of_every_line(trials: Sequence[Trial], file: str, function: tuple[int, int]) -> set[str]:
    """Return the names of *trials* that come by the lines of a *function*, for each line the quickest."""
    begin, end = function
    quickest: dict[int, str] = {}
    for one in sorted(trials, key=lambda one: one.seconds):
        for line in one.passes[file]:
            if begin < line <= end:
                quickest.setdefault(line, one.name)
    return set(quickest.values())


def _mirror_of(file: str) -> str:
    """Return the test file of a *file* of the package, whether there is one or not."""
    folder, _, name = file.rpartition("/")
    return f"tests/{folder.removeprefix('swf_temporal/')}/test_{name}"


def _affordable(trials: Sequence[Trial], most: float) -> list[Trial]:
    """Return the first of *trials* that take at most *most* seconds together."""
    spent = accumulate(one.seconds for one in trials)
    return [one for one, seconds in zip(trials, spent, strict=True) if seconds <= most]


def place_of(mutant: Mutant, baseline: Baseline) -> tuple[str, int]:
    """Return the line whose trials come by *mutant*: the one that changes, or the last before it that ever runs.

    Statements of several lines are known by some of these only. What runs in a helper process is come by where one is
    started, or asked.
    """
    running = _running(baseline, mutant.file, mutant.lines)
    module = mutant.name.rpartition(".")[0]
    if module == JQ_PROCESS or (module in HELPERS and not running):
        return line_of_helper(module)
    before, after = [one for one in running if one <= mutant.line], [one for one in running if one > mutant.line]
    return mutant.file, max(before) if before else min(after, default=0)


def _running(baseline: Baseline, file: str, lines: tuple[int, int]) -> set[int]:
    begin, end = lines
    return {one for trial in baseline for one in trial.passes.get(file, ()) if begin < one <= end}


def file_of(trial: Trial) -> str:
    """Return the file that *trial* stands in, from the root of the project."""
    return trial.name.partition("::" if trial.kind is Kind.TEST else ":")[0]


def _folder_of(trial: Trial) -> str:
    return file_of(trial).rpartition("/")[0]
