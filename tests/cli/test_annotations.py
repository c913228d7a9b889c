"""Problems as code hosts read them."""

import shlex
import subprocess
from pathlib import Path

import yaml

from swf_temporal.base.errors import Position, Problem, Severity
from swf_temporal.cli.annotations import github_commands, sarif_of_problems
from tests.cli.conftest import COMMAND, Swf

PROBLEMS = [
    Problem("some-code", "a: b, c\n100 %", Position(3, 7), Severity.WARNING, "do, or not", file="a,b:c.yaml"),
    Problem("other", "bad", Position(1, 1), file="d.yaml"),
    Problem("third", "old", Position(1, 2), Severity.NOTE, file="d.yaml"),
]


def test_a_job_on_github_shows_them_beside_the_lines() -> None:
    assert github_commands(PROBLEMS).splitlines() == [
        "::warning file=a%2Cb%3Ac.yaml,line=3,col=7,title=some-code::a: b, c%0A100 %25%0Ado, or not",
        "::error file=d.yaml,line=1,col=1,title=other::bad",
        "::notice file=d.yaml,line=1,col=2,title=third::old",
    ]


def test_sarif_has_a_rule_for_each_code_and_a_place_for_each_problem() -> None:
    [run] = sarif_of_problems(PROBLEMS)["runs"]
    assert [one["id"] for one in run["tool"]["driver"]["rules"]] == ["other", "some-code", "third"]
    assert [(one["ruleId"], one["level"]) for one in run["results"]] == [
        ("some-code", "warning"), ("other", "error"), ("third", "note"),
    ]  # fmt: skip
    [place] = run["results"][0]["locations"]
    assert place["physicalLocation"] == {
        "artifactLocation": {"uri": "a,b:c.yaml"}, "region": {"startLine": 3, "startColumn": 7},
    }  # fmt: skip


def test_the_hook_and_the_action_run_what_there_is() -> None:
    root = Path(__file__).parents[2]
    assert "entry: swf validate --strict\n" in (root / ".pre-commit-hooks.yaml").read_text()


def test_the_action_takes_paths_for_nothing_but_paths(swf: Swf) -> None:
    """The shell neither expands them nor takes them for options."""
    steps = yaml.safe_load((Path(__file__).parents[2] / "action.yml").read_text())["runs"]["steps"]
    assert not [one for one in steps if "${{" in one["run"]]
    [validate] = [one["run"] for one in steps if "validate" in one["run"]]
    program = swf.folder / "swf" / "bin" / "swf"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND)} "$@"\n')
    program.chmod(0o755)
    env = {**swf.env, "RUNNER_TEMP": str(swf.folder), "STRICT": "true"}

    def run(paths: str) -> subprocess.CompletedProcess[str]:
        command = ["bash", "-eo", "pipefail", "-c", validate]
        env["PATHS"] = paths
        return subprocess.run(command, cwd=swf.folder, env=env, check=False, capture_output=True, text=True)

    assert "2 definitions, no errors" in run("hello.yaml\n waiter.yaml").stderr
    for name in ("*.yaml", "--help", "$(touch made)"):
        assert (run(name).returncode, f"{name.split()[0]} cannot be read" in run(name).stderr) == (2, True)
