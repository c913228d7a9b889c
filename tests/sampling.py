"""What does a run of the tests try, of what is too much for each? A sample by the run's seed, or all of it.

pytest's header tells the seed, and `--seed` repeats it; `--all` tries everything. `tests/conftest.py` has the options.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

_One = TypeVar("_One")
_MAX_SEED = 1 << 20


@dataclass
class _Run:
    seed: int = 0
    is_whole: bool = False


_RUN = _Run()


def configure(seed: int, *, is_whole: bool) -> None:
    """Set the seed of this run, and whether it tries everything."""
    _RUN.seed, _RUN.is_whole = seed, is_whole


def chance(what: str) -> Random:
    """Return what draws for *what*: the same in each process of this run, whatever is drawn for other things."""
    return Random(f"{_RUN.seed} {what}")  # noqa: S311 - no secret


def count(few: int, many: int) -> int:
    return many if _RUN.is_whole else few


def sample(of: Sequence[_One], what: str, few: int, many: int = sys.maxsize) -> list[_One]:
    number = min(count(few, many), len(of))
    return [of[index] for index in sorted(chance(what).sample(range(len(of)), number))]


def seeds(what: str, few: int, many: int) -> range:
    """Return as many seeds for what is generated, from one on that is drawn for *what*."""
    first = chance(what).randrange(_MAX_SEED)
    return range(first, first + count(few, many))
