"""The table of what to run in CONTRIBUTING.md names every package and all tests, and its commands run them."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SECTION = (
    (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Running tests\n")[2].partition("\n## ")[0]
)
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
ROWS = [
    [re.findall(r"`([^`]+)`", cell) for cell in row.split(" | ")]
    for row in re.findall(r"^\| (.+) \|$", SECTION, re.MULTILINE)[1:]
]
"""For each area its packages, its tests and its commands."""


def _folders(parent: str) -> set[Path]:
    """Return the folders that hold files, and not only what is left of some that were moved."""
    return {
        folder
        for folder in (ROOT / parent).iterdir()
        if any(file.suffix in {".py", ".yaml"} for file in folder.rglob("*"))
    }


def _there(patterns: list[str]) -> set[Path]:
    for pattern in patterns:
        assert list(ROOT.glob(pattern)), pattern
    return {path for pattern in patterns for path in ROOT.glob(pattern)}


def test_every_package_has_an_area() -> None:
    named = [package for packages, _, _ in ROWS for package in packages if not package.startswith("swf ")]
    modules = {file for file in (ROOT / "swf_temporal").glob("*.py") if file.stem != "__init__"}
    assert sorted(named) == sorted(part.stem for part in _folders("swf_temporal") | modules)


def test_all_tests_belong_to_an_area() -> None:
    named = _there([tests for _, all_, _ in ROWS for tests in all_])
    assert named == _folders("tests") | {*(ROOT / "tests").glob("test_*.py")}


@pytest.mark.parametrize(("tests", "commands"), [row[1:] for row in ROWS], ids=[" ".join(row[1]) for row in ROWS])
def test_the_commands_run_the_tests(tests: list[str], commands: list[str]) -> None:
    words = [command.split() for command in commands]
    given = [path for command in words if command[0] == "pytest" for path in command[1:]]
    assert _there(given) == {path for path in _there(tests) if path.suffix == ".py" or list(path.rglob("test_*.py"))}
    for command in words:
        match command:
            case ["pytest", *_]:
                pass
            case ["make", target]:
                assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target
            case ["python", "-m", module, *_]:
                file = ROOT / module.replace(".", "/")
                assert (file / "__main__.py").exists() or file.with_suffix(".py").exists(), module
            case ["swf", "test", path, *_]:
                assert (ROOT / path).exists(), path
            case _:
                pytest.fail(f"nobody knows {' '.join(command)}")
