"""The expressions of a definition that need jq are compiled several in a program, and yield what each does alone."""

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import ExpressionFailed
from swf_temporal.expressions.compiled import NOTHING, BadExpression
from swf_temporal.expressions.evaluation import Expressions
from swf_temporal.expressions.guarding.deferring import Deferred, answering
from swf_temporal.expressions.guarding.guard import Guard
from swf_temporal.expressions.jq import JqProgram

DATA: JSON = {"n": 7, "items": [3, 1, 2], "name": "ada"}
VARIABLES: dict[str, JSON] = {"v": {"x": 2}, "__now": 86400}
TEXTS = [
    ".items | sort",
    "[.items[] | . * 2]",
    "def twice: . * 2; .n | twice",
    ".n as $v | $v + 1",
    "$v.x + (.n | tostring | length)",
    "now | todate",
    ".items[]",
    "empty",
    '"\\(.name | ascii_upcase)!"',
    "$ENV | length",
    "label $out | .items[] | if . == 1 then ., break $out else . end",
    "[.items[] | select(. > 1)] | length # a comment",
    "$__loc__.line",
    ".n | pow10 | tostring",
    "{(.name): .items | add}",
]


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


def test_a_definition_compiles_them_once(monkeypatch: pytest.MonkeyPatch) -> None:
    programs = []
    run = Guard.run

    def counted(self: Guard, program: str, data: str | None) -> object:
        programs.append(program)
        return run(self, program, data)

    monkeypatch.setattr(Guard, "run", counted)
    texts = [f"${{ .items | sort | .[{number}] }}" for number in range(100)]
    compiler = Expressions(texts=lambda: texts)
    assert [compiler.template(text)(DATA, {}) for text in texts[:3]] == [1, 2, 3]
    assert [compiler.template(text)(DATA, {}) for text in texts[98:]] == [None, None]
    assert len(set(programs)) == 2


def test_a_host_is_asked_for_the_expression_alone() -> None:
    """What a history has of it says nothing of the others."""
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
