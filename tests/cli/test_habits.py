"""What people expect of any command, and what they type by mistake."""

import json
import os
import pty
import re
import subprocess
from collections.abc import Mapping

import pytest
import yaml

from swf_temporal.cli.lazy import COMMANDS
from tests.cli.conftest import BROKEN, COMMAND, HELLO, PATIENCE, Swf
from tests.processes import ending_with_us

_ESCAPE = "\x1b["


def on_a_terminal(swf: Swf, *arguments: str, env: Mapping[str, str] | None = None) -> str:
    ours, theirs = pty.openpty()
    kept = {name: value for name, value in swf.env.items() if name not in {"NO_COLOR", "TERM"}}
    process = subprocess.Popen(
        [*ending_with_us(), *swf.command(), *arguments], cwd=swf.folder,
        env={**kept, "TERM": "xterm-256color", **(env or {})}, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    output = b""
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        while True:
            try:
                chunk = terminal.read(4096)
            except OSError:  # nobody has the other end any more
                break
            if not chunk:
                break
            output += chunk
    process.wait(PATIENCE)
    return output.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_three_ways_to_ask_for_help(swf: Swf, name: str) -> None:
    wanted = swf(name, "--help").out
    assert wanted
    assert swf(name, "-h").out == wanted
    assert swf("help", name).out == wanted
    assert not re.search(r"list\[|<str>|\[\[|\[[A-Z]+ [^\]]*$", wanted, re.MULTILINE), (
        "it has the notation of a library"
    )


def test_help_of_a_command_in_a_group(swf: Swf) -> None:
    assert swf("help", "schedule", "apply").out == swf("schedule", "apply", "-h").out
    assert swf("help").out == swf("-h").out
    assert "Did you mean 'run'?" in swf.refused("help", "runn")


@pytest.mark.parametrize("command", [["validate"], ["run", "--simulate"], ["describe"]])
def test_definition_on_stdin(swf: Swf, command: list[str]) -> None:
    ended = swf(*command, "-", stdin=HELLO)
    assert ended.code in {0, 1}
    assert "Traceback" not in ended.err
    ended = swf(*command, "-", stdin=BROKEN)
    assert "<stdin>:5:53  error  transition-target" in ended.out + ended.err
    assert "there is no definition on stdin" in swf.refused(*command, "-", stdin="")


@pytest.mark.parametrize(("arguments", "closed", "code", "told"), [
    (["validate", "-"], "<&-", 2, "there is no definition on stdin"),
    (["run", "--simulate", "hello.yaml", "--input", "-"], "<&-", 2, "--input - is not JSON"),
    (["validate", "nosuch.yaml"], ">&-", 2, "nosuch.yaml cannot be read"),
    (["run", "--simulate", "hello.yaml"], ">&-", 0, ""),
    (["validate", "nosuch.yaml"], "2>&-", 2, ""),
    (["validate", "hello.yaml"], "<&- >&- 2>&-", 0, ""),
])  # fmt: skip
def test_without_a_standard_stream(swf: Swf, arguments: list[str], closed: str, code: int, told: str) -> None:
    """A process that was started without stdin, stdout or stderr does what it would do, and writes nowhere else."""
    command = [*ending_with_us(), *COMMAND, *arguments]
    ended = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *command],
        cwd=swf.folder, env=swf.env, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout) == (code, "")
    assert ended.stderr.startswith(f"error: {told}" if told else "")
    assert bool(ended.stderr) == bool(told)


def test_what_a_definition_on_stdin_names(swf: Swf) -> None:
    swf.write("child.yaml", HELLO.replace("id: hello", "id: child"))
    parent = HELLO.replace(
        'type: inject, data: {greeting: "Hello ${ .name }!"}', "type: operation, actions: [{subFlowRef: child}]"
    )
    ended = swf("run", "--simulate", "-", "-i", '{"name": "Ada"}', stdin=parent)
    assert (ended.code, json.loads(ended.out)["greeting"]) == (0, "Hello Ada!")


@pytest.mark.parametrize("command", [["run", "--simulate"], ["start"], ["schedule", "apply"]])
def test_stdin_is_there_once(swf: Swf, command: list[str]) -> None:
    assert "cannot both be on stdin" in swf.refused(*command, "-", "--input", "-", stdin=HELLO)
    assert "- is given twice" in swf("validate", "-", "-", stdin=HELLO).err


