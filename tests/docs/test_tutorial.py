"""The tutorials, and the pages that begin with an empty folder, are true when they are followed step by step."""

from pathlib import Path

import pytest

from tests.docs.reader import follow_page


@pytest.mark.temporal
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("page", "apart"), [
    ("tutorial", False), ("direktiv-tutorial", False), ("dsl-tutorial", False), ("events", False), ("events", True),
    ("human-tasks", False), ("troubleshooting", False), ("applications", False), ("ci", False),
])  # fmt: skip
def test_it_is_true(tmp_path: Path, page: str, *, apart: bool) -> None:
    assert follow_page(f"docs/{page}.md", tmp_path, apart=apart) > 0
