"""Can an expression reach what it may not, or stop what it runs in?"""

import json
from pathlib import Path
from typing import Any

import pytest

from swf_temporal.base.errors import ExpressionFailed, ExpressionLimitExceeded
from swf_temporal.expressions.evaluation import NOTHING, BadExpression, Expressions

NOW = 1_700_000_000.5
VARIABLES: dict[str, Any] = {"CONST": {}, "WORKFLOW": {"id": "w"}, "__now": NOW}


def run(text: str, data: Any = None) -> Any:
    return Expressions().expression(f"${{ {text} }}")(data, VARIABLES)


HARMLESS: list[tuple[str, Any]] = [
    ("env", {}),
    ("$ENV", {}),
    ("$ENV.PATH", None),
    ("env.PATH", None),
    ("env | keys", []),
    ("[$ENV, env] | tojson", "[{},{}]"),
    ("def f: env; f", {}),
    ("get_search_list", []),
    ("input_filename", None),
    ("input_line_number", 0),
    ("now", NOW),
    ("now | todate", "2023-11-14T22:13:20Z"),
    ("def f: now; f", NOW),
    ("0 | localtime | mktime", 0),
    ('0 | strflocaltime("%H:%M %Z")', "00:00 GMT"),
    ("0 | localtime | todate", "1970-01-01T00:00:00Z"),
    ("1 | debug", 1),
    ('1 | debug("x")', 1),
    ("1 | stderr", 1),
    ("$__loc__.file", "<top-level>"),
    ("[limit(3; repeat(1))]", [1, 1, 1]),
    ("first(range(1e18))", 0),
    ("[recurse(if . < 3 then . + 1 else empty end)]", [0, 1, 2, 3]),
    ('"a b" | @sh', "'a b'"),
    ("empty", NOTHING),
    ('[splits("a")]?', NOTHING),
    ('getpath(["a", 0, "b"])', None),
]


@pytest.mark.parametrize(("text", "yields"), HARMLESS, ids=[text for text, _ in HARMLESS])
def test_sees_only_the_workflow(text: str, yields: Any) -> None:
    data = 0 if "recurse" in text else None
    assert run(text, data) == yields


@pytest.mark.parametrize(
    "text", ["input", "inputs", "[inputs]", "halt", "halt_error", '"x" | halt_error(1)', '"a" | modulemeta']
)
def test_refuses_what_would_end_or_widen_the_program(text: str) -> None:
    with pytest.raises(BadExpression, match="not allowed in a workflow expression"):
        run(text)


def test_names_of_their_own_may_be_those_of_refused_functions() -> None:
    """Keys, fields and functions of the expression; a refused function beside such a one fails when it is called."""
    assert run("{halt: 1, input: .inputs} | [.halt, .input]", {"inputs": 2}) == [1, 2]
    assert run("{input}", {"input": 3, "more": 4}) == {"input": 3}
    assert run("def halt: 5; halt") == 5
    with pytest.raises(ExpressionFailed, match="not allowed in a workflow expression"):
        run("def f: 5; halt")


@pytest.mark.parametrize("text", [
    'import "a" as $a {search: "/"}; $a',
    'import "a" as a; a::f',
    'include "a"; .',
    "module {a: 1}; .",
    "$__prog_args",
    "$__now",
    "$HOME",
    "1) | (env",
    "1\n) | $ENV | (\n.",
    "def now: 0; ) | (now",
    '"\\(1) | env',
    "\0",
    '"x" * 1e9',  # which jq computes while it compiles
    "(" * 20_000 + ")" * 20_000,
])  # fmt: skip
def test_does_not_compile(text: str) -> None:
    """Modules, names of our own, text that would leave its brackets, and absurd depths do not compile."""
    with pytest.raises(BadExpression):
        Expressions().expression(f"${{ {text} }}")


def test_no_file_can_be_opened(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text('"leaked"')
    with pytest.raises(BadExpression):
        run(f'import "secret" as $s {{search: "{tmp_path}"}}; $s')


def test_nothing_of_the_environment_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWF_TEST_MARK", "mark-of-the-environment")
    outputs = []
    for name in run('builtins | map(select(endswith("/0")) | .[:-2]) | sort'):
        try:
            outputs.append(str(run(f"[limit(5; {name})]")))
        except (ExpressionFailed, BadExpression, ExpressionLimitExceeded) as error:
            outputs.append(str(error))
    assert len(outputs) > 100
    assert not [text for text in outputs if "mark-of-the-environment" in text]


ENDLESS = [
    "[range(1e18)] | length", "last(range(1e18))", "[repeat(1)]", "def f: f | f; f", "until(false; .)", "[recurse(.)]",
    "last(limit(1e15; repeat(1)))", "reduce range(1e18) as $i (0; . + 1)", '"x" * (1e9 | floor)', "[range(1e9)] | add",
    "range(1e18)", "reduce range(1e9) as $i (1; [.])", '[range(3e5)] | map(tostring) | join("") * 100',
    "while(true; .)",
]  # fmt: skip


@pytest.mark.parametrize("text", ENDLESS)
def test_a_limit_ends_it_and_the_next_works(text: str) -> None:
    """What is endless or too large exceeds a limit, and says which expression it was; the next one works."""
    with pytest.raises(ExpressionLimitExceeded) as fault:
        run(text)
    assert text[:20] in fault.value.message
    assert run("1 + 1 | tostring") == "2"


def test_a_regular_expression_that_backtracks_for_ever_ends() -> None:
    with pytest.raises((ExpressionFailed, ExpressionLimitExceeded)):
        run('"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!" | test("^(a+)+$")')


def test_deep_data_is_a_failure() -> None:
    for depth in (10_500, 200_000):
        deep: Any = None
        for _ in range(depth):
            deep = [deep]
        with pytest.raises((ExpressionFailed, ExpressionLimitExceeded)):
            run("[..] | length", deep)
        while deep:
            deep = deep.pop()
    assert run("[..] | length", [[]]) == 2


@pytest.mark.parametrize("number", [float("nan"), float("inf"), [float("-inf")]])
def test_data_that_is_no_json_is_a_failure(number: Any) -> None:
    """NaN and infinities are no JSON: where jq has to read them, the expression fails and says so."""
    with pytest.raises(ExpressionFailed, match="cannot be written as JSON"):
        run("tostring", number)


def test_numbers_that_are_no_json_become_json() -> None:
    """Jq's NaN becomes null, and what is infinite the largest number."""
    assert run("[nan, infinite, -infinite, 1e999]") == [None, *[sign * 1.7976931348623157e308 for sign in (1, -1, 1)]]


def test_numbers_survive() -> None:
    """Large integers and the `.0` of a float come through jq as they were."""
    data = {"a": 2**63 - 1, "b": 1.0, "c": 10**30, "d": 0.1}
    assert json.dumps(run("map_values(.)", data)) == json.dumps(data)
