"""What jq refuses, what fails, and how expressions are compiled together."""

from typing import Any

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import ExpressionFailed
from swf_temporal.expressions.compiled import NOTHING, BadExpression
from swf_temporal.expressions.evaluation import Expressions
from swf_temporal.expressions.guarding.deferring import Deferred, answering
from swf_temporal.expressions.guarding.guard import Guard
from swf_temporal.expressions.jq import JqProgram, builtins
from swf_temporal.expressions.structured import StructuredJq
from swf_temporal.languages.loading import check

DECLARED = ("item", "SECRETS")


@pytest.mark.parametrize(("text", "message", "offset"), [
    ("1 $item", "syntax error, unexpected variable", 2),
    ('1 "a"', "syntax error, unexpected string", 2),
    ("1 @base64", "syntax error, unexpected format", 2),
    ("1 foo", "syntax error, unexpected name", 2),
    ("1 2", "syntax error, unexpected number", 2),
    ("1 '", "syntax error, unexpected character", 2),
    ("def .a: 1; .", "syntax error, unexpected field", 4),
    ("1 if", "syntax error, unexpected if", 2),
    ("1 ==", "syntax error, unexpected end of the expression", 4),
    ("# é\n\n . | 'é'", "syntax error, unexpected character", 10),
    (".a \0", "an expression cannot hold the character U+0000", 3),
    ("1 + $__prog_args", "$__prog_args is not defined", 4),
    ("now + $__now", "$__now is not defined", 6),
    ("  # nothing", "the expression is empty", 0),
    ('"\ud800" | tostring', "the expression holds half of a surrogate pair", None),
])  # fmt: skip
def test_what_does_not_compile(text: str, message: str, offset: int | None) -> None:
    with pytest.raises(BadExpression) as told:
        JqProgram(text, DECLARED)
    assert (told.value.message, told.value.offset) == (message, offset)


@pytest.mark.parametrize(("text", "data", "reason"), [
    ("now", None, "the workflow's time has no value here"),
    ("$SECRETS.a", None, "$SECRETS has no value here"),
    ("tostring", float("nan"), "the data cannot be written as JSON (NaN is not a JSON number (at .[0])"),
    ("reduce range(5000) as $i (null; [.])", None, "the result cannot be read as JSON (it is nested too deeply"),
    ('error("no stock")', None, "no stock: ${ "),
])  # fmt: skip
def test_what_fails(text: str, data: JSON, reason: str) -> None:
    with pytest.raises(ExpressionFailed) as told:
        JqProgram(f" {text} ", DECLARED)(data, {})
    assert told.value.message.startswith(reason)
    assert told.value.message.endswith(f": ${{ {text} }}")
    assert not told.value.retryable


@pytest.mark.parametrize(("length", "shown"), [(200, 200), (201, 200)])
def test_a_long_expression_is_cut(length: int, shown: int) -> None:
    text = 'error("no") # '.ljust(length, "x")
    with pytest.raises(ExpressionFailed) as told:
        JqProgram(text, ())(None, {})
    assert told.value.message == f"no: ${{ {text[:shown]}{'…' if length > shown else ''} }}"


@pytest.mark.parametrize(("text", "data", "value"), [
    ('"2015-03-05T23:51:47Z" | fromdate | date', None, "2015-03-05T23:51:47Z"),
    ('dateadd("seconds"; 2)', 5, 7),
    ('datesub("seconds"; 2)', 5, 3),
    ("[isvalid(error), isvalid(1)]", None, [False, True]),
    ("[leaf_paths]", {"a": [1]}, [["a", 0]]),
    ("2 | pow10", None, 100),
    ("[recurse_down]", [1], [[1], 1]),
])  # fmt: skip
def test_what_the_jq_of_the_specification_had(text: str, data: Any, value: Any) -> None:
    assert JqProgram(text, ())(data, {}) == value


def test_the_functions_that_can_be_called() -> None:
    assert {("length", 0), ("map", 1), ("sub", 3), ("date", 0), ("dateadd", 2), ("isvalid", 1)} <= builtins()
    assert ("map", 0) not in builtins()


