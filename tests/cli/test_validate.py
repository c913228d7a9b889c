"""What `swf validate` tells, and commands that run or serve definitions, of problems; and what they may read."""

import json
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from swf_temporal.base.errors import Position, Problem, Severity
from swf_temporal.cli.annotations import github_commands, sarif_of_problems
from swf_temporal.sdk.rereading import LiveCatalogue
from tests.cli.conftest import BROKEN, HELLO, Swf
from tests.cli.forked import quick_command
from tests.definitions import definition

WARNED = definition("id: warned\nstates: [{name: Say, type: inject, data: {}, end: true, colour: red}]\n")


def test_good_definitions(swf: Swf) -> None:
    assert swf("validate", ".") == (0, "", "3 definitions, no errors, no warnings\n")


def test_problems(swf: Swf) -> None:
    ended = swf("validate", swf.write("broken.yaml", BROKEN))
    assert ended.code == 1
    assert ended.out.startswith("broken.yaml:5:53  error  transition-target  state 'Say' leads to 'Sya'")
    assert "did you mean" in ended.out
    found = json.loads(swf("validate", "hello.yaml", "broken.yaml", "--output", "json").out)
    place = {"file": "broken.yaml", "line": 5, "column": 53, "severity": "error", "code": "transition-target"}
    assert found[0].items() >= place.items()
    assert found[0].keys() == {*place, "message", "hint"}


def test_names_the_version(swf: Swf) -> None:
    file = swf.write(
        "old.yaml", "id: old\nexecTimeout: PT1M\nstates:\n- {name: A, type: inject, data: {}, end: true}\n"
    )
    text, data = swf("validate", file, "--strict"), swf("validate", file, "-o", "json")
    shown = "old.yaml:2:1  note  language-version  this is Serverless Workflow 0.6, which 'execTimeout' shows"
    assert shown in text.out
    assert (text.code, text.err) == (0, "1 definition, no errors, no warnings\n")
    note = {"severity": "note", "code": "language-version", "version": "0.6", "key": "execTimeout"}
    assert json.loads(data.out)[0].items() >= {**note, "line": 2, "column": 1}.items()


def test_strict(swf: Swf) -> None:
    file = swf.write("warned.yaml", WARNED)
    assert swf("validate", file).code == 0
    assert swf("validate", file, "--strict").code == 1


@pytest.mark.parametrize(("name", "text", "code", "told"), [
    ("bad.yaml", "id: [", 1, "error"),
    ("bad.json", '{"id": "x", "states": [}', 1, "error"),
    ("bad.yaml", "id: x\nspecVersion: '0.8'\nstates: 7\n", 1, "states"),
    ("bad.yaml",
     "id: x\nspecVersion: '0.8'\nstates: [{name: A, type: operation, actions: [functionRef: nix], end: true}]\n", 1,
     "'nix'"),
    ("bad.yaml",
     "id: x\nspecVersion: '0.8'\nstates:\n - {name: A, type: inject, data: {a: '${ .a | }'}, end: true}\n", 1,
     "expression"),
])  # fmt: skip
def test_bad_definitions(swf: Swf, name: str, text: str, code: int, told: str) -> None:
    ended = swf("validate", swf.write(name, text))
    assert ended.code == code
    assert told in ended.out
    assert "Traceback" not in ended.err


def test_a_definition_whose_states_are_misspelt(swf: Swf) -> None:
    swf.write("folder/stats.yaml", HELLO.replace("states:", "stats:"))
    swf.write("folder/bom.json", '{"bomFormat": "CycloneDX", "specVersion": "1.4"}')
    swf.write("folder/good.yaml", HELLO)
    ended = swf("validate", "folder")
    assert ended.code == 1
    assert "folder/stats.yaml:4:1  error  missing  the workflow has no states" in ended.out
    assert "is 'stats' meant as 'states'?" in ended.out
    assert ended.err.endswith("2 definitions, 1 error, no warnings\n")


TRAP = definition("""\
id: trap
functions: [{name: say, type: custom, operation: sysout}]
states:
  - name: Say
    type: operation
    actions: [{functionRef: {refName: say, arguments: {message: .message}}}]
    end: true
""")
PARENT = definition("id: parent\nstates: [{name: Run, type: operation, actions: [{subFlowRef: trap}], end: true}]\n")
TOLD = "'.message' is sent as text\n"
HINT = "^ did you mean '${ .message }'?\n"


def test_a_run_tells_what_is_sent_as_text(swf: Swf) -> None:
    file = swf.write("trap.yaml", TRAP)
    script = swf.write("script.yaml", "say: null\n")
    ended = swf("run", file, "--simulate", "--script", script)
    assert (ended.code, TOLD in ended.err, HINT in ended.err) == (0, True, True)
    ended = swf("run", file, "--simulate", "--script", script, "--strict")
    assert (ended.code, ended.out, HINT in ended.err) == (2, "", True)
    assert ended.err.endswith("nothing was done: 1 problem\n")


