"""What differs on replay is banned in every module that workflow code can reach, whoever imports it."""

import json
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]

REACHED = {
    "swf_temporal.text.fetching": "documents are fetched when a definition is loaded; a pinned one has them",
    "swf_temporal.base.files": "the same of files",
    "swf_temporal.expressions.guarding": "helper processes: that one takes too long fails a run, and decides nothing",
    "swf_temporal.languages.loading": "reads definitions for clients and workers; workflows load what they are given",
    "swf_temporal.temporal.payloads": "what it does to payloads, workflow code does not see",
}
"""The modules that workflow code reaches and that may ask the machine, with all below them, and why."""


@pytest.fixture(scope="module")
def reached() -> set[str]:
    """Every module of the package that is imported, directly or not, where workflows are defined."""
    graph = grimp.build_graph("swf_temporal", exclude_type_checking_imports=True)
    defining = {name for name in graph.modules if "@workflow.defn" in _file(name).read_text(encoding="utf-8")}
    assert len(defining) >= 5
    # The package's own module names all that is public, and imports it when it is asked for.
    return defining.union(*(graph.find_upstream_modules(name) for name in defining)) - {"swf_temporal"}


def test_the_ban_holds_wherever_workflow_code_is(reached: set[str]) -> None:
    """Ruff finds a clock in each such module, if there is one, but for those that have a reason."""
    free = {name for name in reached if not _is_banned_in(name)}
    assert {name for name in free if _reason_of(name) is None} == set()


def test_each_reason_is_needed(reached: set[str]) -> None:
    needed = {_reason_of(name) for name in reached if _breaches(_file(name))}
    assert needed - {None} == set(REACHED)


def _reason_of(module: str) -> str | None:
    return next((name for name in REACHED if module == name or module.startswith(f"{name}.")), None)


def _is_banned_in(module: str) -> bool:
    """Tell whether ruff says something, as the project has it set, of a clock in *module*."""
    return bool(_ruff("--stdin-filename", str(_file(module)), "-", text="import time\n\ntime.time()\n"))


def _breaches(file: Path) -> list[object]:
    return _ruff(
        "--ignore-noqa", "--stdin-filename", "swf_temporal/base/data.py", "-", text=file.read_text(encoding="utf-8")
    )


def _ruff(*arguments: str, text: str) -> list[object]:
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--select", "TID251", "--output-format", "json"]
    found = subprocess.run([*command, *arguments], cwd=ROOT, input=text, capture_output=True, text=True, check=False)
    said: list[object] = json.loads(found.stdout)
    return said


def _file(module: str) -> Path:
    path = ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
