"""Each row of the page about zigflow has a scenario, and each scenario about zigflow a row."""

import re
from pathlib import Path

from tests.corpus import CORPUS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/from-zigflow.md"
LINK = re.compile(r"\| \[(?P<claim>.+)\]\((?P<file>\.\./tests/scenarios/[\w/]+\.yaml)\) \|$")


def test_each_row_has_a_scenario() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    rows = [row for row in rows if not row.endswith("| shown by |")]
    found = [LINK.search(row) for row in rows]
    assert [row for row, link in zip(rows, found, strict=True) if link is None] == []
    shown = {((PAGE.parent / link["file"]).resolve(), link["claim"]) for link in found if link is not None}
    about = {(one.file.resolve(), one.claim) for one in CORPUS if "zigflow" in one.file.relative_to(ROOT).as_posix()}
    assert shown == about
