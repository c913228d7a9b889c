"""What is read as a Direktiv definition, what is not, and what any text does: no traceback, whatever it is."""

from pathlib import Path
from typing import Any

import pytest

from swf_temporal.expressions.json_schema import DataSchemaValidator
from swf_temporal.languages.direktiv.language import LANGUAGE
from swf_temporal.languages.loading import check, load, load_pinned
from swf_temporal.simulation.model.scenario import InlineDefinition
from swf_temporal.simulation.reading import read_scenarios
from swf_temporal.text.located import plain

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
    """States with names, and definitions that say their version, are Serverless Workflow's."""
    checked = check(text)
    assert checked.definition is None or checked.definition.language is not LANGUAGE
    assert checked.problems


def test_the_whole_language_is_read_and_fits_its_schema() -> None:
    """A definition with everything is valid, for our reading and for editors."""
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
