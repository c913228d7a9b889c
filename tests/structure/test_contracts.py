"""Every contract about imports fails when it is broken."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LANGUAGE = "swf_temporal.languages.serverless_workflow"

BREACHES = {
    "Floors: ": ("runtime/inbox.py", "from swf_temporal.languages.loading import load"),
    "Base: ": ("base/grammar.py", "from swf_temporal.base.data import JSON"),
    "Expressions: ": ("expressions/patterns.py", "from swf_temporal.expressions.jq import Jq"),
    "Text: ": ("text/origin.py", "from swf_temporal.text.fetching import resources"),
    "Events: ": ("events/brokers/port.py", "from swf_temporal.events import messages"),
    "Languages: ": ("languages/port.py", "from swf_temporal.languages import loading"),
    "Functions know no language": ("functions/urls.py", "from swf_temporal.languages import port"),
    "What programs import, and what is done to instances": ("operations/instances.py",
                                                            "from swf_temporal.operations import rerunning"),
    "Functions: ": ("functions/http/client.py", "from swf_temporal.functions.graphql import graphql"),
    "A language is seen through its port alone": ("simulation/definitions.py", f"from {LANGUAGE}.model import node"),
    "Direktiv is seen through its port alone": ("simulation/checking.py",
                                                "from swf_temporal.languages.direktiv.model import node"),
    "Direktiv: ": ("languages/direktiv/model/workflow.py",
                   "from swf_temporal.languages.direktiv.execution import execution"),
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
