"""What measures imports."""

from bench.importing import NOTHING, PACKAGE, measure, table
from bench.revisions import ROOT


def test_names_are_imported_in_processes_of_their_own() -> None:
    """Each row has a figure for each round; a name that there is not has none, and no ratio."""
    measured = measure({"before": ROOT, "after": ROOT}, [NOTHING, PACKAGE, "UsageError", "Missing"], rounds=1)
    assert all(len(costs[when]) == 1 for row, costs in measured.items() if row != "Missing" for when in costs)
    assert measured["Missing"] == {"before": [], "after": []}
    lines = list(table(measured, ("before", "after")))
    assert len(lines) == 2 + len(measured)
    assert lines[-1] == "| Missing |  |  |  |"
