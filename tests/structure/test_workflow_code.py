"""What differs on replay is banned in every module that workflow code can reach, whoever imports it."""

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
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


def test_the_ban_holds_wherever_workflow_code_is(reached: set[str], tmp_path: Path) -> None:
    """Ruff finds a clock in each such module, if there is one, but for those that have a reason."""
    files = {tmp_path / _file(name).relative_to(ROOT): name for name in reached}
    banned = _breaching(tmp_path, dict.fromkeys(files, "import time\n\ntime.time()\n"))
    assert {name for file, name in files.items() if file not in banned and _reason_of(name) is None} == set()


def test_each_reason_is_needed(reached: set[str], tmp_path: Path) -> None:
    """What each module has would be found where the ban holds."""
    files = {tmp_path / "swf_temporal" / "base" / f"{name}.py": name for name in reached}
    texts = {file: _file(name).read_text(encoding="utf-8") for file, name in files.items()}
    needed = {_reason_of(files[file]) for file in _breaching(tmp_path, texts, "--ignore-noqa")}
    assert needed - {None} == set(REACHED)


def _reason_of(module: str) -> str | None:
    return next((name for name in REACHED if module == name or module.startswith(f"{name}.")), None)


def _breaching(folder: Path, texts: Mapping[Path, str], *options: str) -> set[Path]:
    """Return the files of *folder* in which ruff, as the project has it set, finds what is banned."""
    shutil.copy(ROOT / "pyproject.toml", folder)
    for file, text in texts.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--select", "TID251", "--output-format", "json"]
    found = subprocess.run([*command, *options, folder], cwd=folder, capture_output=True, text=True, check=False)
    return {Path(breach["filename"]) for breach in json.loads(found.stdout)}


def _file(module: str) -> Path:
    path = ROOT.joinpath(*module.split("."))
    package = path / "__init__.py"  # not any folder: that of a package which became a module may be left of a checkout
    return package if package.is_file() else path.with_suffix(".py")
