"""Every error that the language knows is in a scenario, and in the documentation."""

import re
from pathlib import Path

from swf_temporal.languages.direktiv import codes

ROOT = Path(__file__).parents[3]
CODES = {value for name, value in vars(codes).items() if name.isupper() and str(value).startswith("direktiv.")}
SHOWN_ELSEWHERE = {codes.CANCELLED_BY_PARENT: "tests/languages/direktiv/test_simulating.py"}
"""A scenario sees the end of its main instance alone, and this is how sub-workflows end."""


UNCATCHABLE = {
    codes.HARD_TIMEOUT, codes.CANCELLED_BY_API, codes.CANCELLED_BY_PARENT, codes.BAD_EVENT,
    codes.SECRET_NOT_FOUND, codes.WORKFLOW_NOT_FOUND, codes.WORKFLOW_UNPARSABLE, codes.INTERNAL,
}  # fmt: skip
ROWS = ("| Can be caught |", "| Cannot be caught |")


def test_every_code_is_in_a_scenario() -> None:
    """Each is expected of a run, or in what it caught, or is in a test of its own."""
    text = "".join(path.read_text("utf-8") for path in (ROOT / "tests/scenarios/direktiv").rglob("*.yaml"))
    expected = set(re.findall(r"\bcode: '?(direktiv(?:\.\w+)+)", text))
    assert CODES - expected == set(SHOWN_ELSEWHERE)
    for code, file in SHOWN_ELSEWHERE.items():
        assert code in (ROOT / file).read_text("utf-8")


def test_every_code_of_a_scenario_is_known() -> None:
    text = "".join(path.read_text("utf-8") for path in (ROOT / "tests/scenarios/direktiv").rglob("*.yaml"))
    assert set(re.findall(r"\bcode: '?(direktiv(?:\.\w+)+)", text)) <= CODES


def test_the_page_has_all_of_them() -> None:
    """Two rows of the semantics page name those that can be caught, and those that cannot."""
    page = (ROOT / "docs/direktiv-semantics.md").read_text("utf-8")
    rows = {row: set(re.findall(r"`([^`]+)`", line)) for line in page.splitlines() for row in ROWS if row in line}
    assert rows == {ROWS[0]: CODES - UNCATCHABLE, ROWS[1]: UNCATCHABLE}
