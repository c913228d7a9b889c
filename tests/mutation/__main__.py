"""Would the scenarios notice? Change what interprets definitions in thousands of ways, and see what nobody minds.

    python -m tests.mutation                      everything
    python -m tests.mutation execution/lane       files whose path has this in it
    python -m tests.mutation --again              only what was neither killed nor explained the last time
    python -m tests.mutation --sample 500         as many of all of them, drawn at random

It ends with 1 if a mutant survives that `explained.yaml` does not explain, or if an explanation there is out of date.
"""

import argparse
import hashlib
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.mutation.choosing import file_of, place_of, trials_for
from tests.mutation.explained import Explanation, explanations
from tests.mutation.mutant import PACKAGES, ROOT, Mutant
from tests.mutation.mutants import KEPT, files, install, mutate
from tests.mutation.trials import (
    CORPUS,
    NOT_HERE,
    UNIT_TESTS,
    Baseline,
    Bench,
    Fate,
    Kind,
    Trial,
    in_processes,
    test_files,
)
from tests.mutation.typecheck import refused

_MAX_KILLERS = 8
_SECONDS, _SECONDS_AT_FIRST = 20.0, 1.5
"""How much processor time trials of each kind take: most mutants are killed by a few, of one kind or another."""


@dataclass(frozen=True, slots=True)
class Tried:
    """A mutant, and what became of it."""

    mutant: Mutant
    fate: Fate
    by: str
    covered: bool
    """Whether anything comes by its function at all."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    started = time.monotonic()
    chosen = [file for file in files() if not options.files or any(part in str(file) for part in options.files)]
    if not chosen:
        print(f"no file that is mutated has {' or '.join(options.files)} in its path", file=sys.stderr)
        return 2
    KEPT.mkdir(exist_ok=True)
    measured = _measured(options.jobs)
    mutated = [mutate(file) for file in chosen]
    install(mutated)
    only = _left_over() if options.again else None
    mutants = [one for file in mutated for one in file.mutants if only is None or one.key in only]
    if options.sample is not None and options.sample < len(mutants):
        print(f"drawing {options.sample} of {len(mutants)} mutants, by the seed {options.seed}")
        drawn = random.Random(options.seed).sample(range(len(mutants)), options.sample)  # noqa: S311 - no secret
        mutants = [mutants[index] for index in sorted(drawn)]
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(mutated, Path(scratch))
        bench.collect()
        print("looking which mutants the type checker refuses …", flush=True)
        typed = refused(mutated, mutants, Path(scratch) / "types")
        untyped = [one for one in mutants if one.name not in typed]
        reasons = explanations()
        expected = {one.name for one in untyped if any(reason.fits(one) for reason in reasons)}
        tried = _try_all(bench, untyped, expected, measured, options, Path(scratch))
        tried += [Tried(one, Fate.REFUSED, "mypy", covered=True) for one in mutants if one.name in typed]
    _keep_results(tried, keep_others=bool(options.files or options.again or options.sample))
    some = options.again or options.sample is not None
    code = _report(tried, reasons, {str(one.relative_to(ROOT)) for one in chosen}, some=some)
    print(f"{time.monotonic() - started:.0f} s")
    return code


def _measured(jobs: int) -> Baseline:
    """Return what comes by where, measuring in processes of their own what is not known yet."""
    known, whole = _kept_baseline()
    if not whole:
        print("running scenarios and tests without mutants, to see what comes by where …", flush=True)
        in_processes([partial(_measure, known, part, jobs) for part in range(jobs)])
        _join_baselines(jobs)
        known, _ = _kept_baseline()
    return known


def _measure(known: Baseline, part: int, parts: int) -> None:
    measured = Bench([], KEPT).baseline(known, part, parts)
    trials = [[one.kind, one.name, one.seconds, one.passes] for one in measured]
    (KEPT / f"baseline-{part}.json").write_text(json.dumps(trials), encoding="utf-8")


def _join_baselines(parts: int) -> None:
    written = [KEPT / f"baseline-{part}.json" for part in range(parts)]
    trials = [one for file in written for one in json.loads(file.read_text(encoding="utf-8"))]
    summed = {name: _summed(name) for name in _trial_files()}
    whole = json.dumps({"code": _code(), "files": summed, "trials": trials})
    (KEPT / "baseline.json").write_text(whole, encoding="utf-8")
    for file in written:
        file.unlink()


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("files", nargs="*", help="parts of paths; without any, everything")
    parser.add_argument("--again", action="store_true", help="try only what survived the last time")
    parser.add_argument("--sample", type=int, help="how many are tried, drawn at random; without it, all")
    parser.add_argument("--seed", type=int, default=0, help="of the sample: the same seed draws the same mutants")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many mutants are tried at a time")
    parser.add_argument(
        "--seconds",
        type=float,
        default=_SECONDS,
        help="how much processor time trials of each kind may take by themselves",
    )
    return parser.parse_args(arguments)


def _try_all(
    bench: Bench,
    mutants: Sequence[Mutant],
    expected: Collection[str],
    measured: Baseline,
    options: argparse.Namespace,
    scratch: Path,
) -> list[Tried]:
    """Try *mutants*, several at a time; return what became of them, in their order.

    Those that are *expected* to survive, because an explanation says so, are tried with what is tried first alone.
    """

    def work(number: int) -> None:
        inside = scratch / str(number)
        inside.mkdir()
        killers: defaultdict[str, deque[str]] = defaultdict(lambda: deque(maxlen=_MAX_KILLERS))
        with (inside / "fates").open("w", encoding="utf-8") as fates:
            for index in range(number, len(mutants), options.jobs):
                mutant = mutants[index]
                known = killers[f"{mutant.file}:{mutant.function}"]
                turns = [min(_SECONDS_AT_FIRST, options.seconds)]
                turns += [] if mutant.name in expected else [options.seconds]
                fate, by, covered = _try(bench.within(inside), mutant, measured, known, turns)
                fates.write(json.dumps([index, fate, by, covered]) + "\n")
                fates.flush()
                if fate is Fate.SURVIVED and mutant.name not in expected:
                    print(f"survived: {mutant}", flush=True)  # whoever waits for the end may begin with these
                done = index + 1
                if done % 50 == 0:
                    print(f"{done} of {len(mutants)}: {mutant.file}", flush=True)

    in_processes([partial(work, number) for number in range(options.jobs)])
    lines = [
        line for number in range(options.jobs) for line in (scratch / str(number) / "fates").read_text().splitlines()
    ]
    found = sorted(map(json.loads, lines))
    return [Tried(mutants[index], Fate(fate), by, covered) for index, fate, by, covered in found]


def _try(
    bench: Bench, mutant: Mutant, measured: Baseline, killers: deque[str], turns: Sequence[float]
) -> tuple[Fate, str, bool]:
    """Try *mutant* with all kinds of trials in each of *turns*, which say how long a kind may take in all."""
    place = place_of(mutant, measured)
    done: set[tuple[Kind, str]] = set()
    for seconds in turns:
        for kind in Kind:
            function = mutant.lines if place[0] == mutant.file else (0, 0)
            chosen = trials_for(place, kind, measured, killers, seconds, function, mutant.file)
            trials = [trial for trial in chosen if (kind, trial.name) not in done]
            done.update((kind, trial.name) for trial in trials)
            fate, by = bench.fate(mutant, trials)
            if fate is not Fate.SURVIVED:
                if by in killers:
                    killers.remove(by)
                if fate is Fate.KILLED:  # what took too long with this one would take too long with the next
                    killers.appendleft(by)
                return fate, by, True
    return Fate.SURVIVED, "", bool(done)


def _report(tried: Sequence[Tried], explained: Sequence[Explanation], chosen: set[str], *, some: bool) -> int:
    counted = Counter(one.fate for one in tried)
    survived = [one for one in tried if one.fate is Fate.SURVIVED]
    why = {one.mutant: next((reason for reason in explained if reason.fits(one.mutant)), None) for one in survived}
    unexplained = [one for one in survived if why[one.mutant] is None]
    used = set(why.values())
    stale = [] if some else [one for one in explained if one.file in chosen and one not in used]
    for one in unexplained:
        print(one.mutant if one.covered else f"{one.mutant}\n    nothing comes by here")
    for reason in stale:
        print(f"explained, but nothing survives there: {reason}")
    print(
        f"{len(tried)} mutants: {counted[Fate.REFUSED]} refused by the type checker, {counted[Fate.KILLED]} killed, "
        f"{counted[Fate.TIMED_OUT]} timed out, {len(survived)} survived, "
        f"of which {len(survived) - len(unexplained)} are explained and {len(unexplained)} are not"
    )
    kinds = Counter(reason.kind for reason in why.values() if reason)
    if kinds:
        print("explained as: " + ", ".join(f"{times} {kind}" for kind, times in kinds.most_common()))
    return int(bool(unexplained or stale))


def _kept_baseline() -> tuple[Baseline, bool]:
    """Return what is known of trials that have not changed since, and whether that is all."""
    file = KEPT / "baseline.json"
    if not file.is_file():
        return [], False
    kept = json.loads(file.read_text(encoding="utf-8"))
    if kept["code"] != _code():
        return [], False
    same = {name for name, summed in kept["files"].items() if _summed(name) == summed}
    trials = [Trial(Kind(kind), name, seconds, passes) for kind, name, seconds, passes in kept["trials"]]
    return [one for one in trials if file_of(one) in same], same == set(kept["files"]) == _trial_files()


def _trial_files() -> set[str]:
    scenarios = {str(file.relative_to(ROOT)) for file in CORPUS.rglob("*.yaml")}
    return scenarios | set(test_files())


def _code() -> str:
    """Return what changes when the code does, or what of it is measured and with which tests."""
    return " ".join([_summed("swf_temporal"), *PACKAGES, *UNIT_TESTS, *NOT_HERE])


def _summed(name: str) -> str:
    """Return what changes when a file, or one in a folder, does."""
    path = ROOT / name
    summed = hashlib.sha256()
    for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
        if file.is_file():
            summed.update(str(file.relative_to(ROOT)).encode() + file.read_bytes())
    return summed.hexdigest()


def _left_over() -> set[str]:
    return set(json.loads((KEPT / "survivors.json").read_text(encoding="utf-8")))


def _keep_results(tried: Sequence[Tried], *, keep_others: bool) -> None:
    file = KEPT / "survivors.json"
    known = set(json.loads(file.read_text(encoding="utf-8"))) if keep_others and file.is_file() else set()
    for one in tried:
        (known.add if one.fate is Fate.SURVIVED else known.discard)(one.mutant.key)
    file.write_text(json.dumps(sorted(known), indent=1), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
