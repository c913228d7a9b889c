"""Shell commands and scripts, run as real processes."""

import asyncio
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.settings.calls import Options, Runners, ScriptLanguage, Settings
from tests.failing import fault_of
from tests.functions.conftest import Calling, Service

ALL = Runners(  # noqa: S604 - `shell` is a setting
    shell=True,
    script=(ScriptLanguage.JS, ScriptLanguage.PYTHON),
    max_output_bytes=400_000,
)


def process(kind: str, **arguments: JSON) -> Call:
    return Call(Function(name="p", type=kind), arguments)


def shell(command: str, **arguments: JSON) -> Call:
    return process("shell", command=command, **arguments)


Running = Callable[..., Functions]


@pytest.fixture
def running(calling: Calling) -> Running:
    def running(runners: Runners = ALL, **options: Any) -> Functions:
        functions = {"p": Options(**options)} if options else {}
        return calling(settings=Settings(runners=runners, functions=functions))

    return running


@pytest.mark.parametrize(("call", "expected"), [
    (shell("echo hello"), "hello\n"),
    (shell('input=$(cat)\necho "STDIN was: $input"\necho "ARGS are $1 $2"', stdin="Hello", arguments=["Foo", 2]),
     "STDIN was: Hello\nARGS are Foo 2\n"),
    (shell("cat", stdin={"ü": [1]}), '{"ü":[1]}'),
    (shell("cat"), ""),
    (shell('printf %s "$A-$B"', environment={"A": "x y", "B": 5}), "x y-5"),
    (shell('echo "$1"', arguments=["$(id); `id` ' \""]), "$(id); `id` ' \"\n"),
    (shell("printf '<%s>'\n", arguments={"a": "x y", "b": [1], "--verbose": None}), "<a=x y><b=[1]><--verbose>"),
    (shell("echo out; echo err >&2", **{"return": "stderr"}), "err\n"),
    (shell("echo out; exit 3", **{"return": "code"}), 3),
    (shell("echo out", **{"return": "none"}), None),
    (shell("echo out; echo err >&2; exit 3", **{"return": "all"}), {"code": 3, "stdout": "out\n", "stderr": "err\n"}),
    (shell("kill -TERM $$", **{"return": "code"}), 143),
    (shell("printf '\\377'"), "\ufffd"),
    (shell("sleep 1000 & echo started"), "started\n"),
    (shell("true", stdin="x" * 300_000), ""),
    (shell("wc -c", stdin="x" * 300_000), "300000\n"),
    (shell("head -c 300000 /dev/zero | tr '\\0' x"), "x" * 300_000),
    (process("script", language="python", code="import sys\nprint(sys.argv[1:], sys.stdin.read())",
             arguments=["a"], stdin="hi"), "['a'] hi\n"),
    (process("script", language="python", code="import sys\nprint(who, items, sys.argv[1:])",
             arguments={"who": 'Ada "L"', "items": [1, None, True]}), 'Ada "L" [1, None, True] []\n'),
])  # fmt: skip
async def test_what_a_process_returns(running: Running, call: Call, expected: JSON) -> None:
    assert await running().call(call) == expected


NEEDS_NODE = pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
NODE_STYLE = """
import { readFileSync } from 'node:fs';
const stdin = readFileSync(process.stdin.fd, 'utf8');
const [_, __, arg] = process.argv;
console.log('stdin >', stdin);
console.log('arg >', arg, 5, true, null);
console.log('env >', process.env.foo);
console.error('a warning');
"""


@pytest.mark.parametrize("node", [None, pytest.param("node", marks=NEEDS_NODE)])
async def test_a_script_in_javascript(running: Running, node: str | None) -> None:
    """In QuickJS as in Node.js."""
    call = process(
        "script",
        language="js",
        code=NODE_STYLE,
        stdin="Hello",
        arguments=["hello"],
        environment={"foo": "bar"},
        **{"return": "all"},
    )
    stdout = "stdin > Hello\narg > hello 5 true null\nenv > bar\n"
    expected = {"code": 0, "stdout": stdout, "stderr": "a warning\n"}
    assert await running(ALL.replace(node=node)).call(call) == expected


@pytest.mark.parametrize("node", [None, pytest.param("node", marks=NEEDS_NODE)])
@pytest.mark.parametrize("code", [
    "import { readFileSync } from 'node:fs';\nconsole.log(readFileSync(0, 'utf8'), greetings, items.length);",
    "const fs = require('fs');\nlet items = [];\nconsole.log(fs.readFileSync(0, 'utf8'), greetings, items.length + 2);",
])  # fmt: skip
async def test_named_arguments_are_variables_of_a_script(running: Running, node: str | None, code: str) -> None:
    given: JSON = {"greetings": "Hello, \u2028'\"\\", "items": [1, {"__proto__": 2}]}
    call = process("script", language="javascript", code=code, stdin="in", arguments=given)
    assert await running(ALL.replace(node=node)).call(call) == "in Hello, \u2028'\"\\ 2\n"


