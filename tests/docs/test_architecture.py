"""The page on architecture names what is there, and the table of CONTRIBUTING.md every file that lists a kind."""

import re
from collections.abc import Callable
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

import swf_temporal
from swf_temporal.base.function_types import TYPES
from swf_temporal.cli.lazy import COMMANDS
from swf_temporal.events.brokers.families import WIRES
from swf_temporal.languages.port import Language
from swf_temporal.languages.serverless_workflow.model.states import STATE_TYPES
from swf_temporal.languages.serverless_workflow.reading.versions import VERSIONS
from swf_temporal.runtime.host import Host, TraceKind
from swf_temporal.settings.calls import Options
from swf_temporal.settings.worker import WorkerSettings

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PACKAGE = ROOT / "swf_temporal"
LANGUAGE = "languages/serverless_workflow/"
RULES = PACKAGE / LANGUAGE / "validation" / "rules"

_STEP = re.compile(r"^(\d+)\. `([\w/.]+\.py)` `(\w+)`", re.MULTILINE)
_CODE = re.compile(r"`([^`]+)`")
_MAX_STEPS = 25


def _section(page: str, heading: str) -> str:
    begin = page.index(f"## {heading}\n")
    end = page.find("\n## ", begin)
    return page[begin : end if end > 0 else len(page)]


def test_a_newcomer_can_read_it() -> None:
    assert len(PAGE.split()) <= 2200
    assert len(CONTRIBUTING.split()) <= 4000


def test_a_row_of_the_table_names_little() -> None:
    section = _section(CONTRIBUTING, "Where does my change go?")
    assert {kind: len(paths) for kind, paths in _rows().items() if len(set(paths)) > 4} == {}
    assert [line for line in section.splitlines() if line.startswith("| ") and len(line.split()) > 60] == []


@pytest.mark.parametrize("heading", ["The life of a call", "The life of an event"])
def test_a_walk_names_what_is_there(heading: str) -> None:
    """Each step names a function or a class of a file, and there are no more than one can keep in mind."""
    section = _section(PAGE, heading)
    steps = _STEP.findall(section)
    assert [int(number) for number, _, _ in steps] == list(range(1, len(steps) + 1))
    assert len(re.findall(r"^\d+\. ", section, re.MULTILINE)) == len(steps) <= _MAX_STEPS
    for _, file, name in steps:
        path = PACKAGE / re.sub(r"^execution/", f"{LANGUAGE}execution/", file)
        assert re.search(rf"(def|class) {name}\b", path.read_text(encoding="utf-8")), f"{file} has no {name}"


def _rows() -> dict[str, list[str]]:
    rows = {}
    for line in _section(CONTRIBUTING, "Where does my change go?").splitlines():
        cells = line.split(" | ")
        if len(cells) == 2 and not line.startswith(("| to add", "|---")):
            rows[cells[0].removeprefix("| ")] = [
                code for code in _CODE.findall(cells[1]) if "/" in code or code.endswith((".py", ".toml"))
            ]
    return rows


def _is_path(code: str) -> bool:
    return "/" in code or code.endswith((".py", ".toml"))


def test_the_table_names_what_is_there() -> None:
    for kind, paths in _rows().items():
        for path in paths:
            assert (ROOT / path).exists(), f"{kind}: {path}"


def _rules() -> list[str]:
    return sorted(file.stem for file in RULES.glob("*.py") if file.stem != "__init__")


def _codes() -> list[str]:
    texts = [file.read_text(encoding="utf-8") for file in RULES.glob("*.py")]
    return sorted({code for text in texts for code in re.findall(r'context\.(?:error|warning)\(\s*"([a-z-]+)"', text)})


def _members(port: type) -> list[str]:
    return [name for name in vars(port) if not name.startswith("_")]


KINDS: dict[str, list[Callable[[], list[str]]]] = {
    "a rule": [_rules, _codes],
    "a function type of the package": [lambda: sorted(TYPES)],
    "a kind of broker, for AsyncAPI documents and sinks": [lambda: sorted(WIRES)],
    "something that the outside must do": [lambda: _members(Host)],
    "a language version with a number, such as an earlier 0.x": [lambda: [one.name for one in VERSIONS]],
    "a language": [lambda: _members(Language)],
    "a command": [lambda: sorted(COMMANDS)],
    "a state type": [lambda: list(STATE_TYPES)],
    "an entry of the trace, or a detail of one": [lambda: [str(kind) for kind in TraceKind]],
    "a setting": [lambda: [setting.variable.name or "" for setting in Options.settings() if setting.variable],
                  lambda: list(WorkerSettings.model_fields),
                  lambda: [setting.key for setting in WorkerSettings.settings()]],
    "a public name of the package": [lambda: swf_temporal.__all__],
}  # fmt: skip
"""For some rows of the table: the names of all that there is of that kind."""

IN_PASSING = (
    "swf_temporal/languages/*/drafts/*", "CHANGELOG.md", "docs/conformance.md", "docs/architecture.md",
    "CONTRIBUTING.md",
)  # fmt: skip
"""What happens to mention all of a kind, and asks for nothing."""


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_lists_all_of_a_kind_is_named(kind: str) -> None:
    """A file or page that lists all that there is of a kind has to be touched for one more, and so the row names it."""
    named = _rows()[kind]
    for names in (make() for make in KINDS[kind]):
        assert len(names) > 3
        listing = [file for file in _files() if _lists(file, names)]
        missing = [str(file.relative_to(ROOT)) for file in listing if not _is_named(file, named)]
        assert missing == [], f"to add {kind} one has to touch these, too"


@cache
def _files() -> list[Path]:
    folders = [PACKAGE, ROOT / "docs"]
    files = [file for folder in folders for ending in ("*.py", "*.md", "*.yaml") for file in folder.rglob(ending)]
    return [file for file in files if not any(fnmatch(str(file.relative_to(ROOT)), one) for one in IN_PASSING)]


def _lists(file: Path, names: list[str]) -> bool:
    text = _text_of(file)
    return all(name in text and re.search(_pattern(name), text) for name in names)


@cache
def _text_of(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _pattern(name: str) -> str:
    """Return what finds *name*: an everyday word only where it is quoted."""
    quoted = rf"""["'`]{re.escape(name)}["'`]"""
    return quoted if name.isalpha() else rf"{quoted}|(?<![\w-]){re.escape(name)}(?![\w-])"


def _is_named(file: Path, paths: list[str]) -> bool:
    path = str(file.relative_to(ROOT))
    return any(path == one or path.startswith(one.rstrip("/") + "/") for one in paths)
