"""The list of mutants that may survive is in order: it is checked with all other tests, and needs no mutmut."""

from pathlib import Path

import pytest

from tests.mutation.explained import EXPLAINED, Kind, explanations
from tests.mutation.mutant import ROOT


def test_explanations_are_in_order() -> None:
    """Every entry names a function that is there, a part of it, and a reason."""
    for one in explanations():
        source = (ROOT / one.file).read_text(encoding="utf-8")
        assert f"def {one.function.rpartition('.')[2]}(" in source, f"no such function: {one}"
        assert all(line.strip() in source for line in one.before.split("\n")), f"no such lines: {one}"
        assert one.kind in Kind


@pytest.mark.parametrize(("entry", "complaint"), [
    ("{file: README.md, in: f, kind: text, why: w}", "no file of ours"),
    ("{file: swf_temporal/languages/serverless_workflow/execution/lane.py, in: f, kind: text, why: ' '}",
     "nothing says why"),
    ("{file: swf_temporal/languages/serverless_workflow/execution/lane.py, in: f, kind: text, why: w, if: x}",
     "nobody reads"),
    ("{file: swf_temporal/languages/serverless_workflow/execution/lane.py, in: f, kind: whim, why: w}", "whim"),
])  # fmt: skip
def test_an_entry_that_says_too_little_is_refused(tmp_path: Path, entry: str, complaint: str) -> None:
    """An entry without a place or a reason is an error, and so is one of an unknown kind."""
    file = tmp_path / "explained.yaml"
    file.write_text(f"- {entry}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=complaint):
        explanations(file)
    assert EXPLAINED.is_file()
