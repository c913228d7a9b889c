"""What a checker is told to overlook has a reason beside it."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("swf_temporal", "release", "bench", "examples")

_SUPPRESSED = re.compile(r"#\s*(?:noqa\b|type:\s*ignore\b)")
_WITH_REASON = re.compile(
    r"#\s*(?:type: ignore\[[a-z-]+(?:,\s*[a-z-]+)*\]\s+# (?:noqa: [A-Z]+\d+ - )?\S"
    r"|noqa: [A-Z]+\d+(?:, ?[A-Z]+\d+)* - \S)"
)


def test_a_suppression_has_a_reason() -> None:
    """It names what it suppresses, too; that it is needed at all is checked by ruff and mypy."""
    files = [file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.py"))]
    lines = [(file, number, line) for file in files for number, line in enumerate(_lines(file), 1)]
    found = [(file, number, line) for file, number, line in lines if _SUPPRESSED.search(line)]
    assert len(found) > 100
    bare = [f"{file.relative_to(ROOT)}:{number}" for file, number, line in found if not _WITH_REASON.search(line)]
    assert bare == []


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines()
