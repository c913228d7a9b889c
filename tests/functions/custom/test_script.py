"""Scripts that definitions bring."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.functions.custom import script_process
from swf_temporal.functions.custom.script import MEMORY
from swf_temporal.settings.calls import Options, Settings
from tests.failing import fault_of

ALLOWED = Settings(scripts=True)


def script(code: str | None, arguments: JSON = None, operation: str = "script:python", **metadata: str) -> Call:
    whole = operation if code is None else f"{operation}:{code}"
    return Call(Function(name="s", type="custom", operation=whole, metadata=metadata), arguments)


@pytest.mark.parametrize(("code", "arguments", "expected"), [
    ("1 + 1", None, 2),
    ("\nimport math\nmath.floor(x)\n", {"x": 2.5}, 2),
    ("result = [n * n for n in numbers]", {"numbers": [1, 2]}, [1, 4]),
    ("result = 1\nprint('this goes nowhere')", None, 1),
    ("def double(n):\n    return 2 * n\ndouble(double(x))", {"x": 3}, 12),
    ("x = 5", None, None),
    ("arguments['not a name']", {"not a name": 7}, 7),
    ("arguments", ["a"], ["a"]),
    ("len(str(__builtins__)) > 10", {"__builtins__": 0}, True),
    ("import datetime\n{'at': datetime.date(2026, 1, 2), 'all': {1}}", None, {"at": "2026-01-02", "all": [1]}),
    ("import sys\nsys.stdout.write('x' * 10**6)\n'ü'", None, "ü"),
    ("__name__", None, "<script>"),
])  # fmt: skip
async def test_a_script_yields_its_result(code: str, arguments: JSON, expected: JSON) -> None:
    assert await Functions(settings=ALLOWED).call(script(code, arguments)) == expected


async def test_a_script_can_yield_its_variables() -> None:
    """With `returnsVariables` its result is an object of those that are JSON, whatever its last line is."""
    call = script("import math\nx = x + 1\n_y = 2\nlast = {x}\ndef f(): pass\nx + 5", {"x": 1, "z": None})
    sharing = replace(call, function=replace(call.function, metadata={"returnsVariables": True}))
    assert await Functions(settings=ALLOWED).call(sharing) == {"x": 2, "z": None, "last": [2]}


async def test_code_stands_in_one_of_three_places() -> None:
    """As an argument it is taken only if the definition has none itself: data must not become code by its name."""
    functions = Functions(settings=ALLOWED)
    assert await functions.call(script(None, {"script": "x + 1", "x": 1})) == 2
    assert await functions.call(script(None, {"script": "2", "x": 1}, script="script")) == "2"
    assert await functions.call(script("script", {"script": "3"})) == "3"


@pytest.mark.parametrize(("code", "name", "told"), [
    ("x = 1\n\n1 / 0", "ZeroDivisionError", "line 3 of the script of function 's': division by zero"),
    ("def f():\n  raise KeyError('k')\n\nf()", "KeyError", "line 2 of the script of function 's': 'k'"),
    ("import json\njson.loads('{')", "JSONDecodeError", "line 2 of"),
    ("x = 1\ny = = 2", "SyntaxError", "line 2 of the script of function 's': invalid syntax"),
    ("class OutOfStock(Exception): pass\nraise OutOfStock", "OutOfStock", "line 2 of"),
    ("import sys\nsys.exit('enough')", "SystemExit", "enough"),
    ("x = bytearray(2 << 30)", "MemoryError", "line 1 of"),
])  # fmt: skip
async def test_what_a_script_raises_is_a_fault_of_that_name(code: str, name: str, told: str) -> None:
    fault = await fault_of(Functions(settings=ALLOWED).call(script(code)))
    assert (fault.name, fault.code, fault.retryable) == (name, name, name != "SyntaxError")
    assert told in fault.message


@pytest.mark.parametrize(("settings", "call", "code", "told"), [
    (ALLOWED, script("object()"), "NotJSON", "ended with an object, not JSON"),
    (ALLOWED, script("float('nan')"), "NotJSON", "a float, not JSON"),
    (ALLOWED, replace(script("result = 'x'\nfor _ in range(900):\n    result = [result]"), secrets={"a": "hunter2"}),
     "NotJSON", ""),
    (ALLOWED, script("'x' * 3_000_000"), "AnswerTooLarge", "larger than 2097152 bytes"),
    (ALLOWED, script(None), "BadOperation", "has no code"),
    (ALLOWED, script("1", operation="script:js"), "UnknownFunction", "is a script in a language other than Python"),
    (Settings(), script("1"), "ScriptsOff", "SWF_SCRIPTS"),
])  # fmt: skip
async def test_what_cannot_be_mended_is_not_tried_again(settings: Settings, call: Call, code: str, told: str) -> None:
    await fault_of(Functions(settings=settings).call(call), code, told, retryable=False)


@pytest.mark.parametrize(("code", "expected"), [
    ("import os\nos.abort()", "ScriptCrashed"),
    ("import os\nos._exit(3)", "ScriptCrashed"),
    ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "Timeout"),
])  # fmt: skip
async def test_a_process_that_ends_itself_is_a_fault(code: str, expected: str) -> None:
    await fault_of(Functions(settings=ALLOWED).call(script(code)), expected, retryable=True)


@pytest.mark.parametrize("written", ["hello", "[1,2]", "{}"])
async def test_what_is_no_answer_of_a_script(written: str) -> None:
    """A script can write where only its result is written; that is its fault, and nobody else's."""
    frame = script_process.LENGTH.pack(len(written)) + written.encode()
    code = f"""
import contextlib, os
for pipe in range(3, 20):
    with contextlib.suppress(OSError):
        os.write(pipe, {frame!r})
"""
    assert (await fault_of(Functions(settings=ALLOWED).call(script(code)))).code == "ScriptCrashed"


