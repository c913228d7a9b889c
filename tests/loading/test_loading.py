"""Does a definition load from wherever it is, or say everything that keeps it from loading?"""

import json
from pathlib import Path

import pytest

from swf_temporal.base.errors import InvalidDefinition, UsageError
from swf_temporal.languages.loading import check, check_file, files_in, load
from swf_temporal.sdk.definitions import catalogue_of

TEXT = 'id: hello\nspecVersion: "0.8"\nstates:\n- {name: A, type: inject, data: {a: 1}, end: true}\n'
BROKEN = TEXT.replace("end: true", "transition: B")


def test_a_text_a_file_and_an_object_are_the_same(tmp_path: Path) -> None:
    path = tmp_path / "hello.yaml"
    path.write_text(TEXT)
    document = {
        "id": "hello", "specVersion": "0.8", "states": [{"name": "A", "type": "inject", "data": {"a": 1}, "end": True}],
    }  # fmt: skip
    loaded = [load(TEXT), load(path), load(str(path)), load(document), load(json.dumps(document))]
    assert [(one.id, one.outline) for one in loaded] == [(loaded[0].id, loaded[0].outline)] * 5
    with pytest.raises(UsageError, match="is not JSON"):
        load({"id": object()})


def test_a_workflow_knows_its_source(tmp_path: Path) -> None:
    path = tmp_path / "hello.yaml"
    path.write_text(TEXT)
    assert load(path).source.name == str(path)
    assert load(path).source.text == TEXT
    assert load(TEXT, name="greeting").source.name == "greeting"
    assert load(path).digest == load(TEXT).digest


def test_the_same_text_is_loaded_once() -> None:
    assert load(TEXT) is load("".join([TEXT[:10], TEXT[10:]]))


def test_every_problem_at_once() -> None:
    """A broken definition is refused with all of its problems, warnings too, in the order of the text."""
    with pytest.raises(InvalidDefinition) as refused:
        load(BROKEN.replace("states:", "stats: 1\nstates:"), name="orders.yaml")
    assert [(problem.code, problem.file) for problem in refused.value.problems] == [
        ("unknown-property", "orders.yaml"),
        ("transition-target", "orders.yaml"),
    ]
    assert "orders.yaml:5:53  error  transition-target  state 'A' leads to 'B'" in str(refused.value)


def test_missing_files(tmp_path: Path) -> None:
    """A path that names no file is the caller's mistake, as a path or as a text that looks like one."""
    for missing in (tmp_path / "no.yaml", str(tmp_path / "no.yaml"), "no.json"):
        with pytest.raises(UsageError, match="cannot be read: No such file"):
            load(missing)
    with pytest.raises(UsageError, match="cannot be read"):
        load(tmp_path)
    with pytest.raises(UsageError, match="is not a folder"):
        files_in(tmp_path / "no")


def test_a_file_that_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"id: \xff\xfe\n")
    (problem,) = check_file(path).problems
    assert (problem.code, problem.message) == ("encoding", "this is not text in UTF-8: byte 4 is 0xFF")


def test_a_folder(tmp_path: Path) -> None:
    """All workflows in a folder load, in the order of their paths; what holds none is passed over."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "b.sw.json").write_text(
        json.dumps({"id": "b", "states": [{"name": "A", "type": "inject", "data": 1, "end": True}]})
    )
    (tmp_path / "a.yml").write_text(TEXT)
    (tmp_path / "sub" / "c.yaml").write_text(TEXT.replace("hello", "deep"))
    (tmp_path / "openapi.json").write_text('{"openapi": "3.0.0", "paths": {}}')
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "notes.txt").write_text(TEXT)
    (tmp_path / "tests.yaml").write_text(
        "scenario: Greets\nworkflow: a.yml\nexpect:\n  states: [A]\n---\nscenario: Again\n"
    )
    assert [workflow.id for workflow in catalogue_of([tmp_path])] == ["hello", "b", "deep"]


def test_a_file_that_cannot_be_read_is_not_passed_over(tmp_path: Path) -> None:
    """A hidden one is, such as an editor's lock, which is a link to nowhere."""
    (tmp_path / "a.yaml").write_text(TEXT)
    (tmp_path / ".#a.yaml").symlink_to("nobody@nowhere")
    assert [workflow.id for workflow in catalogue_of([tmp_path])] == ["hello"]
    (tmp_path / "b.yaml").symlink_to("nowhere.yaml")
    with pytest.raises(UsageError, match=r"b\.yaml cannot be read: No such file or directory"):
        catalogue_of([tmp_path])


def test_a_folder_with_broken_workflows(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(BROKEN)
    (tmp_path / "b.yaml").write_text(TEXT.replace("type: inject", "type: injct"))
    (tmp_path / "c.sw.yaml").write_text("a: b: c")
    (tmp_path / "d.yaml").write_text(TEXT)
    with pytest.raises(InvalidDefinition) as refused:
        catalogue_of([tmp_path])
    assert [(Path(problem.file).name, problem.code) for problem in refused.value.problems] == [
        ("a.yaml", "transition-target"),
        ("b.yaml", "enum"),
        ("c.sw.yaml", "syntax"),
    ]


def test_errors_and_warnings_are_told_apart() -> None:
    checked = check(BROKEN.replace('specVersion: "0.8"\n', ""))
    assert checked.definition is None
    assert [problem.code for problem in checked.errors] == ["transition-target"]
    assert [problem.code for problem in checked.warnings] == ["spec-version"]
    assert check(TEXT).problems == ()
