"""`swf test --coverage` and `--report` as a process."""

from tests.cli.conftest import Swf

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
