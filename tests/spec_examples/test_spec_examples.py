"""Do the official examples load?

They stand beside a development checkout, not in it: without them these tests are skipped.
"""

import re
from pathlib import Path

import pytest

from swf_temporal.base.errors import Position
from swf_temporal.languages.loading import check_file

EXAMPLES = Path(__file__).parents[2].parent / "shared" / "spec" / "examples"
DIALECTS = ("0.8", "0.8-next")

pytestmark = pytest.mark.spec


def _index() -> dict[str, bool]:
    """Return the examples of the dialects that are read here, each with whether it is complete and valid."""
    index = EXAMPLES / "INDEX.md"
    found: dict[str, bool] = {}
    dialect = ""
    for line in index.read_text().splitlines() if index.is_file() else ():
        heading, entry = re.match(r"## (\S+)", line), re.match(r"- `([^`]+)`", line)
        dialect = heading[1] if heading else dialect
        if entry and dialect in DIALECTS:
            found[f"{dialect}/{entry[1]}"] = "| valid CLEAN" in line
    return found


INDEX = _index()
CLEAN = [name for name, is_clean in INDEX.items() if is_clean]
OTHER = [name for name, is_clean in INDEX.items() if not is_clean]


def test_the_examples_are_there() -> None:
    """The examples stand beside the checkout; where they do not, this says that none was tried."""
    if not INDEX:
        pytest.skip(f"the specification's examples are not at {EXAMPLES}: none of them was tried")
    assert len(CLEAN) > 100


@pytest.mark.parametrize("name", CLEAN)
def test_clean_examples(name: str) -> None:
    """An official example that is complete and valid loads without an error."""
    checked = check_file(EXAMPLES / name)
    assert [str(problem) for problem in checked.errors] == []
    assert checked.definition is not None
    assert checked.definition.outline.parts


@pytest.mark.parametrize("name", OTHER)
def test_other_examples(name: str) -> None:
    """Any other official example loads, or is refused with problems that have a place."""
    checked = check_file(EXAMPLES / name)
    assert checked.definition is not None or checked.errors
    lines = (EXAMPLES / name).read_text().splitlines()
    for problem in checked.problems:
        assert problem.position != Position() or problem.code in ("missing", "spec-version", "empty")
        assert problem.line == lines[problem.position.line - 1]