@pytest.mark.parametrize(("code", "expected"), [
    ("console.log({a: [1]}); Promise.resolve(2).then(console.log)", (0, '{"a":[1]}\n2\n', "")),
    ("console.log(1); process.exit(4); console.log(2)", (4, "1\n", "")),
    ("const fs = require('fs'); console.log(fs.readFileSync('/etc/passwd'))", (1, "", "only the standard input")),
    ("import * as net from 'node:net';", (1, "", "SyntaxError")),
    ("require('child_process')", (1, "", "it needs Node.js")),
    ("throw new TypeError('no')", (1, "", "TypeError: no")),
    ("new ArrayBuffer(2 ** 30)", (1, "", "out of memory")),
    ("console.log(typeof std, typeof os, typeof __host)", (0, "undefined undefined undefined\n", "")),
])  # fmt: skip
async def test_what_quickjs_offers_to_scripts(running: Running, code: str, expected: tuple[int, str, str]) -> None:
    result: Any = await running().call(process("script", language="js", code=code, **{"return": "all"}))
    assert (result["code"], result["stdout"]) == expected[:2]
    assert expected[2] in result["stderr"]


async def test_code_may_be_in_a_file_or_at_a_url(running: Running, service: Service, tmp_path: Path) -> None:
    service.answers_with("GET", "/hello.py", b"print('from a URL')", content_type="text/x-python")
    (tmp_path / "hello.py").write_text("print('from a file')", encoding="utf-8")
    for source, told in ((f"{service.url}/hello.py", "from a URL\n"), ("hello.py", "from a file\n")):
        function = Function("p", "script", metadata={"source": source})
        assert await running().call(Call(function, {"language": "python"}, base=str(tmp_path))) == told
    missing = Call(Function("p", "script", metadata={"source": "none.py"}), {"language": "python"}, base=str(tmp_path))
    await fault_of(running().call(missing), "NoDocument", "none.py")


async def test_another_exit_code_than_0_is_a_failure(running: Running) -> None:
    fault = await fault_of(running().call(shell("echo out; echo oops >&2; exit 3")), "ProcessFailed", "3: oops")
    assert fault.body == {"code": 3, "stdout": "out\n", "stderr": "oops\n"}
    assert fault.retryable
    await fault_of(running().call(shell("exit 1", **{"return": "none"})), "ProcessFailed")


@pytest.mark.parametrize(("call", "told"), [
    (shell("true"), "SWF_RUNNERS_SHELL=1"),
    (process("script", language="js", code=""), "SWF_RUNNERS_SCRIPT=js"),
    (process("script", language="python", code="1"), "SWF_RUNNERS_SCRIPT=python"),
    (process("container", image="alpine"), "'runners: {container: {command: docker}}'"),
])  # fmt: skip
async def test_nothing_is_run_unless_the_operator_allows_it(running: Running, call: Call, told: str) -> None:
    await fault_of(running(Runners()).call(call), "RunnerOff", told, retryable=False)


async def test_one_language_may_be_allowed_alone(running: Running) -> None:
    functions = running(Runners(script=(ScriptLanguage.PYTHON,)))
    assert await functions.call(process("script", language="Python", code="print(1)")) == "1\n"
    await fault_of(functions.call(process("script", language="js", code="1")), "RunnerOff")


@pytest.mark.parametrize(("call", "told"), [
    (process("shell"), "'command' is missing"),
    (shell(" "), "'command' must be a text"),
    (shell("true", comand=1), "did you mean 'command'?"),
    (shell("true", arguments="a"), "'arguments' must be an array"),
    (shell("true", environment=["a"]), "'environment' must be an object"),
    (shell("true", environment={"A=B": "c"}), "'A=B' cannot be the name"),
    (shell("true", environment={"A": "\0"}), "a NUL character"),
    (shell("true\0"), "cannot be passed to a process"),
    (shell("true", **{"return": "everything"}), "it must be one of stdout, stderr"),
    (process("script", language="ruby", code="1"), "it must be js or python"),
    (process("script", language="python"), "'code' is missing"),
    (shell("#" + "x" * 200_000), "cannot be passed to a process"),
    (replace(shell("true"), arguments=["true"]), "the arguments must be an object"),
])  # fmt: skip
async def test_invalid_arguments(running: Running, call: Call, told: str) -> None:
    await fault_of(running().call(call), "BadArguments", told, retryable=False)


