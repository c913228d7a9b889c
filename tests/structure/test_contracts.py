"""What holds of the package as a whole."""

import ast
import inspect
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import swf_temporal
from tests.docs import api_page

ROOT = Path(__file__).parents[2]
LANGUAGE = "swf_temporal.languages.serverless_workflow"

BREACHES = {
    "Floors: ": ("runtime/inbox.py", "from swf_temporal.languages.loading import load"),
    "Base: ": ("base/grammar.py", "from swf_temporal.base.data import JSON"),
    "Expressions: ": ("expressions/patterns.py", "from swf_temporal.expressions.jq import Jq"),
    "Text: ": ("text/origin.py", "from swf_temporal.text.fetching import resources"),
    "Events: ": ("events/brokers/port.py", "from swf_temporal.events import channels"),
    "Languages: ": ("languages/port.py", "from swf_temporal.languages import loading"),
    "Functions know no language": ("functions/urls.py", "from swf_temporal.languages import port"),
    "What programs import, and what is done to instances": ("operations/instances.py",
                                                            "from swf_temporal.operations import rerunning"),
    "Functions: ": ("functions/http/client.py", "from swf_temporal.functions.graphql import graphql"),
    "A language is seen through its port alone": ("simulation/reading.py", f"from {LANGUAGE}.model import node"),
    "Direktiv is seen through its port alone": ("simulation/checking.py",
                                                "from swf_temporal.languages.direktiv.model import node"),
    "Direktiv: ": ("languages/direktiv/model.py",
                   "from swf_temporal.languages.direktiv.execution import execution"),
    "DSL 1.0 is seen through its port alone": ("simulation/reading.py",
                                               "from swf_temporal.languages.dsl.model import node"),
    "DSL 1.0: ": ("languages/dsl/model/node.py", "from swf_temporal.languages.dsl.execution import program"),
    "Serverless Workflow: ": ("languages/serverless_workflow/model/node.py",
                              f"from {LANGUAGE}.execution import execution"),
    "One reader of YAML": ("functions/urls.py", "import yaml"),
    "One reader and writer of JSON": ("functions/urls.py", "from json import loads"),
    "Only the temporal layer": ("runtime/joining.py", "import temporalio"),
    "Only commands parse arguments and print": ("sdk/health.py", "import typer"),
}  # fmt: skip
"""For the beginning of each contract's name: a module, and an import there that breaks it."""


def _contracts() -> list[str]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return [contract["name"] for contract in settings["tool"]["importlinter"]["contracts"]]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What import-linter says of a copy of the package in which every contract is broken."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "swf_temporal", folder / "swf_temporal", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    for module, statement in BREACHES.values():
        file = folder / "swf_temporal" / module
        file.write_text(f"{file.read_text(encoding='utf-8')}\n{statement}\n", encoding="utf-8")
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    found = subprocess.run(
        [*command, "--no-cache"], cwd=folder, env={**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "400"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return re.sub(r"\s+", " ", found.stdout + found.stderr)


def test_each_contract_has_a_breach() -> None:
    names = _contracts()
    assert len(names) == len(BREACHES)
    assert all(sum(name.startswith(beginning) for name in names) == 1 for beginning in BREACHES)


@pytest.mark.parametrize("name", _contracts())
def test_a_contract_fails_when_broken(told: str, name: str) -> None:
    assert f"{name} BROKEN" in told, told


PUBLIC = {name: getattr(swf_temporal, name) for name in api_page.PUBLIC if name not in ("JSON", "HostPattern")}


def without_docstring(thing: object) -> Iterator[str]:
    """Yield the names of *thing* and of its public methods and properties that have no docstring of their own."""
    if not inspect.getdoc(thing):
        yield ""
    if inspect.isclass(thing) and thing.__module__.startswith("swf_temporal."):
        for name, member in vars(thing).items():
            described = inspect.isroutine(member) or isinstance(member, (property, staticmethod, classmethod))
            if described and not name.startswith("_") and not inspect.getdoc(getattr(thing, name)):
                yield name


@pytest.mark.parametrize("name", PUBLIC)
def test_what_is_public_has_a_docstring(name: str) -> None:
    assert list(without_docstring(PUBLIC[name])) == []


SUPPRESSIONS_ROOT = Path(__file__).parents[2]
FOLDERS = ("swf_temporal", "release", "bench", "examples")

_SUPPRESSED = re.compile(r"#\s*(?:noqa\b|type:\s*ignore\b)")
_WITH_REASON = re.compile(
    r"#\s*(?:type: ignore\[[a-z-]+(?:,\s*[a-z-]+)*\]\s+# (?:noqa: [A-Z]+\d+ - )?\S"
    r"|noqa: [A-Z]+\d+(?:, ?[A-Z]+\d+)* - \S)"
)


def test_a_suppression_has_a_reason() -> None:
    """It names what it suppresses, too; that it is needed at all is checked by ruff and mypy."""
    files = [file for folder in FOLDERS for file in sorted((SUPPRESSIONS_ROOT / folder).rglob("*.py"))]
    lines = [(file, number, line) for file in files for number, line in enumerate(_lines(file), 1)]
    found = [(file, number, line) for file, number, line in lines if _SUPPRESSED.search(line)]
    assert len(found) > 100
    bare = [f"{file.relative_to(ROOT)}:{number}" for file, number, line in found if not _WITH_REASON.search(line)]
    assert bare == []


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines()


PACKAGE = Path(swf_temporal.__file__).parent
OF_INSTANCES = {"TemporalHost.sleep"}
"""What sets the timers of instances: what a definition says sleeps, waits or is limited by it."""
OF_OTHERS = {
    "DelayedEvent.run", "EventMailbox._begin_next", "EventMailbox._hand_over", "InstanceSignals._wait_for_room",
    "Places._look", "_end_of", "_pause",
}  # fmt: skip
"""What sets those of workflows that run no definition."""


def test_an_instance_has_no_timer_of_its_own() -> None:
    found = set[str]()
    for file in (PACKAGE / "temporal").rglob("*.py"):
        for part in ast.parse(file.read_text(encoding="utf-8")).body:
            functions = part.body if isinstance(part, ast.ClassDef) else [part]
            for function in functions:
                if isinstance(function, ast.AsyncFunctionDef) and "workflow.sleep(" in ast.unparse(function):
                    found.add(f"{part.name}.{function.name}" if isinstance(part, ast.ClassDef) else function.name)
    assert found == OF_INSTANCES | OF_OTHERS
