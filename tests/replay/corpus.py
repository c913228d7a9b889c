"""What releases have recorded: a file for each, with the histories of executions and what was written of a schedule."""

import json
import lzma
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.upgrades.chains import Execution

FOLDER = Path(__file__).parent / "releases"


@dataclass(frozen=True, slots=True)
class Recorded:
    source: str
    """Where it comes from: `scenario FILE NUMBER`, `case ID`, or `test NAME`."""
    features: tuple[str, ...]
    """What its definition shows: see `features.py`."""
    execution: Execution

    @property
    def is_virtual(self) -> bool:
        return self.source.startswith("scenario")


@dataclass(frozen=True, slots=True)
class Corpus:
    executions: Sequence[Recorded]
    schedule: dict[str, Any]
    """What it wrote of the schedule in `tests/upgrades/schedule.py`."""

    def of_case(self, case: str) -> list[Execution]:
        return [one.execution for one in self.executions if one.source == f"case {case}"]


def releases() -> list[str]:
    return sorted(file.name.removesuffix(".json.xz") for file in FOLDER.glob("*.json.xz"))


@cache
def read(release: str) -> Corpus:
    kept = json.loads(lzma.decompress(path_of(release).read_bytes()))
    executions = [
        Recorded(one["source"], tuple(one["features"]), Execution(**one["execution"])) for one in kept["executions"]
    ]
    return Corpus(executions, kept["schedule"])


def write(release: str, corpus: Corpus) -> None:
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(asdict(corpus), separators=(",", ":"))
    path_of(release).write_bytes(lzma.compress(text.encode()))


def path_of(release: str) -> Path:
    return FOLDER / f"{release}.json.xz"
