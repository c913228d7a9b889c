"""Reading scenarios, strictly."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from swf_temporal.base.errors import Severity, UsageError
from swf_temporal.simulation.model.expectations import ExpectedProblem, ExpectedStarts
from swf_temporal.simulation.model.part import AnswerScript, StubAnswer, StubFailure
from swf_temporal.simulation.model.scenario import InlineDefinition
from swf_temporal.simulation.scenario import find_scenarios, read_scenarios

WORKFLOW = "workflow: {id: x, states: []}\n"


def _file(folder: Path, text: str, name: str = "test.yaml") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_reads_all_that_a_scenario_says(tmp_path: Path) -> None:
    _file(tmp_path, "id: child", "child.yaml")
    text = """
scenario: Ships
spec: [Switch State]
workflow: child.yaml
definitions: [child.yaml, {id: other}]
input: {a: 1}
functions:
  plain: {inStock: true}
  returns: {returns: {returns: 1}}
  computes: {computes: "${ .a }", takes: PT5S}
  then: {then: [{raises: {code: 502, message: Bad}}, {ok: true}], takes: PT1S}
events: [{type: go, source: s, data: 1}, {type: soon, early: true}]
secrets: {KEY: k}
chance: [1, 0, 0.5]
cancel: true
expect:
  status: cancelled
  output: null
  produced: [{type: t}]
  calls: {plain: 2, then: [{a: 1}]}
  states: [A, B]
  delays: {then: [PT10S]}
  elapsed: PT1H
  starts: {after: 2026-01-01T00:00:00Z, before: 2026-02-01T00:00:00+01:00, at: [2026-01-05T09:00:00.5-05:00]}
hosts: [simulation]
why: because
"""
    (one,) = read_scenarios(_file(tmp_path, text))
    assert (one.claim, one.line, one.spec, one.input) == ("Ships", 2, ("Switch State",), {"a": 1})
    assert (one.workflow, one.definitions[0]) == (tmp_path / "child.yaml", tmp_path / "child.yaml")
    assert isinstance(one.definitions[1], InlineDefinition)
    assert one.definitions[1].definition == {"id": "other"}
    assert one.answers == {
        "plain": (AnswerScript(returns={"inStock": True}),),
        "returns": (AnswerScript(returns={"returns": 1}),),
        "computes": (AnswerScript(computes="${ .a }", takes=timedelta(seconds=5)),),
        "then": (StubAnswer(raises=StubFailure(code=502, message="Bad"), takes=timedelta(seconds=1)),
                 StubAnswer(returns={"ok": True}, takes=timedelta(seconds=1))),
    }  # fmt: skip
    assert (one.events, one.early) == (({"type": "go", "source": "s", "data": 1},), ({"type": "soon"},))
    assert (one.secrets, one.cancel, one.hosts, one.why) == ({"KEY": "k"}, True, ("simulation",), "because")
    assert (one.expect.status, one.expect.output, one.expect.produced) == ("cancelled", None, ({"type": "t"},))
    assert (one.expect.calls, one.expect.states) == ({"plain": 2, "then": ({"a": 1},)}, ("A", "B"))
    assert one.expect.elapsed == timedelta(hours=1)
    assert (one.chance, one.expect.delays) == ((1, 0, 0.5), {"then": (timedelta(seconds=10),)})
    assert one.expect.starts == ExpectedStarts(
        at=(datetime(2026, 1, 5, 14, 0, 0, 500_000, UTC),),
        after=datetime(2026, 1, 1, tzinfo=UTC),
        before=datetime(2026, 1, 31, 23, tzinfo=UTC),
    )


def test_reads_the_first_starts(tmp_path: Path) -> None:
    """Without an end just as many starts are compared as are listed; with one, none may be missing or too much."""
    text = f"""
