"""Versions of a workflow: files beside it whose names bear a ref."""

import json
from pathlib import Path
from typing import Any

import pytest

from swf_temporal import simulate
from swf_temporal.languages.direktiv.names import name_at, split_name
from swf_temporal.languages.loading import load, load_pinned
from swf_temporal.sdk.definitions import catalogue_of


def saying(text: str) -> dict[str, Any]:
    return {"states": [{"id": "say", "type": "noop", "transform": {"said": text}}]}


def calling(reference: str) -> dict[str, Any]:
    return {
        "functions": [{"id": "child", "type": "subflow", "workflow": reference}],
        "states": [{"id": "call", "type": "action", "action": {"function": "child"}, "transform": "jq(.return)"}],
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a workflow, two versions of it, and one of which there are versions alone."""
    (tmp_path / "a").mkdir()
    for name, text in (("b.yaml", "now"), ("b@v1.yaml", "v1"), ("b:v2.yaml", "v2"), ("only@1.9.yml", "1.9"),
                       ("only@1.10.yml", "1.10")):  # fmt: skip
        (tmp_path / "a" / name).write_text(json.dumps(saying(text)))
    return tmp_path


@pytest.mark.parametrize(
    ("reference", "output"),
    [
        ("a/b", "now"),
        ("/a/b.yaml", "now"),
        ("a/b:latest", "now"),
        ("a/b:v1", "v1"),
        ("/a/b.yaml:v2", "v2"),
        ("a/only", "1.10"),
        ("a/only:1.9", "1.9"),
    ],
)
def test_a_version_is_found(folder: Path, reference: str, output: str) -> None:
    """As a subflow, and from outside; without one the file without a ref is meant, else the highest."""
    assert simulate(calling(reference), {}, namespace=folder).output == {"said": output}
    assert simulate(reference, {}, namespace=folder).output == {"said": output}


def test_one_that_is_not_there(folder: Path) -> None:
    error = simulate(calling("a/b:v3"), {}, namespace=folder).error
    assert error is not None
    assert (error.code, error.message) == ("direktiv.workflow.notfound", "workflow 'a/b:v3' was not found")


def test_versions_call_one_another(folder: Path) -> None:
    """A version may call the present one under the same path: one run has both, and they share their variables."""
    stored = [{"key": "n", "scope": "workflow", "value": 7}]
    loaded = [{"key": "n", "scope": "workflow"}]
    calls = calling("./c.yaml")
    calls["states"].insert(0, {"id": "set", "type": "setter", "variables": stored, "transition": "call"})
    (folder / "a" / "c@old.yaml").write_text(json.dumps(calls))
    new = {"states": [{"id": "get", "type": "getter", "variables": loaded, "transform": "jq(.var)"}]}
    (folder / "a" / "c.yaml").write_text(json.dumps(new))
    run = simulate("/a/c.yaml:old", {}, namespace=folder)
    assert run.output == {"n": 7}
    assert run.variables["workflow"] == {"/a/c.yaml": {"n": 7}}


def test_what_travels_says_its_version(folder: Path) -> None:
    """The text that a run carries has path and ref, so that it is known by them wherever it is read."""
    catalogue = catalogue_of([folder])
    one = catalogue.find("/a/b.yaml", "v1")
    pinned = load_pinned(one.source.text, name=one.source.name)
    assert (pinned.id, pinned.version, pinned.is_latest) == ("/a/b.yaml", "v1", False)
    assert catalogue.find("/a/b.yaml").version is None


def test_an_id_may_have_a_ref() -> None:
    old = load({"id": "child:old", **saying("old")})
    new = load({"id": "child", **saying("new")})
    for reference, output in (("child:old", "old"), ("child", "new")):
        assert simulate(calling(reference), {}, definitions=[old, new]).output == {"said": output}


@pytest.mark.parametrize(
    ("path", "name", "split"),
    [
        ("/a/b.yaml", "/a/b.yaml", ("/a/b.yaml", None)),
        ("/a/b@v1.yaml", "/a/b.yaml:v1", ("/a/b.yaml", "v1")),
        ("/a@x/b:1.0.yml", "/a@x/b.yml:1.0", ("/a@x/b.yml", "1.0")),
        ("/b@latest.yaml", "/b.yaml", ("/b.yaml", None)),
        ("/@v1.yaml", "/@v1.yaml", ("/@v1.yaml", None)),
        ("/b@.yaml", "/b@.yaml", ("/b@.yaml", None)),
    ],
)
def test_names_of_files(path: str, name: str, split: tuple[str, str | None]) -> None:
    """A ref stands before the ending, behind a colon or an at sign."""
    assert name_at(path) == name
    assert split_name(name) == split