async def test_a_script_inherits_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWF_SECRET_KEY", "sesame")
    code = "import os\nresult = [sorted(os.environ), os.getcwd(), os.listdir(), sorted(os.listdir('/proc/self/fd'))]"
    names, folder, files, handles = cast("Any", await Functions(settings=ALLOWED).call(script(code)))
    assert names == ["HOME", "LC_ALL", "PATH", "TMPDIR", "TZ"]
    assert (Path(folder).name.startswith("swf-script-"), files) == (True, [])
    assert len(handles) <= 5  # its pipes, nowhere, and the folder that it lists
    assert not await asyncio.to_thread(Path(folder).exists)


@pytest.mark.parametrize("way", ["its time is up", "its call is cancelled", "it has ended"])
async def test_what_a_script_started_ends_with_it(tmp_path: Path, way: str) -> None:
    hasty = Settings(calls=Options(timeout=timedelta(seconds=1)), scripts=True)
    code = _family(tmp_path)
    if way == "it has ended":
        code = code.replace("child.wait()", "result = 'done'")
    task = asyncio.create_task(Functions(settings=hasty if way == "its time is up" else ALLOWED).call(script(code)))
    if way == "it has ended":
        assert await task == "done"
    elif way == "its time is up":
        await fault_of(task, "Timeout", "within 1 s", retryable=True)
    else:
        async with asyncio.timeout(20):
            while not (tmp_path / "ready").exists():
                await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    await _gone(tmp_path)


@pytest.mark.parametrize(
    ("code", "seconds", "expected"),
    [("while True: pass", 1, signal.SIGXCPU), ("open('f', 'wb').write(b'x' * (65 << 20))", 60, 0)],
)
def test_limits_hold_without_a_worker(code: str, seconds: int, expected: int, tmp_path: Path) -> None:
    """Processor time and the size of files are limited in the process itself."""
    request = json.dumps(
        {"code": code, "arguments": None, "seconds": seconds, "memory": MEMORY, "variables": False}
    ).encode()
    done = subprocess.run(
        [sys.executable, "-I", script_process.__file__],
        input=script_process.LENGTH.pack(len(request)) + request,
        capture_output=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == -expected
    if not expected:
        assert json.loads(done.stdout[4:])["error"] == "OSError"


def _family(folder: Path) -> str:
    return (
        "import os, subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(folder / 'ids')!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
        f"open({str(folder / 'ready')!r}, 'w').close()\n"
        "child.wait()\n"
    )


async def _gone(folder: Path) -> None:
    async with asyncio.timeout(20):
        for pid in (folder / "ids").read_text(encoding="utf-8").split():
            while _runs(int(pid)):
                await asyncio.sleep(0.02)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


async def test_what_leaves_its_session_is_not_waited_for(tmp_path: Path) -> None:
    """It cannot be found, and lives on; but the call has its result."""
    code = f"""
import os, pathlib, time
child = os.fork()
if child == 0:
    os.setsid()
    time.sleep(300)
    os._exit(0)
pathlib.Path({str(tmp_path / "child")!r}).write_text(str(child))
result = child
"""
    call = asyncio.create_task(Functions(settings=ALLOWED).call(script(code)))
    try:
        async with asyncio.timeout(30):
            child = await call
    finally:
        os.kill(int((tmp_path / "child").read_text()), signal.SIGKILL)
    assert child == int((tmp_path / "child").read_text())
