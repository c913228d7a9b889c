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
        [*ending_with_us(), *COMMAND, *arguments], cwd=swf.folder,
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
    """A command within another has its help, too; what is not there is told."""
    assert swf("help", "schedule", "apply").out == swf("schedule", "apply", "-h").out
    assert swf("help").out == swf("-h").out
    assert "Did you mean 'run'?" in swf.refused("help", "runn")


@pytest.mark.parametrize("command", [["validate"], ["run", "--simulate"], ["describe"]])
def test_definition_on_stdin(swf: Swf, command: list[str]) -> None:
    """`-` stands for a definition on stdin, which finds what it names in the current folder."""
    ended = swf(*command, "-", stdin=HELLO)
    assert ended.code in {0, 1}
    assert "Traceback" not in ended.err
    ended = swf(*command, "-", stdin=BROKEN)
    assert "<stdin>:5:53  error  transition-target" in ended.out + ended.err
    assert "there is no definition on stdin" in swf.refused(*command, "-", stdin="")


@pytest.mark.parametrize(
    ("arguments", "closed", "code", "told"),
    [
        (["validate", "-"], "<&-", 2, "there is no definition on stdin"),
        (["run", "--simulate", "hello.yaml", "--input", "-"], "<&-", 2, "--input - is not JSON"),
        (["validate", "nosuch.yaml"], ">&-", 2, "nosuch.yaml cannot be read"),
        (["run", "--simulate", "hello.yaml"], ">&-", 0, ""),
        (["validate", "nosuch.yaml"], "2>&-", 2, ""),
        (["validate", "hello.yaml"], "<&- >&- 2>&-", 0, ""),
    ],
)
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
    """Sub-workflows and documents are found in the current folder."""
    swf.write("child.yaml", HELLO.replace("id: hello", "id: child"))
    parent = HELLO.replace(
        'type: inject, data: {greeting: "Hello ${ .name }!"}', "type: operation, actions: [{subFlowRef: child}]"
    )
    ended = swf("run", "--simulate", "-", "-i", '{"name": "Ada"}', stdin=parent)
    assert (ended.code, json.loads(ended.out)["greeting"]) == (0, "Hello Ada!")


@pytest.mark.parametrize("command", [["run", "--simulate"], ["start"], ["schedule", "apply"]])
def test_stdin_is_there_once(swf: Swf, command: list[str]) -> None:
    """The definition and the input cannot both be on stdin."""
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


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run", "--simulate", "hello.yaml", "--functions", "functions.py"], "--functions is for a run on a server"),
        (["run", "--simulate", "hello.yaml", "--config", "x.yaml"], "--config is for a run on a server"),
        (["run", "--simulate", "hello.yaml", "--timeout", "5"], "--timeout is for a run on a server"),
        (["run", "--simulate", "hello.yaml", "--address", "a:1"], "--address is for a run on a server"),
        (["run", "--simulate", "hello.yaml", "-n", "x"], "--namespace is for a run on a server"),
        (["run", "--simulate", "hello.yaml", "--id", "x"], "--workflow-id is for a run on a server"),
        (["run", "hello.yaml", "--script", "x.yaml"], "add --simulate"),
        (["run", "--simulate", "hello.yaml", "--script", "hello.yaml"],
         "has an answer of 'id', which is not a function"),
        (["run", "--simulate", "caller.yaml", "--script", "near.yaml"], "did you mean 'double'?"),
        (["run", "hello.yaml", "--functions", "empty.py"], "empty.py has no functions"),
        (["run", "hello.yaml", "--id", ""], "Invalid value for '--workflow-id'"),
        (["start", "hello", "--task-queue", " "], "Invalid value for '--task-queue'"),
        (["start", ""], "the id of the definition is empty"),
        (["start", "."], ". is a folder"),
        (["start", "./hello/"], "./hello/ is a folder"),
        (["start", "hello", "--definitions", "."], "--definitions is for a definition that is given as a FILE"),
        (["start", "hello", "--strict"], "--strict is for a definition that is given as a FILE"),
        (["status", ""], "the id of the instance is empty"),
        (["status"], "which instance?"),
        (["list", "--address", ""], "Invalid value for '--address'"),
        (["run", "hello.yaml", "--address", ""], "Invalid value for '--address'"),
        (["list", "--namespace", ""], "Invalid value for '--namespace'"),
        (["list", "--query", ""], "Invalid value for '--query'"),
        (["event", "a", "", "--data", "1"], "the TYPE of the event is empty"),
        (["event", "a", "b", "-w", "c"], "two instances are given: 'a' and 'c'"),
        (["schedule", "show", ""], "Invalid value for 'ID'"),
        (["gateway", "--task-queue", ""], "'--task-queue': it is empty"),
        (["test", "hello.yaml", "-k", ""], "Invalid value for '-k'"),
    ],
)  # fmt: skip
def test_what_has_no_effect_is_refused(swf: Swf, arguments: list[str], told: str) -> None:
    """An option that says nothing where it stands, and a name that names nothing, are mistakes."""
    swf.write("near.yaml", "duoble: 1\n")
    swf.write("hello/any.txt", "")
    swf.write("empty.py", "from swf_temporal import Registry\nregistry = Registry()\n")
    assert told in swf.refused(*arguments)


