"""Are definitions that stand in documents of their own found, and missing ones tolerated?"""

from pathlib import Path

import pytest

from swf_temporal.loading import check, check_file

WORKFLOW = """
id: a
functions: {functions}
states:
- name: A
  type: operation
  actions: [{functionRef: f}]
  end: true
""".lstrip()


def workflow(functions: str) -> str:
    """Return a definition whose functions are what *functions* says."""
    return WORKFLOW.replace("{functions}", functions)


@pytest.mark.parametrize(
    ("uri", "text"),
    [
        ("defs/functions.json", '{"functions": [{"name": "f", "operation": "a.json#f"}]}'),
        ("functions.yaml", "- name: f\n  operation: a.json#f\n"),
        ("file://functions.yml", "functions:\n- name: f\n  operation: a.json#f\n"),
    ],
)
def test_definitions_beside_the_workflow(tmp_path: Path, uri: str, text: str) -> None:
    """A relative URI names a file beside the definition, which holds a list or an object around one."""
    file = tmp_path / uri.removeprefix("file://")
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    checked = check(workflow(uri), folder=tmp_path)
    assert checked.errors == ()
    assert checked.workflow is not None
    assert checked.workflow.functions[0].operation == "a.json#f"
    assert checked.workflow.externals["functions"].uri == uri


def test_the_text_that_travels_is_complete(tmp_path: Path) -> None:
    """A workflow's source holds what stood elsewhere, so that it means the same where those files are not."""
    (tmp_path / "f.yml").write_text("- {name: f, operation: a.json#f}")
    path = tmp_path / "a.yml"
    path.write_text(workflow("f.yml"))
    first = check_file(path).workflow
    assert first is not None
    again = check(first.source.text).workflow
    assert again is not None
    assert again.functions[0].operation == "a.json#f"
    assert again.digest == first.digest


@pytest.mark.parametrize("uri", ["functions.json", "https://example.com/functions.json", "http://[", "\\u0000"])
def test_missing_definitions(tmp_path: Path, uri: str) -> None:
    """What is not found is a warning, and references to it are not checked."""
    checked = check(workflow(f'"{uri}"'), folder=tmp_path)
    assert checked.errors == ()
    assert [warning.code for warning in checked.warnings] == ["spec-version", "external-missing"]


def test_broken_definitions(tmp_path: Path) -> None:
    """What is found but cannot be read is told with its own file and place."""
    (tmp_path / "f.json").write_text('[{"name": "f",\n "operation" 1}]')
    (problem,) = check(workflow("f.json"), folder=tmp_path).errors
    assert problem.file == str(tmp_path / "f.json")
    assert (problem.position.line, problem.position.column) == (2, 14)


def test_problems_in_definitions_stand_at_their_uri(tmp_path: Path) -> None:
    """A problem about what came from elsewhere is shown where the definition names it."""
    (tmp_path / "f.json").write_text('[{"name": "f", "type": "rest"}]')
    (problem,) = check(workflow("f.json"), folder=tmp_path).errors
    assert problem.message == "function 'f' of the type rest has no operation"
    assert (problem.position.line, problem.position.column) == (2, 12)
