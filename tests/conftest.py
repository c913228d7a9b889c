"""The order of the tests: what takes long begins first, so that no worker is alone with it in the end.

A file is run by one worker, so each page that is followed has a file of its own.
"""

from pathlib import Path

import pytest

ROOT = Path(__file__).parent
LONGEST = (
    "temporal/test_scenarios.py",
    "upgrades/test_upgrades.py",
    "docs/test_common_mistakes.py",
    "docs/test_installing.py",
    "docs/test_tutorial.py",
    "simulation/test_scenarios.py",
    "docs/test_readme.py",
    "temporal/test_continuing.py",
    "temporal/test_durability.py",
)
"""Files of tests, the longest first. All others come in their order."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of the longest files first."""
    ranks = {ROOT / name: rank for rank, name in enumerate(LONGEST)}
    items.sort(key=lambda item: ranks.get(item.path, len(ranks)))


def pytest_sessionstart() -> None:
    """Refuse a list that names a file that is not there any more."""
    missing = [name for name in LONGEST if not (ROOT / name).is_file()]
    assert not missing, f"tests/conftest.py names {', '.join(missing)}"
