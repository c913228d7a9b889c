"""Is a broken definition of any version answered for? A few of each here; `tests/loading/mutations.py` makes more."""

import pytest

from tests.loading.mutations import VERSIONS, run


@pytest.mark.parametrize("version", VERSIONS)
def test_mutations(version: str) -> None:
    """Every definition loads, or is refused with a way out; none is read as another version without a word."""
    told, wrong = run(version, 40, 0)
    assert wrong == []
    assert told["loaded"]
    assert told["refused"]
    assert told["of its version"] > 35
    assert told["read as another untold"] == 0
    assert told["say what to do"] == told["problems"]