def test_output(swf: Swf) -> None:
    swf.write("broken.yaml", BROKEN)
    problems = json.loads(swf("validate", "broken.yaml", "-o", "json").out)
    assert yaml.safe_load(swf("validate", "broken.yaml", "--output", "yaml").out) == problems
    described = json.loads(swf("describe", "hello.yaml", "-o", "json").out)
    assert yaml.safe_load(swf("describe", "hello.yaml", "-o", "yaml").out) == described
    assert yaml.safe_load(swf("schema", "-o", "yaml").out) == json.loads(swf("schema").out)
    run = ["run", "--simulate", "hello.yaml", "-i", '{"name": "Zoë"}']
    assert swf(*run, "-o", "yaml").out == "name: Zoë\ngreeting: Hello Zoë!\n"
    assert swf(*run, "-o", "json").out == swf(*run).out == '{"name": "Zoë", "greeting": "Hello Zoë!"}\n'


def test_output_of_scenarios(swf: Swf) -> None:
    swf.write("s.yaml", "scenario: Greets\nworkflow: hello.yaml\nexpect: {output: {greeting: Hello }}\n")
    ended = swf("test", "s.yaml", "-o", "json")
    [verdict] = json.loads(ended.out)
    assert ended.code == 1
    assert (verdict["scenario"], verdict["host"], verdict["holds"]) == ("Greets", "simulation", False)
    assert verdict["differences"]


def test_configuration_of_the_environment_says_nothing_of_a_simulation(swf: Swf) -> None:
    assert swf("run", "--simulate", "hello.yaml", "-i", '{"name": 1}', env={"SWF_CONFIG": "nowhere.yaml"}).code == 0


@pytest.mark.parametrize(("given", "told"), [
    ("name=Ada", """it is one JSON value: --input '{"name": "Ada"}', or @FILE for a file that holds it"""),
    ("n=7", """it is one JSON value: --input '{"n": 7}', or @FILE"""),
    ("hello.yaml", "to read that file: --input @hello.yaml"),
    ("Ada", "a text needs its quotes"),
])  # fmt: skip
def test_input_as_other_programs_take_it(swf: Swf, given: str, told: str) -> None:
    ended = swf("run", "--simulate", "hello.yaml", "-i", given)
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.err


@pytest.mark.parametrize(("address", "meant"), [
    ("nowhere", "did you mean 'nowhere:7233'?"),
    ("http://localhost:7233", "did you mean 'localhost:7233'?"),
    ("localhost:", "as in localhost:7233"),
    ("localhost:99999", "as in localhost:7233"),
    ("local host:1", "as in localhost:7233"),
    (":7233", "as in localhost:7233"),
])  # fmt: skip
@pytest.mark.parametrize("command", [["list"], ["run", "hello.yaml"]])
def test_malformed_address(swf: Swf, command: list[str], address: str, meant: str) -> None:
    for ended, named_by in (
        (swf(*command, "--address", address), "the address"),
        (swf(*command, env={"TEMPORAL_ADDRESS": address}), "TEMPORAL_ADDRESS"),
    ):
        assert (ended.code, ended.out) == (2, "")
        told = [
            f"error: {named_by} is {address!r}",
            f"  it is written HOST:PORT{';' if 'you' in meant else ','} {meant}",
        ]
        assert ended.err.splitlines()[-2:] == told


def test_colours(swf: Swf) -> None:
    swf.write("broken.yaml", BROKEN)
    assert _ESCAPE in on_a_terminal(swf, "validate", "broken.yaml")
    assert _ESCAPE not in on_a_terminal(swf, "validate", "broken.yaml", env={"NO_COLOR": "1"})
    assert _ESCAPE not in on_a_terminal(swf, "validate", "broken.yaml", env={"TERM": "dumb"})
    assert _ESCAPE not in swf("validate", "broken.yaml", env={"NO_COLOR": ""}).out


@pytest.mark.parametrize("arguments", [["-h"], ["run", "-h"], ["runn"], ["run", "--inptu"], ["list", "-o", "xml"]])
def test_help_and_mistakes_are_plain(swf: Swf, arguments: list[str]) -> None:
    output = on_a_terminal(swf, *arguments)
    assert output
    assert "Value error" not in output
    assert _ESCAPE not in output
    assert not re.search("[─│╭╰]", output)


def test_progress(swf: Swf) -> None:
    for number in range(25):
        swf.write(f"many/{number}.yaml", HELLO.replace("id: hello", f"id: hello{number}"))
    output = on_a_terminal(swf, "validate", "many")
    assert "validating 7 of 25: many/" in output
    assert output.endswith("\r\x1b[K25 definitions, no errors, no warnings\n")
    assert on_a_terminal(swf, "validate", "many", env={"TERM": "dumb"}) == "25 definitions, no errors, no warnings\n"
    assert swf("validate", "many").err == "25 definitions, no errors, no warnings\n"
    assert "validating" not in on_a_terminal(swf, "validate", "hello.yaml")
    swf.write("large.yaml", HELLO + "# " + "x" * 600_000 + "\n")
    assert "validating 1 of 1: large.yaml (600 kB)" in on_a_terminal(swf, "validate", "large.yaml")