async def test_a_missing_command_is_for_the_operator(running: Running) -> None:
    call = process("script", language="js", code="1")
    told = "this worker cannot run the command 'no-such-node'"
    await fault_of(running(ALL.replace(node="no-such-node")).call(call), "NotInstalled", told, retryable=False)


@pytest.mark.parametrize("kind", ["shell", "python", "js"])
async def test_nothing_of_the_workers_environment_is_seen(
    running: Running, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv("SWF_SECRET_KEY", "sesame")
    monkeypatch.setenv("PYTHONSTARTUP", "/tmp/startup.py")  # noqa: S108 - which nothing reads
    call = {
        "shell": shell("env | cut -d= -f1"),
        "python": process("script", language="python", code="import os\nprint(*os.environ, sep='\\n')"),
        "js": process("script", language="js", code="console.log(Object.keys(process.env).join('\\n'))"),
    }[kind]
    seen = set(str(await running().call(call)).split())
    assert {"PATH", "HOME", "LANG", "TMPDIR"} <= seen
    assert seen <= {"PATH", "HOME", "LANG", "TMPDIR", "PWD", "OLDPWD", "SHLVL", "_", "LC_CTYPE"}


async def test_no_open_file_is_inherited_and_nothing_is_left(running: Running) -> None:
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)  # noqa: FBT003 - as the library has it
    try:
        found = str(await running().call(shell("pwd; touch left; ls; ls /proc/$$/fd"))).split()
    finally:
        os.close(reading)
        os.close(writing)
    folder, left, *handles = found
    assert left == "left"
    assert str(writing) not in handles
    assert not os.path.exists(folder)  # noqa: ASYNC240, PTH110 - a look


def state_of(number: int) -> str | None:
    """Return the state of a process, a letter; None if there is no such process."""
    try:
        return Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return None


async def gone(number: int) -> None:
    """Wait until there is no such process; a zombie is none."""
    while state_of(number) not in {None, "Z"}:
        await asyncio.sleep(0.01)


HOSTILE = {
    "it does not end": "echo $$ > {file}; sleep 1000",
    "it ignores SIGTERM": "trap '' TERM; echo $$ > {file}; while :; do sleep 1000; done",
    "it forks": "(sleep 1000; sleep 1000) & echo $! > {file}; sleep 1000",
    "it keeps reading": "echo $$ > {file}; cat > /dev/null; sleep 1000",
}


@pytest.mark.parametrize("command", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("how", ["timeout", "cancelled"])
async def test_a_process_ends_with_its_call(running: Running, tmp_path: Path, command: str, how: str) -> None:
    file = tmp_path / "pid"
    call = shell(command.format(file=file))
    limit = timedelta(seconds=1) if how == "timeout" else timedelta(minutes=5)
    task = asyncio.create_task(running(timeout=limit).call(call))
    while not (file.exists() and file.read_text(encoding="utf-8").strip()):
        await asyncio.sleep(0.01)
    if how == "timeout":
        await fault_of(task, "Timeout", "did not end within 1 s")
    else:
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    await gone(int(file.read_text(encoding="utf-8")))


@pytest.mark.parametrize("command", ["yes", "yes >&2", "trap '' TERM; yes", "yes & yes & wait"])
async def test_output_without_end(running: Running, command: str) -> None:
    await fault_of(running().call(shell(command)), "AnswerTooLarge", "more than 400000 bytes", retryable=False)


async def test_secrets_are_hidden_in_output(running: Running) -> None:
    call = replace(shell("echo $TOKEN; echo $TOKEN >&2; exit 1", environment={"TOKEN": "s3cr3t-word"}),
                   secrets={"token": "s3cr3t-word"})  # fmt: skip
    fault = await fault_of(running().call(call), "ProcessFailed")
    assert "s3cr3t-word" not in f"{fault.message} {fault.body}"


def test_settings_of_runners(read: Callable[..., Settings]) -> None:
    text = "runners: {shell: true, script: [python, JS], mcp: [uvx mcp-fetch], container: {command: podman}}"
    runners = read(text).runners
    assert (runners.shell, runners.script, runners.mcp) == (True, ("python", "js"), ("uvx mcp-fetch",))
    assert runners.container.command == "podman"
    assert Settings().runners == Runners()


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Settings]:
    def read(text: str, **env: str) -> Settings:
        file = tmp_path / "swf.yaml"
        file.write_text(text, encoding="utf-8")
        return Settings.read(env, file=file)

    return read


def test_settings_of_runners_in_variables(read: Callable[..., Settings]) -> None:
    runners = read("{}", SWF_RUNNERS_SHELL="1", SWF_RUNNERS_SCRIPT="js, python", SWF_RUNNERS_TIMEOUT="PT1H").runners
    assert (runners.shell, runners.script, runners.timeout) == (True, ("js", "python"), timedelta(hours=1))
