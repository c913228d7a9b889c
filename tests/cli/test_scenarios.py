"""`swf test` as a process, with `--coverage` and `--report`."""

import signal
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from swf_temporal.sdk.scenarios.host import scenario_host
from swf_temporal.simulation.scenario import canonical, check, find_scenarios, run
from tests.cli.conftest import Swf

HOLDS = """\
scenario: Waits for money
workflow: waiter.yaml
events: [{type: com.paid, source: shop, data: {a: 1}}]
expect: {output: {a: 1}, states: [Wait]}
"""
FAILS = """\
scenario: Expects too much
workflow: waiter.yaml
events: [{type: com.paid, source: shop, data: {a: 1}}]
expect: {output: {a: 2}}
"""
REFUSED = """\
scenario: Leads nowhere
workflow: {id: lost, specVersion: "0.8", states: [{name: A, type: inject, data: {}, transition: B}]}
expect: {problems: [{code: transition-target, at: "2:97"}]}
"""
TIMELY = """\
scenario: Takes its time
workflow:
  id: timely
  specVersion: "0.8"
  functions: [{name: slow, type: custom, operation: slow}, {name: quick, type: custom, operation: quick}]
  retries: [{name: later, delay: PT10M, maxAttempts: 3}]
  states:
    - name: Race
      type: parallel
      branches:
        - {name: one, actions: [{functionRef: slow}]}
        - {name: two, actions: [{sleep: {before: PT30M}, functionRef: quick, retryRef: later}]}
      transition: Limited
    - name: Limited
      type: operation
      actions: [{functionRef: slow}]
      timeouts: {actionExecTimeout: PT5M}
      end: true
functions:
  slow: {returns: {slow: true}, takes: PT1H}
  quick: {then: [{raises: {code: 503}}, {returns: {quick: true}, takes: PT1M}]}
expect: {error: {name: TimedOut, state: Limited}, calls: {slow: 2, quick: 2}}
"""
STARTS = """\
scenario: Starts at nine in Berlin
workflow:
  id: report
  specVersion: "0.8"
  start: {stateName: Report, schedule: {cron: "0 9 * * *"}}
  states: [{name: Report, type: inject, data: {}, end: true}]
expect:
  starts: {after: 2026-01-05T00:00:00Z, before: 2026-01-06T00:00:00Z, at: [2026-01-05T09:00:00+01:00]}
---
scenario: Starts twice
workflow:
  id: report
  specVersion: "0.8"
  start: {stateName: Report, schedule: R2/PT1H}
  states: [{name: Report, type: inject, data: {}, end: true}]
expect:
  starts: {after: 2026-01-05T00:00:00Z, at: [2026-01-05T01:00:00Z, 2026-01-05T02:00:00Z, 2026-01-05T03:00:00Z]}
---
scenario: Starts by itself
workflow: {id: plain, specVersion: "0.8", states: [{name: A, type: inject, data: {}, end: true}]}
expect: {starts: {after: 2026-01-05T00:00:00Z, before: 2026-01-06T00:00:00Z, at: []}}
"""
DIFFER = "starts: the expected value (-) and the actual one (+) differ"
DELAYS = """\
scenario: Has the longest delay
workflow:
  id: again
  specVersion: "0.8"
  functions: [{name: work, type: custom}]
  retries: [{name: later, delay: PT10S, jitter: 0.5, maxAttempts: 3}]
  states: [{name: Work, type: operation, actions: [{functionRef: work, retryRef: later}], end: true}]
functions: {work: {then: [{raises: {code: a}}, {raises: {code: b}}, {done: true}]}}
chance: [1, 0.5]
expect: {output: {done: true}, delays: {work: [PT15S]}}
"""


def test_says_what_does_not_hold(swf: Swf) -> None:
    swf.write("good.yaml", HOLDS)
    held = swf("test", "good.yaml")
    assert (held.code, held.out, held.err) == (
        0, "✓  good.yaml:1: Waits for money (simulation)\n", "1 passed, 0 failed\n",
    )  # fmt: skip
    lost = swf("test", "good.yaml", "--junit", "nowhere/report.xml")
    assert (lost.code, "cannot be written" in lost.err) == (2, True)
    swf.write("bad.yaml", FAILS)
    failed = swf("test", ".")
    assert (failed.code, failed.err) == (1, "1 passed, 1 failed\n")
    assert (
        '✗  bad.yaml:1: Expects too much (simulation)\n     output: expected {"a": 2}, but it is {"a": 1}' in failed.out
    )
    assert swf("test", ".", "-k", "MONEY").code == 0


@pytest.mark.parametrize("host", ["simulation", "temporal", "both"])
def test_what_is_refused_is_only_read(swf: Swf, host: str) -> None:
    swf.write("refused.yaml", f"{REFUSED}---\n{REFUSED.replace('2:97', '2:1').replace('Leads', 'Goes')}")
    ended = swf("test", "refused.yaml", "--host", host)
    assert (ended.code, ended.err) == (1, "1 passed, 1 failed\n")
    assert ended.out.splitlines() == [
        "✓  refused.yaml:1: Leads nowhere (reading)",
        "✗  refused.yaml:5: Goes nowhere (reading)",
        "     problems[0].at: expected '2:1', but it is '6:97'",
    ]


