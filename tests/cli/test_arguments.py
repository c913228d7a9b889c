"""What commands take as arguments; what nobody can mean is refused, before anything is begun."""

import os
import shlex
import socket
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from swf_temporal.base.errors import UsageError
from swf_temporal.cli.arguments import json_value, length_of, read_document, read_events
from swf_temporal.functions.secrets import Secrets
from swf_temporal.languages.loading import check_file
from swf_temporal.sdk.function_modules import functions_of
from swf_temporal.settings.calls import read_settings
from swf_temporal.simulation.reading import read_script
from swf_temporal.simulation.scenario import find_scenarios
from tests.cli.conftest import BROKEN, HELLO, Swf
from tests.cli.test_scenarios import HOLDS
from tests.cli.test_schedule import TIMED


@pytest.mark.parametrize(("text", "value"), [(None, None), ("7", 7), ('"a"', "a"), ("[1, null]", [1, None])])
def test_json(text: str | None, value: object) -> None:
    assert json_value(text, "--input") == value


@pytest.mark.parametrize(("text", "is_text"), [
    ("a", True), ("{a: 1}", True), ("{name:Ada}", True), ("NaN", True), ("[" * 100_000, False), ("", False),
    ('{"a": 1,}', False), ("[1", False), ("{} {}", False), ('"a', False),
])  # fmt: skip
def test_no_json(text: str, is_text: bool) -> None:  # noqa: FBT001 - what is expected
    """Where it has no quotes, the shell may have taken them."""
    with pytest.raises(UsageError, match=r"--input is not (readable )?JSON") as raised:
        json_value(text, "--input")
    if text == "{name:Ada}":
        hint = """the shell may have removed its double quotes: --input '{"name": "Ada"}' keeps them"""
        assert raised.value.hint == hint
    assert is_text or raised.value.hint is None


def test_nested_too_deeply(tmp_path: Path) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    with pytest.raises(UsageError, match=r"^--input is not JSON: it is nested too deeply$"):
        json_value(deep, "--input")
    (tmp_path / "deep.yaml").write_text("[" * 5_000 + "]" * 5_000)
    with pytest.raises(UsageError, match=r"deep.yaml is not YAML: line 1, column 201: nested deeper than 200 levels$"):
        read_document(tmp_path / "deep.yaml")


def test_files(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"a": 1}')
    (tmp_path / "a.yaml").write_text("day: 2024-01-02\n")
    assert json_value(f"@{tmp_path}/a.json", "--input") == {"a": 1}
    assert read_document(tmp_path / "a.yaml") == {"day": "2024-01-02"}
    (tmp_path / "b.yaml").write_text("a: [")
    with pytest.raises(UsageError, match="is not YAML"):
        read_document(tmp_path / "b.yaml")
    (tmp_path / "b.json").write_bytes(b"\xff")
    with pytest.raises(UsageError, match="it is not UTF-8 text"):
        read_document(tmp_path / "b.json")


def test_what_is_no_file(tmp_path: Path) -> None:
    """A pipe, a device or a socket may never end: it is refused before it is read."""
    os.mkfifo(tmp_path / "pipe.yaml")
    with socket.socket(socket.AF_UNIX) as taken:
        taken.bind(str(tmp_path / "socket.yaml"))
    kinds = [("pipe.yaml", "it is a pipe, not a file"), ("socket.yaml", "it is a socket, not a file")]
    for name, why in [*kinds, ("/dev/zero", "it is a device, not a file"), (".", "Is a directory")]:
        path = tmp_path / name
        readers: list[Callable[[], object]] = [
            partial(read_document, path),
            partial(read_events, [path]),
            partial(check_file, path),
            partial(find_scenarios, [path]) if name != "." else partial(read_document, path),
            partial(read_settings, {}, file=path),
        ]
        for read in readers:
            with pytest.raises(UsageError, match=f"cannot be read: {why}"):
                read()


def test_events(tmp_path: Path) -> None:
    file = tmp_path / "events.yaml"
    file.write_text("type: a\n")
    assert read_events([file, file]) == [{"type": "a"}, {"type": "a"}]
    for text, told in (
        ("- type: a\n- 7\n", "event 2: an event is"),
        ("[null]", "event 1: an event is a JSON object, and"),
    ):
        file.write_text(text)
        with pytest.raises(UsageError, match=told):
            read_events([file])


def test_functions_of_a_plain_module(tmp_path: Path) -> None:
    """A module without a registry offers its own public functions, even if it is called like another module."""
    file = tmp_path / "json.py"
    file.write_text("from math import sqrt\ndef greet(name): return name\ndef _hidden(): pass\n")
    assert list(functions_of([str(file)])) == ["greet"]
    file = tmp_path / "broken.py"
    file.write_text("1 / 0\n")
    with pytest.raises(UsageError, match="cannot be imported: ZeroDivisionError"):
        functions_of([str(file)])


