"""Scripts are kept from all that would differ the next time, and within the limits of expressions."""

from typing import Any

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import ExpressionFailed, ExpressionLimitExceeded, FatalFault, Severity
from swf_temporal.expressions import js
from swf_temporal.expressions.guarding import guard
from swf_temporal.expressions.js import JsProgram
from swf_temporal.expressions.structured import StructuredJq
from swf_temporal.languages.loading import check

NOW = 1_700_000_000.25


def run(script: str, data: JSON = None) -> Any:
    return JsProgram(script)(data, {"__now": NOW})


def test_time_is_the_workflows() -> None:
    """However a script asks, and also through what a date is made of; dates that are given are those."""
    asked = "Date.now(), new Date().getTime(), new (class extends Date {})().getTime(), new Date().constructor.now()"
    assert run(f"return [{asked}]") == [1_700_000_000_250] * 4
    assert run("return [Date(), new Date(5).getTime(), new Date() instanceof Date, Date.UTC(1970, 0, 2)]") == [
        "Tue Nov 14 2023 22:13:20 GMT+0000", 5, True, 86_400_000,
    ]  # fmt: skip


def test_random_numbers_are_the_same_on_a_replay() -> None:
    """They follow from time, data and script; they differ from one another, and where one of these does."""
    three = "return [Math.random(), Math.random(), Math.random()]"
    numbers = run(three)
    assert run(three) == numbers
    assert len({*numbers, *run(three, 1), *run(f"{three};")}) == 9
    assert all(0 <= number < 1 for number in numbers)


@pytest.mark.parametrize(
    "name", ["performance", "WeakRef", "FinalizationRegistry", "SharedArrayBuffer", "Atomics", "require", "process",
             "setTimeout", "fetch", "std", "os", "print"],
)  # fmt: skip
def test_what_leads_outside_is_not_there(name: str) -> None:
    assert run(f"return typeof {name}") == "undefined"


def test_nothing_is_left_for_the_next() -> None:
    assert run("Array.prototype.map = null; globalThis.x = 1; return 1") == 1
    assert run("return [typeof x, typeof [].map]") == ["undefined", "function"]


@pytest.mark.parametrize(("script", "why"), [
    ("return null", "returns nothing"),
    ("return () => 1", "returns nothing"),
    ("return 1 / 0", "Infinity, which is not JSON"),
    ("return 10n", "BigInt"),
    ("return {toJSON() {}}", "nothing that is JSON"),
    ("const f = () => f(); return f()", "Maximum call stack size exceeded"),
    ("throw 'so'", "so"),
])  # fmt: skip
def test_what_fails(script: str, why: str) -> None:
    with pytest.raises(ExpressionFailed, match=why):
        run(script)


@pytest.mark.parametrize(("script", "why"), [
    ("while (true) {}", "ran longer than"),
    ("return 'x'.repeat(2_000_000)", "yielded more than 1 MiB"),
    ("const a = []; while (true) a.push(new Uint8Array(1e7))", "MiB of memory"),
])  # fmt: skip
def test_limits(script: str, why: str) -> None:
    with pytest.raises(ExpressionLimitExceeded, match=why):
        run(script)
    assert run("return 1") == 1


@pytest.mark.parametrize(("text", "end"), [
    ("return f(1)) + 2", 11), ("return ')' + \"(\" + `)`) x", 22), ("/* ) */ return 1 // )\n)", 22),
    ("return '\\')')", 12), ("return 1", None), ("return 'x)", None),
])  # fmt: skip
def test_where_a_script_ends(text: str, end: int | None) -> None:
    assert js.closing(text, 0) == end


def test_without_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A definition with scripts is refused, with what to install; a run that has one fails for good, and says it."""
    missing = guard.Engine("JavaScript", "no_such_module", "quickjs-ng")
    monkeypatch.setitem(guard._guards, guard.JAVASCRIPT, guard.Guard(engine=missing))
    told = "the extra 'js' is needed for JavaScript: quickjs-ng is not installed: pip install 'swf-temporal[js]'"
    [problem] = check('{"states": [{"id": "a", "type": "noop", "log": "js(return 42.5)"}]}').problems
    assert (problem.severity, problem.message) == (Severity.ERROR, f"state 'a': log: {told}")
    with pytest.raises(FatalFault) as failed:
        StructuredJq().evaluate("js(return 42.5)", {}, NOW)
    assert (failed.value.name, failed.value.message) == ("NotInstalled", f"{told}: js(return 42.5)")


@pytest.mark.parametrize(("script", "data"), [
    ("throw 'no'", {}),
    ("return data", float("nan")),
    ("return data", {1j}),
    ("let nested = []; for (let i = 0; i < 1500; i++) nested = [nested]; return nested", {}),
])  # fmt: skip
def test_what_fails_would_fail_again(script: str, data: Any) -> None:
    """The same script on the same data comes to the same, so that trying again is in vain."""
    with pytest.raises(ExpressionFailed) as failed:
        run(script, data)
    assert not failed.value.retryable