scenario: The first
{WORKFLOW}
expect: {{starts: {{after: 2026-01-01T00:00:00Z, at: [2026-01-02T00:00:00Z]}}}}
---
scenario: None
{WORKFLOW}
expect: {{starts: {{after: 2026-01-01T00:00:00Z, before: 2027-01-01T00:00:00Z, at: []}}}}
"""
    first, none = (one.expect.starts for one in read_scenarios(_file(tmp_path, text)))
    assert first is not None
    assert none is not None
    assert (first.before, first.most) == (None, 1)
    assert none.at == ()
    assert none.most > 0


def test_reads_what_is_expected_to_be_said_of_a_definition(tmp_path: Path) -> None:
    """A problem is an error unless it says that it is a warning, and only an error keeps the scenario from running."""
    text = f"""
scenario: Refused
{WORKFLOW}
expect: {{problems: [{{code: x, at: 1:2, message: m, hint: null, file: f.yaml}}]}}
---
scenario: Warned of
{WORKFLOW}
input: 1
expect: {{problems: [{{code: y, severity: warning}}], output: 1}}
"""
    refused, warned = read_scenarios(_file(tmp_path, text))
    facts = {"at": "1:2", "message": "m", "hint": None, "file": "f.yaml"}
    assert refused.expect.problems == (ExpectedProblem(code="x", severity=Severity.ERROR, **facts),)
    assert refused.expect.problems[0].facts == facts
    assert warned.expect.problems == (ExpectedProblem(code="y", severity=Severity.WARNING),)
    assert (refused.is_refused, warned.is_refused) == (True, False)


def test_expects_completion_unless_an_error_is_expected(tmp_path: Path) -> None:
    """Without a status a run is expected to complete; with an error, to fail. The output may stay unsaid."""
    text = f"scenario: a\n{WORKFLOW}---\nscenario: b\n{WORKFLOW}expect: {{error: {{code: '1'}}}}\n"
    first, second = read_scenarios(_file(tmp_path, text))
    assert (first.expect.status, second.expect.status) == ("completed", "failed")
    assert not first.expect.says_output


def test_reads_every_document_of_a_file(tmp_path: Path) -> None:
    text = (
        f"# a comment\n---\nscenario: one\n{WORKFLOW}--- # here\nid: a definition\n---\nscenario: two\n{WORKFLOW}---\n"
    )
    scenarios = read_scenarios(_file(tmp_path, text))
    assert [(one.claim, one.line) for one in scenarios] == [("one", 3), ("two", 8)]


def test_finds_scenarios_in_folders(tmp_path: Path) -> None:
    """In a folder, and in all that are in it, files that hold no scenario are passed over, even broken ones."""
    _file(tmp_path, f"scenario: b\n{WORKFLOW}", "b.yml")
    _file(tmp_path, f"scenario: a\n{WORKFLOW}", "a/a.yaml")
    _file(tmp_path, "{{{", "broken.yaml")
    _file(tmp_path, "scenario: c", "c.txt")
    assert [one.claim for one in find_scenarios([tmp_path])] == ["a", "b"]


@pytest.mark.parametrize(("text", "message"), [
    ("scenario: a\n", "the scenario has no 'workflow'"),
    ("scenario: 5\n" + WORKFLOW, "'scenario' must be a text, not a number"),
    (f"scenario: a\n{WORKFLOW}fucntions: {{}}\n", "did you mean 'functions'?"),
    (f"scenario: a\n{WORKFLOW}expect: {{ouput: 1}}\n", "did you mean 'output'?"),
    (f"scenario: a\n{WORKFLOW}expect: {{status: complete}}\n", "did you mean 'completed'?"),
    (f"scenario: a\n{WORKFLOW}expect: {{error: {{nmae: x}}}}\n", "did you mean 'name'?"),
    (f"scenario: a\n{WORKFLOW}expect: {{elapsed: 1h}}\n", "ISO 8601"),
    (f"scenario: a\n{WORKFLOW}expect: {{calls: {{f: twice}}}}\n", "the number of its calls, or a list"),
    (f"scenario: a\n{WORKFLOW}expect: {{produced: [x]}}\n",
     "an entry of 'produced' must be an object, not the text 'x'"),
    (f"scenario: a\n{WORKFLOW}functions: {{f: {{raises: {{staus: 5}}}}}}\n", "did you mean 'status'?"),
    (f"scenario: a\n{WORKFLOW}functions: {{f: {{raises: {{status: '5'}}}}}}\n",
     "'status' must be a whole number, not the text '5'"),
    (f"scenario: a\n{WORKFLOW}functions: {{f: {{returns: 1, computes: x}}}}\n", "returns and computes"),
    (f"scenario: a\n{WORKFLOW}functions: {{f: {{then: []}}}}\n", "'then' must list at least one entry"),
    (f"scenario: a\n{WORKFLOW}events: [go]\n", "an entry of 'events' must be an object"),
    (f"scenario: a\n{WORKFLOW}events: [{{source: s}}]\n", "text as its 'type'"),
    (f"scenario: a\n{WORKFLOW}events: [{{type: t, specversion: '0.3'}}]\n", "this says specversion '0.3'"),
    (f"scenario: a\n{WORKFLOW}hosts: [simulation]\n", "`why`"),
    (f"scenario: a\n{WORKFLOW}hosts: [simulaton]\nwhy: x\n", "did you mean 'simulation'?"),
    ("scenario: a\nworkflow: nowhere.yaml\n", "there is no file 'nowhere.yaml'"),
    ("scenario: a\nworkflow: [1]\n", "the path of its file"),
    ("scenario: a\nscenario: b\n", "twice"),
    (f"scenario: a\n{WORKFLOW}expect: {{problems: [x]}}\n", "an entry of 'problems' must be an object"),
    (f"scenario: a\n{WORKFLOW}expect: {{problems: [{{message: x}}]}}\n", "an entry of 'problems' has no 'code'"),
    (f"scenario: a\n{WORKFLOW}expect: {{problems: [{{code: x, mesage: y}}]}}\n", "did you mean 'message'?"),
    (f"scenario: a\n{WORKFLOW}expect: {{problems: [{{code: x, at: 7}}]}}\n", "'at' must be a text, not a number"),
    (f"scenario: a\n{WORKFLOW}expect: {{problems: [{{code: x, at: '7'}}]}}\n", "a line and a column"),
    (f"scenario: a\n{WORKFLOW}expect: {{problems: [{{code: x, hint: 7}}]}}\n", "null if it must be missing"),
    (f"scenario: a\n{WORKFLOW}expect: {{problems: [{{code: x, severity: eror}}]}}\n", "did you mean 'error'?"),
    (f"scenario: a\n{WORKFLOW}expect: {{problems: [{{code: x}}], output: 1}}\n", "'output' would have no effect"),
    (f"scenario: a\n{WORKFLOW}input: 1\nexpect: {{problems: [{{code: x}}]}}\n", "'input' would have no effect"),
    (f"scenario: a\n{WORKFLOW}chance: [1]\nexpect: {{problems: [{{code: x}}]}}\n", "'chance' would have no effect"),
    (f"scenario: a\n{WORKFLOW}expect: {{problems: [{{code: x}}], delays: {{}}}}\n", "'delays' would have no effect"),
    (f"scenario: a\n{WORKFLOW}chance: 1\n", "'chance' must be a list, not a number"),
    (f"scenario: a\n{WORKFLOW}chance: []\n", "'chance' must list at least one entry"),
    (f"scenario: a\n{WORKFLOW}chance: [0.5, 1.5]\n", "a number from 0 to 1"),
    (f"scenario: a\n{WORKFLOW}chance: [.nan]\n", "a number from 0 to 1"),
    (f"scenario: a\n{WORKFLOW}chance: [true]\n", "0.5 changes nothing"),
    (f"scenario: a\n{WORKFLOW}expect: {{delays: {{f: PT10S}}}}\n", "such as [PT10S, PT20S]"),
    (f"scenario: a\n{WORKFLOW}expect: {{delays: {{f: [10]}}}}\n", "a duration such as PT5S, not a number"),
    (f"scenario: a\n{WORKFLOW}expect: {{delays: {{f: [PT10S, 10s]}}}}\n", "4:30  error"),
    (f"scenario: a\n{WORKFLOW}expect: {{starts: [x]}}\n", "'starts' must be an object, not a list"),
    *((f"scenario: a\n{WORKFLOW}expect: {{starts: {{{starts}}}}}\n", message) for starts,
      message in [("at: [2026-01-01T00:00:00Z]", "'starts' has no 'after'"),
                  ("after: 2026-01-01T00:00:00Z", "'starts' has no 'at'"),
                  ("after: 2026-01-01T00:00:00Z, at: []", "'at' lists at least one time"),
                  ("after: 2026-01-01T00:00:00Z, at: [], befor: x", "did you mean 'before'?"),
                  ("after: 2026-01-01, at: []", "'2026-01-01' is not a date and time"),
                  ("after: 7, at: []", "such as 2026-01-05T09:00:00Z"),
                  ("after: 2026-01-01T00:00:00, at: []", "write 2026-01-01T00:00:00Z, or how far from UTC it is"),
                  ("after: 2026-02-30T00:00:00Z, at: []", "there is no such day or hour"),
                  ("after: 0001-01-01T00:00:00+01:00, at: []", "there is no such day or hour"),
                  ("after: 2026-01-01T00:00:00Z, before: 2026-01-01T00:00:00Z, at: []",
                   "'before' is later than 'after'")]),
])  # fmt: skip
def test_refuses(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError) as refusal:
        read_scenarios(_file(tmp_path, f"\n{text}"))
    assert message in str(refusal.value)
    assert "test.yaml:" in str(refusal.value)


def test_tells_all_that_is_wrong_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = f"""
scenario: Several slips
{WORKFLOW}
spce: []
functions: {{charge: {{then: [{{raises: {{staus: 503}}}}, 7, {{takes: 5}}]}}}}
expect:
  output: 1
  calls: []
  elapsed: PT10