DATA: JSON = {"n": 7, "items": [3, 1, 2], "name": "ada"}
VARIABLES: dict[str, JSON] = {"v": {"x": 2}, "__now": 86400}
TEXTS = [
    ".items | sort", "[.items[] | . * 2]", "def twice: . * 2; .n | twice", ".n as $v | $v + 1",
    "$v.x + (.n | tostring | length)", "now | todate", ".items[]", "empty", '"\\(.name | ascii_upcase)!"',
    "$ENV | length", "label $out | .items[] | if . == 1 then ., break $out else . end",
    "[.items[] | select(. > 1)] | length # a comment", "$__loc__.line", ".n | pow10 | tostring",
    "{(.name): .items | add}",
]  # fmt: skip


def test_each_yields_what_it_does_alone() -> None:
    together = JqProgram.together(TEXTS, {"v"})
    alone = {text: JqProgram(text, {"v"}) for text in TEXTS}
    assert {text: one(DATA, VARIABLES) for text, one in together.items()} == {
        text: alone[text](DATA, VARIABLES) for text in together
    }
    assert {text: (one.mentions, one.bound) for text, one in together.items()} == {
        text: (alone[text].mentions, alone[text].bound) for text in together
    }
    by_itself = {text for text in TEXTS if "#" in text or "$__loc__" in text or text.startswith(".n as $v")}
    assert set(together) == set(TEXTS) - by_itself
    assert together["empty"](DATA, VARIABLES) is NOTHING


def test_a_failure_names_its_own_expression() -> None:
    together = JqProgram.together([".items | join(1; 2) | .", ".name | sort", ".items | sort"], ())
    assert together == {}  # one does not compile
    one = JqProgram.together([".name | sort", ".items | sort"], ())[".name | sort"]
    with pytest.raises(ExpressionFailed, match=r"string .*cannot be sorted.*: \$\{ \.name \| sort \}"):
        one(DATA, {})


@pytest.mark.parametrize("broken", [". # \\", "1) | (2", "halt", "if . then 1", "$unknown", '"open', "[1"])
def test_what_does_not_compile_alone_does_not_compile_beside_others(broken: str) -> None:
    with pytest.raises(BadExpression):
        JqProgram(broken, ())
    assert broken not in JqProgram.together([".items | sort", broken, ".items | sort | ."], ())


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The programs that helper processes get from now on."""
    given: set[str] = set()
    run = Guard.run

    def noted(self: Guard, program: str, data: str | None) -> object:
        given.add(program)
        return run(self, program, data)

    monkeypatch.setattr(Guard, "run", noted)
    return given


def test_a_definition_compiles_them_once(programs: set[str]) -> None:
    texts = [f"${{ .items | sort | .[{number}] }}" for number in range(100)]
    compiler = Expressions(texts=lambda: texts)
    assert [compiler.template(text)(DATA, {}) for text in texts[:3]] == [1, 2, 3]
    assert [compiler.template(text)(DATA, {}) for text in texts[98:]] == [None, None]
    assert len(programs) == 2


def test_so_does_one_with_queries_in_brackets(programs: set[str]) -> None:
    """Both when it is checked, and in a worker that has not checked it."""
    queries = {f"k{number}": f"jq(.items | sort | .[{number}] | tostring)" for number in range(100)}
    states: list[JSON] = [
        {"id": f"s{key}", "type": "noop", "transform": {key: query}} for key, query in queries.items()
    ]
    assert check({"id": "a", "states": states}).problems  # nothing leads to most of them
    assert len(programs) == 2
    programs.clear()
    others: JSON = {key: query.replace("sort", "sort | reverse") for key, query in queries.items()}
    [filled] = StructuredJq().results(others, DATA, 0)
    assert filled == {"k0": "3", "k1": "2", "k2": "1"} | {f"k{number}": "null" for number in range(3, 100)}
    assert len(programs) == 2


def test_a_host_is_asked_for_the_expression_alone() -> None:
    one = JqProgram.together(["[range(.n)]", ".items | sort"], ())["[range(.n)]"]
    with answering({}), pytest.raises(Deferred) as asked:
        one(DATA, {})
    assert "sort" not in asked.value.evaluation.program
    assert asked.value.evaluation.data == '[{"n":7,"items":[3,1,2],"name":"ada"},{}]'


def test_one_that_takes_too_much_to_compile_harms_no_other() -> None:
    """Constants are computed while an expression is compiled."""
    large = '"x" * 2000000000'
    texts = ["${ .items | sort }", f"${{ {large} | ascii_upcase }}"]
    with pytest.raises(BadExpression, match="too large to compile"):
        JqProgram(f"{large} | ascii_upcase", ())
    assert Expressions(texts=lambda: texts).template(texts[0])(DATA, {}) == [1, 2, 3]
