"""Paths and conditions of the drafts mean in jq what they meant."""

from random import Random
from typing import Any

import jq
import pytest

from swf_temporal.base.errors import ExpressionFailed
from swf_temporal.expressions.comparing import OPERATORS, OPERATORS_OF_2019
from swf_temporal.expressions.early import SpelCondition
from swf_temporal.expressions.early_paths import EarlyPath
from swf_temporal.languages.serverless_workflow.upgrading.conditions_to_jq import compared, in_spel
from swf_temporal.languages.serverless_workflow.upgrading.early_paths_to_jq import JqFinds
from swf_temporal.languages.serverless_workflow.upgrading.paths_to_jq import NotInJqError
from tests.sampling import chance, count

PATHS = (
    "$", "$.", "$.a", "$.a.b", "$.a.b.c", "$['a']['x-y']", "$.x-y", "$.a[0]", "$.a[-1]", "$.a[-2].b", "$.a[0].b",
    "$a.b",
    "$.a[*]", "$.a[*].b", "$.a.*", "$..b", "$..a.b", "$..[0]", "$..*",
    "$.a[?(@.b)]", "$.a[?(@.b == 1)]", "$.a[?(@.b == true)].c", "$.a[?(@.b != 'x')]", "$.a[?(@.b > 1)]",
    "$.a[?(@.b == null)]", "$.a[?(@.b > 1 && @.c == 'x')]", "$.a[?(@.b > 1 || !(@.c))]", "$.[?(@.b == 1)]",
    "$.a[?(@.b > 1 || !(@.c))]",
)  # fmt: skip
OPERANDS: tuple[Any, ...] = (None, True, False, 0, 1, 2, 18, 1.5, "", "x", "y", "1", "18", "true", "null", " 2 ", "abc")
FOUND: list[Any] = [{"a": one} for one in (*OPERANDS, [1, "x"], ["18", 2, None], {"b": 1}, [], [[1]])]
SPEL = (
    "$.a eq 'x'", "a == 1", "$.a.b != null", "a.b eq null", "$..b eq 1", "a and not b",
    "(a eq 1 or b eq 2) and c ne 'x'",
    "#jsonPath(taskOutputData,'$..b') eq 'x'", "taskOutputData.a eq 1", "$.a gt 1", "a lt 'x'", "1 lt a",
    "a matches '^x'",
    "$.a ge $.b", "$.a == $.b", "$.a[*] ne $.b", "not a", "$.a.b", "a is null", "$.a <= 18", "a ne b and a ne 1",
)  # fmt: skip


def _data(random: Random, depth: int = 0) -> Any:
    chance = random.random()
    if depth > 2 or (chance < 0.3 and depth):
        return random.choice(OPERANDS)
    if chance < 0.55 and depth:
        return [_data(random, depth + 1) for _ in range(random.randint(0, 3))]
    return {key: _data(random, depth + 1) for key in random.sample(("a", "b", "c", "x-y", "f"), random.randint(0, 4))}


def _both(what: str) -> list[Any]:
    random = chance(what)
    found = [_data(random) for _ in range(count(100, 3_000))]
    return [*found, *OPERANDS, []]


@pytest.mark.parametrize("path", PATHS)
def test_a_path_finds_the_same(path: str) -> None:
    early, finds, samples = EarlyPath(path), JqFinds(path), _both(path)
    strict = jq.compile(f"[{finds.found}]")
    loose = jq.compile(f"[{finds.loose}] | map(values)")
    either = jq.compile(finds.or_all)
    for data in samples:
        found = early.found(data)
        assert strict.input_value(data).first() == found
        assert loose.input_value(data).first() == [one for one in found if one is not None]
        expected = data if not found else found[0] if early.is_singular else found
        assert either.input_value(data).all() == [expected]


def test_some_path_finds_something() -> None:
    random = Random(1)  # noqa: S311 - with each seed, nearly all of them
    samples = [_data(random) for _ in range(3_000)]
    assert [path for path in PATHS if not any(map(EarlyPath(path).found, samples))] == []


def test_another_name_of_an_error() -> None:
    """An error that is called otherwise is found by that name where the data have none of it."""
    finds = JqFinds("$.exception.name", {"exception": "error"})
    early = EarlyPath("$.exception.name", {"exception": "error"})
    samples: list[Any] = [
        {"error": {"name": 1}},
        {"exception": {"name": 2}, "error": {"name": 1}},
        {"exception": 3},
        {},
        4,
    ]
    for data in samples:
        assert jq.compile(f"[{finds.found}]").input_value(data).first() == early.found(data)


@pytest.mark.parametrize("operator", [name for name in OPERATORS if "matches" not in name] + list(OPERATORS_OF_2019))
def test_a_comparison_holds_of_the_same(operator: str) -> None:
    test = OPERATORS_OF_2019.get(operator) or OPERATORS[operator]
    values: list[Any] = [*OPERANDS, *([] if operator in OPERATORS_OF_2019 else [[1], {"b": 1}])]
    for path in ("$.a", "$.a[*]"):
        for value in values:
            program = jq.compile(compared(path, operator, value))
            for data in FOUND:
                expected = test(EarlyPath(path).found(data), value)
                assert program.input_value(data).first() is expected, (path, operator, value, data)
            assert program.input_value({}).first() is test([], value)


def test_a_pattern_matches_the_same() -> None:
    for operator in ("matches", "notmatches"):
        for pattern in ("^x", "b", r"\d+", "a.c"):
            program = jq.compile(compared("$.a", operator, pattern))
            for found in OPERANDS:
                assert program.input_value({"a": found}).first() is OPERATORS[operator]([found], pattern)


@pytest.mark.parametrize("text", SPEL)
def test_a_condition_holds_of_the_same(text: str) -> None:
    condition, program = SpelCondition(text), jq.compile(in_spel(text))
    for data in _both(text):
        try:
            expected = condition(data, {})
        except ExpressionFailed:
            with pytest.raises(ValueError, match="no order"):
                program.input_value(data).all()
            continue
        assert program.input_value(data).all() == [expected], data


@pytest.mark.parametrize(
    "path", ["$.a['b','c']", "$.a[?(@.b == @.c)]", "$.a[?(length(@.b) > 1)]", "a.b", "$.a[::2]", "$.a[1:]"]
)
def test_what_is_not_translated(path: str) -> None:
    with pytest.raises(NotInJqError):
        JqFinds(path)