def test_lengths() -> None:
    assert length_of(None, "--timeout") is None
    assert length_of("1.5", "--timeout") == timedelta(seconds=1.5)
    assert length_of("PT2M", "--timeout") == timedelta(minutes=2)
    for wrong in ("0", "-1", "nan", "inf", "PX", "PT0S"):
        with pytest.raises(UsageError, match="--timeout is"):
            length_of(wrong, "--timeout")


def test_bytes_that_are_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "b.yaml"
    file.write_bytes(b'{"a": "\xff"}')
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(file.read_bytes()), "utf-8"))
    monkeypatch.setenv("SWF_SECRETS_FILE", str(file))
    readings: list[Callable[[], object]] = [
        lambda: json_value("-", "--input"),
        lambda: read_document(file),
        lambda: read_script(file),
        lambda: read_settings({}, file=file),
        lambda: Secrets.from_environment(os.environ),
    ]
    for reading in readings:
        with pytest.raises(UsageError, match="cannot be read: it is not UTF-8 text"):
            reading()


FILES = {
    "defs/hello.yaml": HELLO,
    "bad.yaml": "states: [", "broken.yaml": BROKEN, "near.yaml": "duoble: 1\n", "script.yaml": "double: 1\n",
    "timed.yaml": TIMED.format(id="timed", version="1.0"), "good.yaml": HOLDS,
    "slip.yaml": HOLDS.replace("events:", "evnets:"), "hello/any.txt": "", "empty/any.txt": "",
    "empty.py": "from swf_temporal import Registry\nregistry = Registry()\n", "swf.yaml": "compression: true",
    "histories/no.json": '{"events": [{"eventId": "1"}]}',
    "served.py": "number = 5\ndef answer(given): return given\n",
}  # fmt: skip
EVENT = '{"id": "1", "type": "com.paid", "source": "shop"}'


