"""A language of its own is added by one package and one line, and runs on both hosts."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from swf_temporal.editing import EditedDocument, Span, hover
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.describing import Description
from swf_temporal.languages.known import LANGUAGES
from swf_temporal.languages.loading import check, load
from swf_temporal.runtime.host import TraceEntry
from swf_temporal.runtime.run import Run
from swf_temporal.sdk.scenarios.host import scenario_host
from swf_temporal.simulation.scenario import Scenario, canonical, context_of, read_scenarios, run
from swf_temporal.simulation.scenario import check as differences_of

SCENARIOS = read_scenarios(Path(__file__).parent / "steps" / "scenarios.yaml")
RUNNING = [one for one in SCENARIOS if not one.is_refused]
MORNING = """
id: morning
steps: [{set: {cups: 2}}, {wait: PT5M}, {call: brew}]
"""


@pytest.fixture(autouse=True)
def _known() -> Iterator[None]:
    LANGUAGES.append("tests.languages.steps.language")
    yield
    LANGUAGES.pop()


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.claim)
def test_its_scenarios_hold(scenario: Scenario) -> None:
    _, differences = run(scenario)
    assert differences == []


@pytest.mark.parametrize("scenario", RUNNING, ids=lambda one: one.claim)
def test_its_runs_survive_suspension(scenario: Scenario) -> None:
    """What a run of it writes down is enough to go on with, after each of its steps."""

    def suspended(at: int) -> tuple[Any, int]:
        context, steps = context_of(scenario), 0

        def look(running: Run, _: TraceEntry) -> None:
            nonlocal steps
            steps += 1
            if steps == at:
                running.suspend()

        context.on_trace, context.resumed = look, lambda progress: json.loads(json.dumps(progress))
        return context.run(scenario.input), steps

    undisturbed, steps = suspended(0)
    assert steps >= 2
    for step in range(1, steps + 1):
        again, _ = suspended(step)
        assert (again.output, again.error, again.elapsed) == (
            undisturbed.output, undisturbed.error, undisturbed.elapsed,
        )  # fmt: skip
        assert again.calls == undisturbed.calls


@pytest.mark.temporal
async def test_its_scenarios_hold_on_temporal() -> None:
    async with scenario_host() as host:
        for scenario in RUNNING:
            simulated, _ = run(scenario)
            assert simulated is not None
            observed = await host.observe(scenario)
            assert differences_of(scenario, observed) == []
            assert canonical(observed.trace) == canonical(simulated.trace)


def test_its_definitions_are_described() -> None:
    definition = load(MORNING)
    described = Description(definition, Catalogue([definition]), datetime(2030, 1, 1, tzinfo=UTC), lambda _: {})
    assert [part.path for part in definition.outline.every_part] == ["0 set", "1 wait", "2 call"]
    assert described.facts["parts"][0]["ways"] == [{"on": "completion", "to": "1 wait"}]
    assert [(one["name"], one["calledBy"]) for one in described.facts["functions"]] == [("brew", ["2 call"])]
    assert "  1 wait: wait\n    wait PT5M\n    → 2 call\n" in described.text()
    assert described.mermaid().splitlines()[-3:] == ["    s1 --> s2", "    s2 --> s3", "    s3 --> [*]"]


def test_editors_are_told_its_names_and_values(tmp_path: Path) -> None:
    """Names stand where it has them, such as keys, and an expression in its own form yields a value for a sample."""
    text = "id: menu\nsteps:\n  - beside:\n      left: [{call: brew}]\n  - set: {cups: 2, more: =.cups + 1}\n"
    (tmp_path / "scenario.yaml").write_text("scenario: a\nworkflow: menu.yaml\ninput: {cups: 3}\n")
    (tmp_path / "menu.yaml").write_text(text)
    document = EditedDocument(str(tmp_path / "menu.yaml"), tmp_path)
    document.change(text)
    names = [(one.kind.value, one.name, one.position.line, one.defines) for one in document.marks]
    assert names == [("state", "left", 4, True), ("function", "brew", 4, False)]
    shown = "  - set:\n      more: =.cups + 1"
    document.change(f"id: menu\nsteps:\n{shown}\n")
    told = hover(document, 3, 15)
    assert told is not None
    assert told[0] == Span(3, 12, 22)
    assert "yields\n```json\n4\n```" in told[1]


def test_another_language_is_not_taken_for_it() -> None:
    assert [problem.code for problem in check("id: x\nsteps:\n  - drink: all\n").problems] == ["step-kind"]
    other = load(
        {"id": "x", "specVersion": "0.8", "states": [{"name": "A", "type": "inject", "data": {}, "end": True}]}
    )
    assert other.language.name == "serverless-workflow"
