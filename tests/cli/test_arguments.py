"""What texts on a command line stand for."""

import os
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
