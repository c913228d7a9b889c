"""The plugin of pytest, in suites of its users."""

import pytest

from tests.definitions import definition
from tests.docs.pages import blocks_of

pytest_plugins = ["pytester"]

PLUGIN = "swf_temporal.pytest_plugin"
OPTIONS = ("-p", PLUGIN, "-p", "no:schemathesis")
"""Those of all runs: without a plugin that takes its time to load."""

DEFINITION = definition("""\
id: payment
functions: [{name: charge, type: custom}]
events: [{name: paid, type: com.paid, source: shop}]
states:
  - {name: Rest, type: sleep, duration: P1D, transition: Charge}
  - {name: Charge, type: operation, actions: [{functionRef: charge}], end: true}
""")

SCENARIOS = """
scenario: Charges after a day
workflow: payment.sw.yaml
functions: {charge: {charged: true}}
expect: {output: {charged: true}, elapsed: P1D}
---
scenario: Charges at once
workflow: payment.sw.yaml
functions: {charge: {charged: true}}
expect: {output: {charged: false}}
"""

SUITE = """
from pathlib import Path

from hypothesis import given, settings
from hypothesis.strategies import integers

DEFINITION = Path(__file__).with_name("payment.sw.yaml")


def test_what_happened_is_told(swf_simulate):
    run = swf_simulate(DEFINITION, functions={"charge": {"charged": False}})
    assert run.output == {"charged": True}


@settings(deadline=None)
@given(amount=integers(0, 9))
def test_with_hypothesis(swf_simulate, amount):
    run = swf_simulate(DEFINITION, functions={"charge": {"charged": amount}})
    assert run.output == {"charged": amount}


def test_a_stub_for_nothing(swf_simulate):
    swf_simulate(DEFINITION, functions={"charge": {}, "chrage": {}})
"""

PAGE = next(one.text for one in blocks_of("docs/testing.md") if "swf_worker" in one.text)
ON_TIME_SKIPPING = """
    async with swf_worker([], skips_time=True) as served:
        await check_on(WorkflowEnvironment(served.client.temporal))
"""
"""What the page leaves to its reader, who may have another environment."""


@pytest.mark.temporal
def test_a_suite(pytester: pytest.Pytester) -> None:
    """Fixtures, and scenarios as tests: what fails tells what differed and what happened."""
    pytester.makefile(".sw.yaml", payment=DEFINITION)
    pytester.makefile(".yaml", scenarios=SCENARIOS, others="scenario: of another program\n")
    pytester.makepyfile(
        test_suite=SUITE,
        test_page=PAGE.replace("\n\n\nasync def check_on", f"{ON_TIME_SKIPPING}\n\nasync def check_on"),
    )
    result = pytester.runpytest_subprocess(*OPTIONS, "-p", "no:cacheprovider", "-v", "-s")
    result.assert_outcomes(passed=4, failed=3)
    result.stdout.fnmatch_lines_random(
        ["*scenarios.yaml::Charges after a day PASSED*", "*scenarios.yaml::Charges at once FAILED*",
         "scenario: Charges at once", "output*charged*", "what happened:", "Rest", "*✓ charge",
         '*completed: {"charged": false} (after 1 day, 0:00:00)', "*no definition has a function 'chrage'*"]
    )  # fmt: skip


def test_scenarios_that_are_not_wanted_or_wrong(pytester: pytest.Pytester) -> None:
    pytester.makefile(".yaml", wrong="scenario: x\nworkflow: nowhere.yaml\nexpected: {}\n")
    result = pytester.runpytest_inprocess(*OPTIONS, "-p", "no:asyncio")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*'expected'*"])
    pytester.makeini("[pytest]\nswf_scenarios = false\n")
    result = pytester.runpytest_inprocess(*OPTIONS, "-p", "no:asyncio")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_importing_the_plugin_costs_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        "import sys\n"
        "def test_it():\n"
        "    found = {one for one in sys.modules if one.startswith('swf_temporal.')}\n"
        "    assert found == {'swf_temporal.cli', 'swf_temporal.cli.pytest_plugin'}\n"
    )
    pytester.runpytest_subprocess(*OPTIONS).assert_outcomes(passed=1)
