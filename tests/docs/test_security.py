"""What SECURITY.md says to be shown by a test is shown by one that there is."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_every_row_names_a_test_that_exists() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and line.count("|") == 5]
    rows = [line for line in rows if not line.startswith(("| what |", "| what stays available |", "| what is held |"))]
    assert len(rows) >= 7
    for row in rows:
        named = re.findall(r"tests/[\w/-]+\.(?:py(?:::\w+)?|yaml)", row.rsplit("|", 2)[1])
        assert named, row
        for one in named:
            path, _, test = one.partition("::")
            text = (ROOT / path).read_text(encoding="utf-8")
            begins = "scenario: " if path.endswith(".yaml") else rf"(?:async )?def {test or 'test_'}"
            assert re.search(rf"^{begins}", text, re.MULTILINE), one
