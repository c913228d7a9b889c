"""`python -m bench`: the work interpreted and written by hand, side by side."""

import argparse
import asyncio
import json
from statistics import median

from bench.before import Change, compare_with
from bench.compare import Comparison, compare
from bench.work import WORK
from bench.worker import CONTENDERS

_MEASURES = {"cpu": "worker CPU", "wall": "wall"}


def main() -> None:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="how often everything is measured at most")
    parser.add_argument("--minutes", type=float, default=6, help="after which fewer rounds are measured (default: 6)")
    parser.add_argument("--only", choices=[work.name for work in WORK], action="append", help="only this work")
    parser.add_argument("--json", action="store_true", help="print what was measured, in seconds, as JSON")
    parser.add_argument("--before", metavar="REVISION", help="compare with what this revision of git measures")
    given = parser.parse_args()
    works = [work for work in WORK if given.only is None or work.name in given.only]
    if given.before:
        changes = compare_with(given.before, [work.name for work in works], given.rounds, 60 * given.minutes)
        for measure, title in _MEASURES.items():
            print(_changes(changes, measure, title), "\n")
        return
    comparisons = asyncio.run(compare(works, given.rounds, 60 * given.minutes))
    if given.json:
        print(json.dumps([comparison.to_json() for comparison in comparisons], indent=2))
        return
    for measure, title in _MEASURES.items():
        print(_ratios(comparisons, measure, title), "\n")
    for measure, title in _MEASURES.items():
        print(_absolute(comparisons, measure, title), "\n")


def _ratios(comparisons: list[Comparison], measure: str, title: str) -> str:
    rivals = CONTENDERS[1:]
    head = f"| {title}, interpreted : by hand | {' | '.join(f': {rival}' for rival in rivals)} |"
    return _table(
        head,
        [[one.work.title, *(_spread(one.ratios(measure, rival)) for rival in rivals)] for one in comparisons],
    )


def _absolute(comparisons: list[Comparison], measure: str, title: str) -> str:
    head = f"| {title} per workflow, ms | {' | '.join(CONTENDERS)} |"
    return _table(
        head,
        [[one.work.title, *(f"{one.typical(measure, name):.1f}" for name in CONTENDERS)] for one in comparisons],
    )


def _changes(changes: list[Change], measure: str, title: str) -> str:
    head = f"| {title}, interpreted : by hand | before | after | after : before |"
    rows = []
    for one in changes:
        figures = one.typical("before", measure), one.typical("after", measure), one.ratio(measure)
        rows.append([one.work, *(f"{figure:.2f}" for figure in figures)])
    return _table(head, rows)


def _table(head: str, rows: list[list[str]]) -> str:
    lines = [head, "|---" * (head.count("|") - 1) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def _spread(ratios: list[float]) -> str:
    return f"{median(ratios):.2f} ({ratios[0]:.2f}-{ratios[-1]:.2f})"


if __name__ == "__main__":
    main()
