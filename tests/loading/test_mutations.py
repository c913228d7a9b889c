"""Is a broken definition of any version answered for? A few of each here; `tests/loading/mutations.py` makes more."""

from collections import Counter

from tests.loading.mutations import VERSIONS, run
from tests.sampling import seeds


def test_mutations() -> None:
    """Every definition loads, or is refused with a way out; none is read as another version without a word."""
    all_told: Counter[str] = Counter()
    for version in VERSIONS:
        tried = seeds(f"mutations of {version}", 40, 1_000)
        told, wrong = run(version, len(tried), tried[0])
        assert wrong == []
        assert told["of its version"] > 0.8 * len(tried), version
        assert told["read as another untold"] == 0, (version, tried)
        assert told["say what to do"] == told["problems"], (version, tried)
        all_told += told
    assert all_told["loaded"]
    assert all_told["refused"]
