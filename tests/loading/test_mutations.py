"""Is a broken definition of any version answered for? A few of each here; `tests/loading/mutations.py` makes more."""

import pytest

from tests.loading.mutations import VERSIONS, run


@pytest.mark.parametrize("version", VERSIONS)
def test_mutations(version: str) -> None:
    """Every definition loads, or is refused with problems in lines; most are known by their version."""
    told, wrong = run(version, 40, 0)
    assert wrong == []
    assert told["loaded"]
    assert told["refused"]
    assert told["of its version"] > 30
