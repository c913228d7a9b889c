"""Which mutants does the type checker refuse? `make check` would, before any test runs.

mypy looks at all mutants at once: every file stands in a copy of the project with each mutant of a function behind that
function, under a name of its own. Errors are told by line, and so by mutant.
"""

import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from tests.mutation.mutant import ROOT, Mutant
from tests.mutation.mutants import KEPT, MutatedFile

_ERROR: Final = re.compile(r"^(?P<file>[^:]+):(?P<line>\d+): error: .*\[(?P<code>[a-z-]+)\]$")
_OURS: Final = frozenset({"redundant-expr"})
"""What mypy says of a condition that is forced: that is how we write it, and no fault of the mutant."""
_AT_ONCE: Final = 1500
"""How many mutants stand in one copy of the project: more take memory, fewer take time."""


def refused(mutated: Sequence[MutatedFile], mutants: Iterable[Mutant], scratch: Path) -> set[str]:
    """Return the names of those *mutants* that mypy refuses. *scratch* is an empty folder for copies of the project."""
    wanted = list(mutants)
    found: set[str] = set()
    for number, first in enumerate(range(0, len(wanted), _AT_ONCE)):
        part = wanted[first : first + _AT_ONCE]
        folder = scratch / str(number)
        places = {
            one.path: _written(one, [m for m in part if m.file == str(one.path.relative_to(ROOT))]) for one in mutated
        }
        _copy(folder, {path: text for path, (text, owners) in places.items() if owners})
        owners = {(str(path.relative_to(ROOT)), line): name for path, (_, of) in places.items() for line, name in of}
        found |= {owners[place] for place in _errors(folder) if place in owners}
    return found


def _written(file: MutatedFile, mutants: Sequence[Mutant]) -> tuple[str, list[tuple[int, str]]]:
    """Return *file* with all *mutants* in it, and which line belongs to which of them."""
    source = file.path.read_text(encoding="utf-8").split("\n")
    behind: dict[int, list[Mutant]] = {}
    for mutant in mutants:
        behind.setdefault(mutant.lines[1], []).append(mutant)
    lines: list[str] = []
    owners: list[tuple[int, str]] = []
    for number, line in enumerate(source, start=1):
        lines.append(line)
        for index, mutant in enumerate(behind.get(number, ())):
            lines.append("")
            for text in _renamed(file.text_of(mutant), f"mutant_{number}_{index}"):
                lines.append(text)
                owners.append((len(lines), mutant.name))
    return "\n".join(lines), owners


def _renamed(function: Sequence[str], name: str) -> list[str]:
    """Return the lines of a function under another name."""
    return [re.sub(r"\bdef \w+\(", f"def {name}(", function[0], count=1), *function[1:]]


def _copy(folder: Path, texts: dict[Path, str]) -> None:
    """Make a copy of the package in *folder* in which some files have other *texts*."""
    for file in (ROOT / "swf_temporal").rglob("*.py"):
        copied = folder / file.relative_to(ROOT)
        copied.parent.mkdir(parents=True, exist_ok=True)
        copied.write_text(texts.get(file) or file.read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text(encoding="utf-8"), encoding="utf-8")


def _errors(folder: Path) -> set[tuple[str, int]]:
    """Return the files and lines at which mypy finds errors."""
    cache = f"--cache-dir={KEPT / 'types'}"  # it goes by names inside the folder, and by what the files hold
    command = [sys.executable, "-m", "mypy", "swf_temporal", "--no-error-summary", "--hide-error-context", cache]
    told = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if told.returncode not in (0, 1):
        raise RuntimeError(f"mypy could not look at the mutants: {told.stdout[-2000:]}{told.stderr[-2000:]}")
    matches = map(_ERROR.match, told.stdout.splitlines())
    return {
        (match["file"], int(match["line"])) for match in matches if match is not None and match["code"] not in _OURS
    }
