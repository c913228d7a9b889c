"""Runs keep the reading of 0.5 and 0.6 that they began with; new ones read them as their own texts say."""

from typing import Any

import pytest

from swf_temporal.languages.serverless_workflow.execution.prepared import PreparedProgram
from swf_temporal.loading import load, load_pinned
from swf_temporal.runtime.semantics import SEMANTICS, reads_own_version

BEFORE = 3
"""The last reading in which all versions were read as 0.8 with other spellings."""

OLD = """
id: shop
schemaVersion: "0.6"
functions: [{name: ship, operation: "shop.json#ship"}]
retries: [{name: once, delay: PT1M, maxAttempts: 1}]
states:
- name: Ship
  type: operation
  actions: [{functionRef: ship, timeout: PT1M}]
  onErrors: [{error: "*", retryRef: once, transition: Wait}]
  transition: Wait
- {name: Wait, type: subflow, workflowId: other, waitForCompletion: false, end: true}
"""


def prepared(semantics: int) -> Any:
    """Return the program that a run with that reading carries out, from the text that it carries."""
    definition = load_pinned(OLD, name="shop")
    program = definition.language.prepare(definition, semantics)
    assert isinstance(program, PreparedProgram)
    return program.workflow


def test_a_run_keeps_its_reading() -> None:
    """What 0.8 did not know meant nothing in runs of before, and attempts were counted from the first."""
    workflow = prepared(BEFORE)
    ship, wait = workflow.states

    assert workflow.language_version == "0.8"
    assert not workflow.retries[0].counts_retries
    assert (ship.actions[0].timeout, ship.on_errors[0].retry_ref) == (None, None)
    assert wait.actions[0].sub_flow_ref.invoke == "sync"


def test_a_new_run_reads_the_version_as_it_is() -> None:
    """Of the same text."""
    workflow = prepared(SEMANTICS)
    ship, wait = workflow.states

    assert workflow.language_version == "0.6"
    assert workflow.retries[0].counts_retries
    assert (ship.actions[0].timeout, ship.on_errors[0].retry_ref) == ("PT1M", "once")
    assert wait.actions[0].sub_flow_ref.invoke == "async"


@pytest.mark.parametrize("version", ["0.7", "0.8"])
def test_other_versions_read_alike(version: str) -> None:
    """Nothing was read otherwise of these."""
    definition = load(f'id: a\nspecVersion: "{version}"\nstates: [{{name: A, type: inject, data: {{}}, end: true}}]\n')
    programs = [definition.language.prepare(definition, number) for number in (BEFORE, SEMANTICS)]

    assert programs[0].workflow == programs[1].workflow  # type: ignore[attr-defined]  # this language's programs have one


def test_the_number_decides() -> None:
    """From the fourth reading on."""
    assert [reads_own_version(number) for number in (BEFORE, BEFORE + 1)] == [False, True]