"""
    with pytest.raises(UsageError) as refusal:
        read_scenarios(_file(tmp_path, text))
    told = [line.partition("test.yaml:")[2] for line in str(refusal.value).splitlines() if "test.yaml:" in line]
    assert told == [
        "5:1  error  scenario  'spce' is not a field of the scenario",
        "6:39  error  scenario  'staus' is not a field of 'raises'",
        "6:64  error  scenario  'takes' must be a duration such as PT5S, not a number",
        "9:10  error  scenario  'calls' must be an object, not a list",
        "10:12  error  scenario  'PT10' is not an ISO 8601 duration such as PT15M",
    ]


@pytest.mark.parametrize("key", [
    "expect: {elapsed: }", "expect: {states: }", "functions: {f: {raises: }}", "expect: {requests: [{query: }]}",
])  # fmt: skip
def test_refuses_a_key_without_a_value(tmp_path: Path, key: str) -> None:
    with pytest.raises(UsageError, match="has no value: write one, or leave out the key"):
        read_scenarios(_file(tmp_path, f"scenario: a\n{WORKFLOW}{key}\n"))


def test_names_the_line_of_a_slip_in_a_later_document(tmp_path: Path) -> None:
    text = f"scenario: a\n{WORKFLOW}---\nscenario: b\n{WORKFLOW}spce: []\n"
    with pytest.raises(UsageError, match=r"test\.yaml:6:1 "):
        read_scenarios(_file(tmp_path, text))


def test_says_that_a_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        find_scenarios([tmp_path / "missing.yaml"])
