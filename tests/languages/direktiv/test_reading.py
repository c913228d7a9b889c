"""What is read as a Direktiv definition, what is not, and which of its versions is meant."""

import json
from pathlib import Path
from typing import Any

import pytest

from swf_temporal import simulate
from swf_temporal.expressions.json_schema import DataSchemaValidator
from swf_temporal.languages.direktiv.language import LANGUAGE
from swf_temporal.languages.direktiv.names import name_at, split_name
from swf_temporal.languages.loading import check, load, load_pinned
from swf_temporal.sdk.definitions import catalogue_of
from swf_temporal.simulation.model.scenario import InlineDefinition
from swf_temporal.simulation.reading import read_scenarios
from swf_temporal.text.origin import plain

SCENARIOS = Path(__file__).parents[2] / "scenarios" / "direktiv"
WHOLE: dict[str, Any] = {
    "functions": [
        {"type": "knative-workflow", "id": "f", "image": "x", "size": "small", "cmd": "run", "scale": 1},
        {"type": "subflow", "id": "sub", "workflow": "other"},
    ],
    "start": {"type": "eventsAnd", "lifespan": "PT1H", "correlate": ["k"], "events": [{"type": "a", "filters": {}}]},
    "timeouts": {"interrupt": "PT1H", "kill": "PT2H"},
    "states": [
        {"id": "a", "type": "noop", "log": "jq(.)", "metadata": {"m": 1}, "transition": "b"},
        {"id": "b", "type": "switch", "conditions": [{"condition": "jq(.x)", "transition": "c"}],
         "defaultTransition": "d"},
        {"id": "c", "type": "action", "action": {"function": "f", "retries": {"max_attempts": 1, "codes": [".*"]}},
         "catch": [{"error": "*", "transition": "d"}], "transition": "d"},
        {"id": "d", "type": "foreach", "array": "jq([{a: 1}])", "action": {"function": "f"}, "transition": "e"},
        {"id": "e", "type": "parallel", "mode": "or", "actions": [{"function": "f"}], "transition": "g"},
        {"id": "g", "type": "eventsXor", "timeout": "PT1S", "events": [{"event": {"type": "x"}, "transform": {"a": 1}}],
         "transition": "h", "catch": [{"error": "direktiv.*", "transition": "h"}]},
        {"id": "h", "type": "setter", "variables": [{"key": "k", "scope": "workflow", "value": "jq(.x)"}],
         "transition": "i"},
        {"id": "i", "type": "getter", "variables": [{"key": "k", "scope": "workflow", "as": "v"}], "transition": "j"},
        {"id": "j", "type": "validate", "subject": "jq(.)", "schema": {"type": "object"}, "transition": "l"},
        {"id": "l", "type": "generateEvent", "event": {"type": "t", "source": "s", "data": "jq(.x)"},
         "transition": "m"},
        {"id": "m", "type": "delay", "duration": "PT1S", "transition": "n"},
        {"id": "n", "type": "error", "error": "an.error", "message": "jq(.x) %v", "args": ["jq(.x)"]},
    ],
}  # fmt: skip


@pytest.mark.parametrize("type_", ["parallel", "foreach", "switch", "eventsAnd", "eventsXor", "eventAnd", "noop"])
def test_one_state_is_enough_to_be_recognised(type_: str) -> None:
    found = check(f"states:\n- {{id: a, type: {type_}}}\n")
    assert "dialect" not in {problem.code for problem in found.problems}
    assert "the workflow has no id" not in {problem.message for problem in found.problems}
    assert LANGUAGE.recognises(load({"states": [{"id": "a", "type": "noop"}]})._root)  # type: ignore[attr-defined]  # its own


@pytest.mark.parametrize(
    "text",
    ["id: a\nspecVersion: '0.8'\nstates:\n- {name: A, type: switch}\n", "id: a\nstates:\n- {name: A, type: parallel}\n",
     "specVersion: '0.8'\nstates:\n- {id: a, type: switch}\n"],
)  # fmt: skip
def test_other_languages_are_not_taken_for_it(text: str) -> None:
    checked = check(text)
    assert checked.definition is None or checked.definition.language is not LANGUAGE
    assert checked.problems


def test_the_whole_language_is_read_and_fits_its_schema() -> None:
    definition = load(WHOLE)
    assert definition.language.name == "direktiv"
    schema = LANGUAGE.json_schema()
    assert DataSchemaValidator(schema).violations(WHOLE) == []
    assert DataSchemaValidator(schema).violations({**WHOLE, "states": [{"id": "a", "type": "none"}]})
    assert DataSchemaValidator(schema).violations({**WHOLE, "unknown": 1})


@pytest.mark.parametrize("file", sorted(SCENARIOS.glob("*.yaml")), ids=lambda one: one.name)
def test_what_runs_in_scenarios_fits_the_schema(file: Path) -> None:
    schema = DataSchemaValidator(LANGUAGE.json_schema())
    for scenario in read_scenarios(file):
        assert isinstance(scenario.workflow, InlineDefinition)
        assert schema.violations(plain(scenario.workflow.definition)) == []


def test_what_travels_says_its_place() -> None:
    """A definition that was found by a path is known by it wherever its text is read again."""
    placed = load(WHOLE).placed_at("/a/whole.yaml")
    again = load_pinned(placed.source.text, name="elsewhere")
    assert (again.id, again.digest) == ("/a/whole.yaml", placed.digest)
    assert placed.placed_at("/other.yaml") is placed


def test_the_diagram_has_every_way() -> None:
    parts = {part.path: part for part in load(WHOLE).outline.parts}
    assert {way.to for way in parts["g"].ways} == {"h"}
    assert {way.to for way in parts["b"].ways} == {"c", "d"}
    assert parts["n"].ends


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


@pytest.mark.parametrize(("reference", "output"), [
    ("a/b", "now"), ("/a/b.yaml", "now"), ("a/b:latest", "now"), ("a/b:v1", "v1"), ("/a/b.yaml:v2", "v2"),
    ("a/only", "1.10"), ("a/only:1.9", "1.9"),
])  # fmt: skip
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
    assert (run.output, run.variables["workflow"]) == ({"n": 7}, {"/a/c.yaml": {"n": 7}})


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


@pytest.mark.parametrize(("path", "name", "split"), [
    ("/a/b.yaml", "/a/b.yaml", ("/a/b.yaml", None)),
    ("/a/b@v1.yaml", "/a/b.yaml:v1", ("/a/b.yaml", "v1")),
    ("/a@x/b:1.0.yml", "/a@x/b.yml:1.0", ("/a@x/b.yml", "1.0")),
    ("/b@latest.yaml", "/b.yaml", ("/b.yaml", None)),
    ("/@v1.yaml", "/@v1.yaml", ("/@v1.yaml", None)),
    ("/b@.yaml", "/b@.yaml", ("/b@.yaml", None)),
])  # fmt: skip
def test_names_of_files(path: str, name: str, split: tuple[str, str | None]) -> None:
    assert name_at(path) == name
    assert split_name(name) == split
