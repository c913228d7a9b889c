"""The README is true when it is followed step by step."""

from pathlib import Path

import pytest

from tests.docs.reader import follow_page


@pytest.mark.temporal
@pytest.mark.timeout(900)
def test_it_is_true(tmp_path: Path) -> None:
    assert follow_page("README.md", tmp_path, quick=False) > 0
