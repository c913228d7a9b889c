"""`python -m bench.importing [--before REVISION]`: what importing each public name costs.

Each name is imported by a process of its own, again and again, and nothing else is done in it. With `--before` an
earlier revision, checked out to a folder of its own, does the same in turn, so that what else the machine does hurts
both alike. What is told is the processor's time, the interpreter's own start included: the least of it, since what a
busy machine adds is not the import's, and the median of the ratios within the rounds.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import swf_temporal
from bench.revisions import ROOT, checked_out
from bench.starting import cost_of

NOTHING, PACKAGE = "nothing", "the package"
"""The rows for an interpreter that imports nothing, and one that imports the package without a name of it."""
_CODE = {NOTHING: "pass", PACKAGE: "import swf_temporal"}
Costs = dict[str, list[float]]
"""Seconds of the processor, by `before` and `after`."""


def main() -> None:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench.importing", description=__doc__.partition("\n")[0])
    parser.add_argument("--before", metavar="REVISION", help="compare with this revision of git")
    parser.add_argument("--rounds", type=int, default=5, help="how often everything is measured")
    parser.add_argument("--only", metavar="NAME", action="append", help="measure this name; may be repeated")
    parser.add_argument("--json", action="store_true", help="print what was measured, in seconds, as JSON")
    given = parser.parse_args()
    rows = given.only or [NOTHING, PACKAGE, *swf_temporal.__all__]
    if unknown := [name for name in rows if name not in (NOTHING, PACKAGE, *swf_temporal.__all__)]:
        parser.error(f"there is no public name {unknown[0]!r}")
    with ExitStack() as stack:
        trees = {"after": ROOT}
        if given.before:
            trees = {"before": stack.enter_context(checked_out(given.before)), **trees}
        measured = measure(trees, rows, given.rounds)
    print(json.dumps(measured, indent=2) if given.json else "\n".join(table(measured, tuple(trees))))


def measure(trees: Mapping[str, Path], rows: Sequence[str], rounds: int) -> dict[str, Costs]:
    """Import each of *rows* once in each tree, to have everything compiled, and then so many times in turn.

    A name that a tree does not have has no costs there.
    """
    measured: dict[str, Costs] = {row: {when: [] for when in trees} for row in rows}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(-1, rounds):
            for row, costs in measured.items():
                code = _CODE.get(row, f"from swf_temporal import {row}")
                for when, tree in trees.items():
                    if number > 0 and not costs[when]:
                        continue  # it has no such name
                    cost = cost_of(tree, ["-c", code], Path(folder), {})
                    if number >= 0 and cost.code == 0:
                        costs[when].append(cost.cpu)
    return measured


def table(measured: Mapping[str, Costs], trees: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a table of the least milliseconds, and of the ratios."""
    compares = len(trees) > 1
    head = ["CPU, ms", *trees, *(["ratio"] if compares else ())]
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    for row, costs in measured.items():
        cells = [f"{1000 * min(costs[tree]):.0f}" if costs[tree] else "" for tree in trees]
        if compares:
            ratios = [after / before for before, after in zip(costs["before"], costs["after"], strict=False)]
            cells.append(f"{median(ratios):.2f}" if ratios else "")
        yield f"| {' | '.join([row, *cells])} |"


if __name__ == "__main__":
    main()