def test_configuration_of_the_environment_says_nothing_of_a_simulation(swf: Swf) -> None:
    assert swf("run", "--simulate", "hello.yaml", "-i", '{"name": 1}', env={"SWF_CONFIG": "nowhere.yaml"}).code == 0


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("name=Ada", """it is one JSON value: --input '{"name": "Ada"}', or @FILE for a file that holds it"""),
        ("n=7", """it is one JSON value: --input '{"n": 7}', or @FILE"""),
        ("hello.yaml", "to read that file: --input @hello.yaml"),
        ("Ada", "a text needs its quotes"),
    ],
)
def test_input_as_other_programs_take_it(swf: Swf, given: str, told: str) -> None:
    """Pairs and names of files are told how they are written here."""
    ended = swf("run", "--simulate", "hello.yaml", "-i", given)
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.err


@pytest.mark.parametrize(
    ("address", "meant"),
    [
        ("nowhere", "did you mean 'nowhere:7233'?"),
        ("http://localhost:7233", "did you mean 'localhost:7233'?"),
        ("localhost:", "as in localhost:7233"),
        ("localhost:99999", "as in localhost:7233"),
        ("local host:1", "as in localhost:7233"),
        (":7233", "as in localhost:7233"),
    ],
)
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
    """Help and messages have no colours and no frames, so that nothing need be obeyed."""
    output = on_a_terminal(swf, *arguments)
    assert output
    assert "Value error" not in output
    assert _ESCAPE not in output
    assert not re.search("[─│╭╰]", output)


def test_progress(swf: Swf) -> None:
    """Validating many or large files tells how far it is, on a terminal that can write a line anew, and clears it."""
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


_PAID = '{"id": "1", "type": "com.paid", "source": "shop"}'


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("worker --build-id 7", "--build-id has no effect on a worker without a deployment"),
        ("worker --versioning pinned", "--versioning has no effect on a worker without a deployment"),
        ("gateway --tls-key key.pem", "--tls-key needs a certificate"),
        ("codec-server --config swf.yaml --tls-key key.pem", "--tls-key needs a certificate"),
        ("gateway --tls-cert hello.yaml", "TLS cannot be served with hello.yaml"),
        ("gateway --tls-cert nosuch.pem", "TLS cannot be served with nosuch.pem: No such file or directory"),
        ("worker --functions hello.yaml", "hello.yaml is not a Python file"),
        ("worker --functions ./nosuch", "./nosuch is not a Python file"),
        ("compat hello.yaml hello.yaml --limit 5", "--limit is for instances on a server"),
        ("compat --histories . --namespace n", "--namespace is for instances on a server"),
        ("compat --histories . --strict", "--strict is for a comparison of definitions"),
        ("events send hello.yaml EVENT --instance i --trust-instance", "--instance and --trust-instance exclude"),
        ("event i com.paid --attribute source=shop", "--attribute gives 'source'"),
        ("event i com.paid --attribute a=1 --attribute a=2", "--attribute gives 'a' twice"),
    ],
)
def test_options_without_effect(swf: Swf, arguments: str, told: str) -> None:
    swf.write("swf.yaml", "compression: true")
    assert told in swf.refused(*(_PAID if one == "EVENT" else one for one in arguments.split()))
