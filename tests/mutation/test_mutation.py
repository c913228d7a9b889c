"""The list of mutants that may survive is in order, and a mutant that matters is killed."""

import textwrap
from pathlib import Path

import pytest

pytest.importorskip("mutmut", reason="mutants are made by mutmut: pip install '.[mutation]'")

from tests.mutation.explained import EXPLAINED, Kind, explanations
from tests.mutation.mutants import ROOT, Mutant, files, mutate
from tests.mutation.trials import Kind as Trying
from tests.mutation.trials import Trial, place_of, trials_for
from tests.mutation.typecheck import refused


def test_explanations_are_in_order() -> None:
    """Every entry names a function that is there, a part of it, and a reason."""
    for one in explanations():
        source = (ROOT / one.file).read_text(encoding="utf-8")
        assert f"def {one.function.rpartition('.')[2]}(" in source, f"no such function: {one}"
        assert all(line.strip() in source for line in one.before.split("\n")), f"no such lines: {one}"
        assert one.kind in Kind


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        ("{file: README.md, in: f, kind: text, why: w}", "no file of ours"),
        (
            "{file: swf_temporal/languages/serverless_workflow/execution/lane.py, in: f, kind: text, why: ' '}",
            "nothing says why",
        ),
        (
            "{file: swf_temporal/languages/serverless_workflow/execution/lane.py, in: f, kind: text, why: w, if: x}",
            "nobody reads",
        ),
        ("{file: swf_temporal/languages/serverless_workflow/execution/lane.py, in: f, kind: whim, why: w}", "whim"),
    ],
)
def test_an_entry_that_says_too_little_is_refused(tmp_path: Path, entry: str, complaint: str) -> None:
    """An entry without a place or a reason is an error, and so is one of an unknown kind."""
    file = tmp_path / "explained.yaml"
    file.write_text(f"- {entry}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=complaint):
        explanations(file)
    assert EXPLAINED.is_file()


def test_a_mutant_says_what_changes_and_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each mutant is one change of one function, told by its line; what is forced or left out is among them."""
    package = tmp_path / "swf_temporal"
    package.mkdir()
    file = package / "small.py"
    source = '''\
        """A module."""


        def check(count: int) -> int:
            """Check."""
            if count > 1:
                raise ValueError("many")
            return count
    '''
    file.write_text(textwrap.dedent(source), encoding="utf-8")
    monkeypatch.setattr("tests.mutation.mutants.ROOT", tmp_path)
    mutants = mutate(file).mutants
    changes = {(one.line, one.before, one.after) for one in mutants}
    assert {one.function for one in mutants} == {"check"}
    assert (6, "if count > 1:", "if count >= 1:") in changes
    assert (6, "if count > 1:", "if (count > 1) and False:") in changes
    assert (7, 'raise ValueError("many")', "pass") in changes
    assert len({one.key for one in mutants}) == len(mutants)
    assert "raise" not in mutate(file).source_of(next(one for one in mutants if one.after == "pass"))


FILE = "swf_temporal/languages/serverless_workflow/execution/lane.py"
TRIALS = [
    Trial(Trying.SCENARIO, "a.yaml:1: one", 0.1, {FILE: [10, 12]}),
    Trial(Trying.SCENARIO, "a.yaml:9: two", 0.2, {FILE: [10]}),
    Trial(Trying.SCENARIO, "b.yaml:1: three", 0.3, {FILE: [10]}),
    Trial(Trying.SCENARIO, "c.yaml:1: four", 0.1, {"swf_temporal/runtime/inbox.py": [10]}),
    Trial(Trying.TEST, "test_a.py::test", 0.1, {FILE: [10]}),
]


@pytest.mark.parametrize(("line", "place"), [(10, 10), (11, 10), (12, 12), (14, 12), (9, 10)])
def test_a_mutant_is_met_where_its_statement_runs(line: int, place: int) -> None:
    """What changes is met by whoever runs that line, or the one before it where a statement has several lines."""
    mutant = Mutant(f"{FILE}.x_f__mutmut_1", FILE, "f", (8, 20), line, "before", "after")
    assert place_of(mutant, TRIALS) == (FILE, place)


def test_trials_are_chosen_and_ordered() -> None:
    """Killers of neighbours come first, then one of every file, the quick before the slow, as long as there is time."""
    names = [one.name.partition(": ")[2] for one in trials_for((FILE, 10), Trying.SCENARIO, TRIALS)]
    assert names == ["one", "three", "two"]
    chosen = trials_for((FILE, 10), Trying.SCENARIO, TRIALS, ["a.yaml:9: two"], most=0.4)
    assert [one.name.partition(": ")[2] for one in chosen] == ["two", "one"]
    assert trials_for((FILE, 11), Trying.SCENARIO, TRIALS) == []


def test_both_packages_are_mutated() -> None:
    """What interprets definitions is mutated, and what evaluates expressions."""
    assert {file.parent.name for file in files()} >= {"runtime", "execution", "states", "expressions"}


def test_the_type_checker_refuses_mutants(tmp_path: Path) -> None:
    """A mutant that is of another type is refused; one that is not, or whose condition is only forced, is tried."""
    file = next(one for one in files() if one.name == "step.py")
    assert mutate(file).mutants == []
    mutated = mutate(next(one for one in files() if one.name == "wording.py"))
    by_type = refused([mutated], mutated.mutants, tmp_path)
    assert 0 < len(by_type) < len(mutated.mutants)
    told = {mutant.after for mutant in mutated.mutants if mutant.name in by_type}
    assert any("None" in after for after in told)
    assert not any("or True" in after or "and False" in after for after in told)