@pytest.mark.temporal
def test_on_both_hosts(swf: Swf) -> None:
    only = "hosts: [simulation]\nwhy: it is so\n"
    swf.write("all.yaml", "---\n".join([HOLDS, FAILS, HOLDS.replace("Waits", "Hopes") + only]))
    swf.write("starts.yaml", STARTS)
    swf.write("delays.yaml", DELAYS)
    ended = swf("test", "all.yaml", "delays.yaml", "starts.yaml", "--host", "both", "--junit", "report.xml")
    assert (ended.code, ended.err) == (1, "3 passed, 10 failed, 1 left out\n")
    suite = ET.parse(swf.folder / "report.xml").getroot()  # noqa: S314 - it is our own
    assert [suite.get(key) for key in ("tests", "failures", "skipped")] == ["14", "10", "1"]
    differences = [
        ['output: expected {"a": 2}, but it is {"a": 1}'],
        ["delays of work: expected 0:00:15, but they are 0:00:15, 0:00:15"],
        [DIFFER, "- 2026-01-05T09:00:00+01:00", "+ 2026-01-05T09:00:00Z"],
        [DIFFER, "2026-01-05T01:00:00Z", "2026-01-05T02:00:00Z", "- 2026-01-05T03:00:00Z"],
        ["starts: the definition 'plain' has no schedule", "it is written under start: schedule:"],
    ]
    told = [line.strip() for line in ended.out.splitlines() if line.startswith(" ")]
    assert [line for line in told if "why" not in line] == [one for each in differences for one in each * 2]


def test_broken_workflow(swf: Swf) -> None:
    swf.write("bad.yaml", "scenario: Broken\nworkflow: {id: x, specVersion: '0.8', states: 7}\n")
    ended = swf("test", "bad.yaml")
    assert ended.code == 1
    assert "✗  bad.yaml:1: Broken" in ended.out


@pytest.mark.temporal
async def test_time_is_virtual_on_temporal(tmp_path: Path) -> None:
    """Hours, retries and timeouts pass at once on Temporal, in the order in which they pass in simulation."""
    (tmp_path / "timely.yaml").write_text(TIMELY)
    [scenario] = find_scenarios([tmp_path])
    simulation, differences = run(scenario)
    assert simulation is not None
    assert not differences
    async with scenario_host() as host:
        observed = await host.observe(scenario)
    assert check(scenario, observed) == []
    assert canonical(observed.trace) == canonical(simulation.trace)


ENDLESS = """\
scenario: Ends
workflow: {id: short, specVersion: "0.8", states: [{name: Say, type: inject, data: {}, end: true}]}
---
scenario: Never ends
workflow:
  id: endless
  specVersion: "0.8"
  states:
    - {name: Nap, type: sleep, duration: PT1S, transition: Nap again}
    - {name: Nap again, type: sleep, duration: PT1S, transition: Nap}
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_simulation_without_an_end_can_be_stopped(swf: Swf, number: signal.Signals, code: int) -> None:
    swf.write("endless.yaml", ENDLESS)
    with swf.running("test", "endless.yaml") as test:
        assert test.process.stdout is not None
        assert "Ends (simulation)" in test.process.stdout.readline()
        assert test.stop(number).code == code


DEFINITION = """\
id: chooses
specVersion: "0.8"
states:
  - name: Which
    type: switch
    dataConditions: [{name: big, condition: "${ .n > 3 }", transition: Big}]
    defaultCondition: {transition: Small}
  - {name: Big, type: inject, data: {}, end: true}
  - {name: Small, type: inject, data: {}, end: true}
"""
SMALL = """\
scenario: Takes what is small <b>
workflow: chooses.yaml
input: {n: 1}
"""
BIG = """\
---
scenario: Takes what is big
workflow: chooses.yaml
input: {n: 5}
expect: {output: {never: true}}
"""


def test_coverage(swf: Swf) -> None:
    swf.write("chooses.yaml", DEFINITION)
    swf.write("small.yaml", SMALL)
    ended = swf("test", "small.yaml", "--coverage", "60")
    assert ended.code == 1
    assert ended.err.splitlines() == [
        "coverage: 57 % of chooses (chooses.yaml): 4 of 7 states, branches and ways", "  not reached: Big",
        "  not taken: Which → Big, big", "  not taken: Big → end", "1 passed, 0 failed",
    ]  # fmt: skip
    assert swf("test", "small.yaml", "--coverage", "57").code == 0


def test_report(swf: Swf) -> None:
    swf.write("chooses.yaml", DEFINITION)
    swf.write("both.yaml", SMALL + BIG)
    ended = swf("test", "both.yaml", "--report", "report.html")
    assert ended.code == 1
    page = (swf.folder / "report.html").read_text()
    assert (page.count("<svg "), page.count("<details>")) == (3, 2)
    assert "2 scenarios" in page
    assert "100 % of chooses" in page
    assert "Takes what is small &lt;b&gt;" in page
    assert "✗ both.yaml" in page
    assert "never" in page
