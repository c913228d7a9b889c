"""A mutant that matters is killed."""

import sys
import textwrap
from pathlib import Path
from types import ModuleType

import pytest
from mutmut.mutation.trampoline import set_mutant_under_test

from swf_temporal.expressions.guarding import jq_process
from swf_temporal.expressions.guarding.guard import JAVASCRIPT, JQ, JSONPATH, Engine, Guard
from tests.mutation.choosing import place_of, trials_for
from tests.mutation.explained import EXPLAINED, Kind, explanations
from tests.mutation.mutant import ROOT, Mutant
from tests.mutation.mutants import _make_tables_again, choose, files, mutate
from tests.mutation.trials import Kind as Trying
from tests.mutation.trials import Trial
from tests.mutation.typecheck import refused


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
    """Killers of neighbours come first, then one of every folder and file, the quick first, while there is time."""
    names = [one.name.partition(": ")[2] for one in trials_for((FILE, 10), Trying.SCENARIO, TRIALS)]
    assert names == ["one", "three", "two"]
    chosen = trials_for((FILE, 10), Trying.SCENARIO, TRIALS, ["a.yaml:9: two"], most=0.4)
    assert [one.name.partition(": ")[2] for one in chosen] == ["two", "one"]
    assert trials_for((FILE, 11), Trying.SCENARIO, TRIALS) == []
    elsewhere = Trial(Trying.SCENARIO, "drafts/d.yaml:1: five", 0.9, {FILE: [10]})
    names = [one.name.partition(": ")[2] for one in trials_for((FILE, 10), Trying.SCENARIO, [*TRIALS, elsewhere])]
    assert names == ["one", "five", "three", "two"]


def test_every_way_through_a_function_is_taken_early() -> None:
    """Whatever the others are, one comes by each of its lines."""
    other_way = Trial(Trying.SCENARIO, "a.yaml:17: six", 1.2, {FILE: [10, 14]})
    chosen = trials_for((FILE, 10), Trying.SCENARIO, [*TRIALS, other_way], function=(8, 20))
    assert [one.name.partition(": ")[2] for one in chosen] == ["one", "six", "three", "two"]


def test_the_tests_that_mirror_a_file_come_first() -> None:
    """They have as much time as all others, and do not take it from these."""
    mirror = "tests/languages/serverless_workflow/execution/test_lane.py"
    own = [Trial(Trying.TEST, f"{mirror}::test_{number}", 0.3, {FILE: [10]}) for number in range(3)]
    chosen = trials_for((FILE, 10), Trying.TEST, [*TRIALS, *own], most=0.7)
    assert [one.name for one in chosen] == [f"{mirror}::test_0", f"{mirror}::test_1", "test_a.py::test"]
    of_helpers = Trial(Trying.TEST, "tests/expressions/test_js_process.py::test", 0.5, {FILE: [10]})
    changed = "swf_temporal/expressions/js_process.py"
    chosen = trials_for((FILE, 10), Trying.TEST, [*TRIALS, of_helpers], most=0.5, changed=changed)
    assert [one.name for one in chosen] == [of_helpers.name, "test_a.py::test"]


def test_both_packages_are_mutated() -> None:
    assert {file.parent.name for file in files()} >= {"runtime", "execution", "states", "expressions"}


def test_what_was_made_at_import_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that a module made with a mutated function follows the mutant, wherever it was imported to."""
    module, user = ModuleType("tests.a_module"), ModuleType("tests.a_user")
    source = "def made(n):\n    return [n]\nTABLE: list = made(1)\nOTHER = [1]\n"
    exec(source, vars(module))  # noqa: S102 - our own code
    user.TABLE, other = module.TABLE, module.OTHER  # type: ignore[attr-defined]
    module.made = lambda n: [n + 1]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, user.__name__, user)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    _make_tables_again(module, source)
    assert user.TABLE is module.TABLE
    assert user.TABLE == [2]
    assert module.OTHER is other


@pytest.mark.parametrize(("name", "after", "engine", "program", "data"), [
    ("js_process.py", "if (not isinstance(result, str)) or True:", JAVASCRIPT, "return data", "[1,0,0]"),
    ("jsonpath.py", "return [write_json(None)]", JSONPATH, "$..a", "{}"),
    ("jq_process.py", "if (data is None) or True:", JQ, "tojson", "1"),
])  # fmt: skip
def test_mutants_run_in_helper_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, after: str, engine: Engine, program: str, data: str
) -> None:
    """A mutant of what helper processes run is what they run, and is met where one is started."""
    mutated = [mutate(one) for one in files() if one.name in {name, "jq_process.py"}]
    mutant = next(one for file in mutated for one in file.mutants if one.after == after)
    monkeypatch.setattr(jq_process, "__file__", jq_process.__file__)
    monkeypatch.setenv("MUTANT_UNDER_TEST", "")
    guard = Guard(engine=engine)
    expected = guard.run(program, data)
    guard.stop()
    choose(mutant, mutated, tmp_path)
    try:
        assert guard.run(program, data) != expected
    finally:
        set_mutant_under_test(None)
        guard.stop()
    file, line = place_of(mutant, TRIALS)
    assert any(one in (ROOT / file).read_text().split("\n")[line - 1] for one in ("_await_answer(", "guard(", "ask("))


@pytest.mark.long
def test_the_type_checker_refuses_mutants(tmp_path: Path) -> None:
    """A mutant that is of another type is refused; one that is not, or whose condition is only forced, is tried."""
    file = next(one for one in files() if one.name == "jsonpath_process.py")
    assert mutate(file).mutants == []
    mutated = mutate(next(one for one in files() if one.name == "wording.py"))
    by_type = refused([mutated], mutated.mutants, tmp_path)
    assert 0 < len(by_type) < len(mutated.mutants)
    told = {mutant.after for mutant in mutated.mutants if mutant.name in by_type}
    assert any("None" in after for after in told)
    assert not any("or True" in after or "and False" in after for after in told)


def test_explanations_are_in_order() -> None:
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
    file = tmp_path / "explained.yaml"
    file.write_text(f"- {entry}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=complaint):
        explanations(file)
    assert EXPLAINED.is_file()