def test_a_run_tells_it_of_sub_workflows(swf: Swf) -> None:
    swf.write("trap.yaml", TRAP)
    script = swf.write("script.yaml", "say: null\n")
    ended = swf("run", swf.write("parent.yaml", PARENT), "--simulate", "--script", script)
    assert (ended.code, ended.err.count(HINT)) == (0, 1)
    assert swf("run", "parent.yaml", "--simulate", "--script", script, "--strict").code == 2
    assert HINT not in swf("run", "hello.yaml", "--simulate", "--strict").err
    Path(swf.folder, "lost.yaml").symlink_to("nowhere.yaml")
    ended = swf("run", "parent.yaml", "--simulate", "--script", script)
    assert (ended.code, "lost.yaml is left out: lost.yaml cannot be read: No such file" in ended.err) == (0, True)


@pytest.mark.parametrize("command", [("start", "traps/trap.yaml"), ("worker", "traps"), ("run", "traps/trap.yaml")])
def test_strict_commands_refuse_it_before_they_look_for_a_server(swf: Swf, command: tuple[str, str]) -> None:
    Path(swf.folder, "traps").mkdir()
    swf.write("traps/trap.yaml", TRAP)
    ended = swf(*command, "--strict", "--address", "localhost:1")
    assert (ended.code, HINT in ended.err) == (2, True)
    assert ended.err.endswith("nothing was done: 1 problem\n")


def test_a_folder_that_is_followed_strictly(tmp_path: Path) -> None:
    file = tmp_path / "trap.yaml"
    file.write_text(TRAP)
    assert [one.id for one in _told(LiveCatalogue(tmp_path), "serving trap")] == ["trap"]
    strict = LiveCatalogue(tmp_path, strict=True)
    assert list(_told(strict, "did you mean '${ .message }'?")) == []
    file.write_text(TRAP.replace(".message", '"${ .message }"'))
    assert [one.id for one in _told(strict, "serving trap")] == ["trap"]
    file.write_text(TRAP.replace('"1.0"', '"2.0"'))
    assert [one.version for one in _told(strict, "the last valid version is served")] == ["1.0"]


def _told(live: LiveCatalogue, what: str) -> LiveCatalogue:
    assert what in "\n".join(live.refresh())
    return live


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
    program.write_text(f'#!/bin/sh\nexec {shlex.join(quick_command())} "$@"\n')
    program.chmod(0o755)
    env = {**swf.env, "RUNNER_TEMP": str(swf.folder), "STRICT": "true"}

    def run(paths: str) -> subprocess.CompletedProcess[str]:
        command = ["bash", "-eo", "pipefail", "-c", validate]
        env["PATHS"] = paths
        return subprocess.run(command, cwd=swf.folder, env=env, check=False, capture_output=True, text=True)

    assert "2 definitions, no errors" in run("hello.yaml\n waiter.yaml").stderr
    for name in ("*.yaml", "--help", "$(touch made)"):
        ended = run(name)
        assert (ended.returncode, f"{name.split()[0]} cannot be read" in ended.stderr) == (2, True)


DEFINITION = definition("""\
id: sharing
constants: ../shared/constants.json
states: [{name: Say, type: inject, data: {limit: "${ $CONST.limit }"}, end: true}]
""")


@pytest.fixture
def sharing(swf: Swf) -> str:
    for folder in ("defs", "shared"):
        (swf.folder / folder).mkdir()
    swf.write("shared/constants.json", '{"limit": 3}')
    return str(swf.write("defs/sharing.yaml", DEFINITION))


def test_folders_are_forbidden(swf: Swf, sharing: str) -> None:
    for command in (["validate", sharing], ["run", sharing, "--simulate"], ["worker", "defs"]):
        ended = swf(*command)
        assert ended.code != 0
        assert "sharing.yaml:4:12  error  external-forbidden  constants are in" in ended.out + ended.err
        assert "--resources" in ended.out + ended.err


def test_folders_are_allowed(swf: Swf, sharing: str) -> None:
    assert swf("validate", sharing, "--resources", "shared").code == 0
    ended = swf("run", sharing, "--simulate", "--resources", "shared")
    assert (ended.code, ended.out) == (0, '{"limit": 3}\n')


def test_documents_that_are_shared(swf: Swf) -> None:
    swf.write("both/functions.yaml", "- {name: f, operation: 3, typ: rest}\n")
    for name in ("a", "b"):
        text = DEFINITION.replace("constants: ../shared/constants.json", "functions: functions.yaml")
        swf.write(f"both/{name}.yaml", text.replace("id: sharing", f"id: {name}").replace("$CONST.limit", "1"))
    ended = swf("validate", "both")
    assert ended.out.count("functions.yaml:1:27  warning  unknown-property") == 1


def test_definitions_of_one_version(swf: Swf) -> None:
    for name in ("a", "b"):
        text = DEFINITION.replace("constants: ../shared/constants.json", f"description: {name}")
        swf.write(f"both/{name}.yaml", text.replace("$CONST.limit", "1"))
    message = (
        "both/b.yaml:1:5  error  duplicate-definition  there are several definitions with the id 'sharing' and "
        "version '1.0'\n    the first is at both/a.yaml:1\n"
    )
    ended = swf("validate", "both")
    assert (ended.code, ended.out) == (1, message)
    assert swf("validate", "both/a.yaml", "both/b.yaml").code == 0
    assert message in swf("worker", "both").err
