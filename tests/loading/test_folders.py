"""Do definitions in one folder find each other, and what they share?"""

from pathlib import Path

import pytest

from swf_temporal.base.errors import InvalidDefinition
from swf_temporal.sdk.definitions import catalogue_of
from swf_temporal.text.fetching.resources import Resources

PARENT = """
id: parent
specVersion: "0.8"
functions: shared/functions.yaml
states: [{name: A, type: operation, actions: [{functionRef: f}, {subFlowRef: child}], end: {continueAs: next}}]
""".lstrip()
CHILD = """
id: child
version: VERSION
specVersion: "0.8"
functions: ../shared/functions.yaml
states: [{name: A, type: operation, actions: [{functionRef: f}], end: true}]
""".lstrip()
NEXT = 'id: next\nspecVersion: "0.8"\nstates: [{name: A, type: inject, data: {a: 1}, end: true}]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a parent, two versions of its child, what it goes on as, and functions that they share."""
    for name in ("shared", "children"):
        (tmp_path / name).mkdir()
    (tmp_path / "shared" / "functions.yaml").write_text("functions:\n- {name: f, operation: a.json#f}\n")
    (tmp_path / "parent.yaml").write_text(PARENT)
    (tmp_path / "next.yaml").write_text(NEXT)
    for version in ("1.0.0", "1.2.0"):
        (tmp_path / "children" / f"{version}.yaml").write_text(CHILD.replace("VERSION", version))
    return tmp_path


def test_definitions_find_each_other(folder: Path) -> None:
    catalogue = catalogue_of([folder], Resources(folders=(folder,)))
    reached = catalogue.with_reachable(catalogue.find("parent"))
    assert [(one.id, one.version) for one in reached] == [("parent", None), ("child", "1.2.0"), ("next", None)]
    assert [one.functions[0].function.operation for one in reached[:2]] == ["a.json#f"] * 2


def test_a_definition_reads_its_own_folder_alone(folder: Path) -> None:
    """The folder above a definition's own is not its to read, though it was loaded with that."""
    with pytest.raises(InvalidDefinition) as refused:
        catalogue_of([folder])
    assert [(Path(problem.file).name, problem.code) for problem in refused.value.problems] == [
        ("1.0.0.yaml", "external-forbidden"),
        ("1.2.0.yaml", "external-forbidden"),
    ]


def test_a_shared_document_changes_all_that_name_it(folder: Path) -> None:
    """Documents are read anew whenever a folder is loaded, and the digest of what names them changes with them."""
    resources = Resources(folders=(folder,))
    before = {one.source.name: one.digest for one in catalogue_of([folder], resources)}
    (folder / "shared" / "functions.yaml").write_text("functions:\n- {name: f, operation: b.json#f}\n")
    after = {one.source.name: one.digest for one in catalogue_of([folder], resources)}
    assert sorted(Path(name).name for name in before if before[name] != after[name]) == [
        "1.0.0.yaml", "1.2.0.yaml", "parent.yaml",
    ]  # fmt: skip


def test_two_definitions_of_one_version(folder: Path) -> None:
    """Which of two is meant cannot be told: both places are named. Copies of one text do no harm."""
    (folder / "second.yaml").write_text("# another\n" + NEXT)
    (folder / "third.yaml").write_text(NEXT)
    with pytest.raises(InvalidDefinition) as refused:
        catalogue_of([folder], Resources(folders=(folder,)))
    message = "there are several definitions with the id 'next' and no version"
    assert str(refused.value).splitlines() == [
        f"{folder / 'second.yaml'}:2:5  error  duplicate-definition  {message}",
        f"    the first is at {folder / 'next.yaml'}:1",
    ]
