"""Large data are written as JSON in pieces, and come out as if they were written at once."""

import json
import random
from typing import Any

import pytest

from swf_temporal.json_writing import PLAIN, _Pieces, json_length, json_text
from swf_temporal.weighing import MOST_WRITTEN, json_size
from tests.test_weighing import any_json

_ENCODERS = {
    "plain": PLAIN,
    "readable": json.JSONEncoder(separators=(",", ":"), ensure_ascii=False),
    "sorted": json.JSONEncoder(separators=(",", ":"), sort_keys=True),
}


def _large(choices: random.Random) -> Any:
    """Return data that are cut at several depths."""
    many = [any_json(choices) for _ in range(20_000)]
    fields = {f"ключ {choices.random()}": any_json(choices) for _ in range(6_000)}
    numbers = [choices.choice([1, 2.5, True, None]) for _ in range(100_000)]
    return {"z": many, "a": [fields, "é" * 100_000, numbers, [many, [many]]], "few": {"": [], "o": {}}, "n": 1}


@pytest.mark.parametrize("encoder", _ENCODERS.values(), ids=_ENCODERS)
def test_as_if_written_at_once(encoder: json.JSONEncoder) -> None:
    """Whatever is large in them, and however the keys are to be ordered."""
    for seed in range(3):
        value = _large(random.Random(seed))  # noqa: S311 - the same values each time
        whole = encoder.encode(value)

        assert json_text(value, encoder) == whole
    assert json_length(value) == len(PLAIN.encode(value))


@pytest.mark.parametrize("small", [{}, [], "", 0, None, {"a": []}, [{}]], ids=repr)
@pytest.mark.parametrize("large", [["x" * 100_000], {"x" * 100_000: 1}, "x" * 100_000, [1] * 100_000], ids=lambda _: "")
def test_what_is_small_beside_what_is_large(small: Any, large: Any) -> None:
    """It is a piece of its own, even if nothing is in it."""
    for value in ([large, small], [small, large], {"a": large, "b": small}, {"a": small, "b": large}, [[large], small]):
        assert json_text(value) == PLAIN.encode(value)


def test_no_piece_is_large() -> None:
    """What is written at once is a small part of the whole, for arrays, objects, and what is nested in them."""
    row = {f"k{number}": [number] * 20 for number in range(50)}
    for value in (
        [1] * 1_000_000,
        [row] * 1_000,
        dict.fromkeys(map(str, range(200_000)), 1),
        {"a": {"b": [row] * 999}},
    ):
        sizes: dict[int, int] = {}
        json_size(value, sizes=sizes)
        longest = max(map(len, _Pieces(PLAIN, sizes).of(value)))

        assert longest < 200_000 < json_length(value)


def test_what_is_too_large_is_not_written() -> None:
    """Its length is said all the same: at least, since shared parts would make it endless."""
    value: Any = [1]
    for _ in range(60):
        value = [value, value]

    assert json_length(value) > MOST_WRITTEN
    assert json_length("ü" * 10) == json_length("ü" * 10, 12) == 62
    assert json_length("ü" * 10, 11) == 12


def test_numbers_that_are_not_finite() -> None:
    """They are refused in a piece as they are in the whole."""
    value = [1.0] * 100_000 + [float("nan")]
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text(value, json.JSONEncoder(separators=(",", ":"), allow_nan=False))

    assert json_text(value).endswith("NaN]")


def test_deep_and_large() -> None:
    """What just fits on the stack at once is written, and what does not is refused as ever."""
    value: Any = ["x" * 100_000]
    for _ in range(700):
        value = [value]
    assert json_text(value) == PLAIN.encode(value)

    for _ in range(100_000):
        value = [value]
    with pytest.raises(RecursionError):
        json_text(value)
