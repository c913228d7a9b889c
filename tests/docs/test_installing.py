"""What the README says about installing works."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.docs.pages import INSTALLING, ROOT, blocks_of
from tests.docs.reader import follow, reading

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
_ADDED = re.compile(r"pip install 'swf-temporal\[([^\]]+)\]'")
_IGNORED = shutil.ignore_patterns(".git", ".*cache", ".venv", ".hypothesis", "tests", "*.egg-info", "__pycache__")


@pytest.mark.long
@pytest.mark.timeout(900)
def test_it_installs(tmp_path: Path) -> None:
    asked = [sys.executable, "-m", "pip", "download", "--no-deps", "--retries=0", "--timeout=10", "hatchling"]
    if subprocess.run(asked, cwd=tmp_path, check=False, capture_output=True).returncode:
        pytest.skip("no package index answers")
    passed = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "http"))}
    with reading(tmp_path, passed) as reader:
        shutil.copytree(ROOT, reader.folder, ignore=_IGNORED, dirs_exist_ok=True)
        installed = 0
        for block in (block for block in blocks_of("README.md") if block.heading == INSTALLING[block.page]):
            if "python3 -m venv" in block.text:
                reader.terminal.type("command -v deactivate > /dev/null && deactivate; rm -rf .venv")
            follow(reader, [block])
            if "pip install" in block.text:
                installed += 1
                assert reader.terminal.type("swf --version")[0] == 0
                assert reader.terminal.type("command -v swf temporal")[1].count(f"{reader.folder}/.venv/bin/") == 2
        assert installed == 2


def test_extras_are_added_to_what_is_installed(tmp_path: Path) -> None:
    """What messages and pages have their reader type works where swf-temporal is installed: no index is asked for it.

    They link to what says how it is installed first, and name extras that there are.
    """
    extras = set(PROJECT["optional-dependencies"])
    texts = [*(ROOT / "swf_temporal").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
    adding = {path: _ADDED.findall(path.read_text(encoding="utf-8")) for path in texts}
    named = {extra for found in adding.values() for extras in found for extra in extras.split(",")} - {"{extra}"}
    assert named
    assert named <= extras
    pages = [path for path, found in adding.items() if found and path.suffix == ".md"]
    assert [path.name for path in pages if "README.md#install" not in path.read_text(encoding="utf-8")] == []
    wanted = f"{PROJECT['name']}[{','.join(sorted(named))}]"
    asked = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index", "--no-deps", wanted]
    done = subprocess.run(asked, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_what_installing_names_is_there() -> None:
    section = next(part for part in (ROOT / "README.md").read_text(encoding="utf-8").split("\n## ") if "pip" in part)
    assert f"Python {PROJECT['requires-python'].removeprefix('>=')} or newer" in section
    named = re.findall(r"([\w-]*|\.)\[([\w,]+)\]'", section)
    assert {name for name, _ in named} == {"", ".", PROJECT["name"]} - {""}
    assert {extra for _, extras in named for extra in extras.split(",")} <= PROJECT["optional-dependencies"].keys()