@pytest.mark.parametrize(("line", "told"), [
    ("xyzzy", "No such command 'xyzzy'."),
    ("runn", "No such command 'runn'. Did you mean 'run'?"),
    ("schedule aply", "No such command 'aply'. Did you mean 'apply'?"),
    ("run", "Missing argument 'FILE'"),
    ("run hello.yaml --inptu '{}'", "No such option: --inptu"),
    ("validate hello.yaml --output xml", "Invalid value for '--output'"),
    ("list --limit 0", "Invalid value for '--limit'"),
    ("dev --port 72330", "Invalid value for '--port'"),
    ("dev --ui-port 0", "Invalid value for '--ui-port'"),
    ("dev --port 7777 --ui-port 7777", "--port and --ui-port are both 7777"),
    ("worker --health 80800", "Invalid value for '--health'"),
    ("run --simulate hello.yaml --functions functions.py", "--functions is for a run on a server"),
    ("run --simulate hello.yaml --config x.yaml", "--config is for a run on a server"),
    ("run --simulate hello.yaml --timeout 5", "--timeout is for a run on a server"),
    ("run --simulate hello.yaml --address a:1", "--address is for a run on a server"),
    ("run --simulate hello.yaml -n x", "--namespace is for a run on a server"),
    ("run --simulate hello.yaml --id x", "--workflow-id is for a run on a server"),
    ("run hello.yaml --script x.yaml", "add --simulate"),
    ("run --simulate hello.yaml --script hello.yaml", "has an answer of 'id', which is not a function"),
    ("run --simulate caller.yaml --script near.yaml", "did you mean 'double'?"),
    ("run hello.yaml --functions empty.py", "empty.py has no functions"),
    ("run hello.yaml --id ''", "Invalid value for '--workflow-id'"),
    ("start hello --task-queue ' '", "Invalid value for '--task-queue'"),
    ("start ''", "the id of the definition is empty"),
    ("start .", ". is a folder"),
    ("start ./hello/", "./hello/ is a folder"),
    ("start hello --definitions .", "--definitions is for a definition that is given as a FILE"),
    ("start hello --strict", "--strict is for a definition that is given as a FILE"),
    ("status ''", "the id of the instance is empty"),
    ("status", "which instance?"),
    ("list --address ''", "Invalid value for '--address'"),
    ("run hello.yaml --address ''", "Invalid value for '--address'"),
    ("list --namespace ''", "Invalid value for '--namespace'"),
    ("list --query ''", "Invalid value for '--query'"),
    ("event a '' --data 1", "the TYPE of the event is empty"),
    ("event a b -w c", "two instances are given: 'a' and 'c'"),
    ("schedule show ''", "Invalid value for 'ID'"),
    ("gateway --task-queue ''", "'--task-queue': it is empty"),
    ("test hello.yaml -k ''", "Invalid value for '-k'"),
    ("worker hello.yaml --build-id 7", "--build-id has no effect on a worker without a deployment"),
    ("worker hello.yaml --versioning pinned", "--versioning has no effect on a worker without a deployment"),
    ("gateway --tls-key key.pem", "--tls-key needs a certificate"),
    ("codec-server --config swf.yaml --tls-key key.pem", "--tls-key needs a certificate"),
    ("gateway --tls-cert hello.yaml", "TLS cannot be served with hello.yaml"),
    ("gateway --tls-cert nosuch.pem", "TLS cannot be served with nosuch.pem: No such file or directory"),
    ("worker hello.yaml --functions hello.yaml", "hello.yaml is not a Python file"),
    ("worker hello.yaml --functions ./nosuch", "./nosuch is not a Python file"),
    ("compat hello.yaml hello.yaml --limit 5", "--limit is for instances on a server"),
    ("compat --histories . --namespace n", "--namespace is for instances on a server"),
    ("compat --histories . --strict", "--strict is for a comparison of definitions"),
    ("events send hello.yaml EVENT --instance i --trust-instance", "--instance and --trust-instance exclude"),
    ("event i com.paid --attribute source=shop", "--attribute gives 'source'"),
    ("event i com.paid --attribute a=1 --attribute a=2", "--attribute gives 'a' twice"),
    ("run nowhere.yaml", "nowhere.yaml cannot be read"),
    ("run broken.yaml", "transition-target"),
    ("run bad.yaml", "error syntax"),
    ("run hello.yaml --input '{name: Ada}'", "--input is not JSON"),
    ("run hello.yaml --input @nowhere.json", "nowhere.json cannot be read"),
    ("run hello.yaml --event script.yaml", "an event needs a text as its 'type'"),
    ("run hello.yaml --functions nowhere.py", "there is no file nowhere.py"),
    ("run hello.yaml --functions no.such.module", "cannot be imported"),
    ("run hello.yaml --timeout soon", "--timeout is 'soon'"),
    ("run hello.yaml --definitions nowhere", "nowhere is not a folder"),
    ("schedule preview hello.yaml", "error: the definition 'hello' has no schedule"),
    ("schedule preview timed.yaml --from soon", "error: --from: 'soon' is not an ISO 8601 date and time"),
    ("schedule apply empty", "error: no definition in empty has a schedule"),
    ("schedule apply timed.yaml timed.yaml", "error: timed.yaml and timed.yaml both define 'timed'"),
    ("schedule apply timed.yaml --input '{'", "error: --input is not JSON"),
    ("schedule apply", "Missing argument 'FILE'"),
    ("schedule often", "No such command 'often'"),
    ("graph", "not clear what to draw"),
    ("graph waiter.yaml --history waiter.yaml", "not clear what to draw"),
    ("graph waiter.yaml --timeline", "no effect without an instance"),
    ("graph waiter.yaml --address localhost:1", "no effect without --instance"),
    ("graph --history nosuch.json", "nosuch.json is not the history of a workflow: No such file or directory"),
    ("graph --history waiter.yaml", "is not the history of a workflow"),
    ("compat", "there is nothing to compare"),
    ("compat waiter.yaml", "a comparison needs two definitions"),
    ("compat --histories empty", "there is no history in empty"),
    ("compat --histories nowhere", "nowhere is not a folder"),
    ("compat --histories histories", "no.json is not the history of a workflow"),
    ("compat --histories . --query x", "exclude each other"),
    ("compat a@1 b -d defs", "'a@1' is not a file"),
    ("cancel many-1 --query x", "an instance and filters such as --query exclude each other"),
    ("cancel many-1 --yes", "--yes is for many instances"),
    ("cancel many-1 --dry-run", "--dry-run is for many instances"),
    ("test nowhere.yaml", "nowhere.yaml cannot be read"),
    ("test hello.yaml", "there is no scenario to test"),
    ("test good.yaml -k nothing", "none has 'nothing' in its claim, file or sections"),
    ("test slip.yaml", "is not a field of the scenario"),
    ("validate nowhere.yaml", "cannot be read"),
    ("validate empty", "no definition in empty"),
    ("validate hello.yaml --resources nowhere", "error: nowhere is not a folder see --resources"),
    ("serve-function nowhere:answer", "the functions in nowhere cannot be imported: ModuleNotFoundError | nowhere"),
    ("serve-function nowhere.py:answer", "there is no file nowhere.py"),
    ("serve-function served:anser", "served has no function 'anser' | did you mean 'answer'?"),
    ("serve-function served:number", "'number' in served is not a function but of the type int"),
    ("serve-function served:answer more",
     "served:answer is a Python function, which takes no argument 'more' | leave it"),
    ("serve-function ./nowhere", "the program './nowhere' does not exist | a function is module:function"),
    ("serve-function ./hello.yaml", "./hello.yaml cannot be executed | chmod +x ./hello.yaml"),
])  # fmt: skip
def test_it_is_refused(swf: Swf, line: str, told: str) -> None:
    """An option that says nothing where it stands, and a name that names nothing, are mistakes."""
    for name, text in FILES.items():
        swf.write(name, text)
    arguments = [EVENT if one == "EVENT" else one for one in shlex.split(line)]
    said = " ".join(swf.refused(*arguments).split())
    assert [part for part in told.split(" | ") if part not in said] == []
