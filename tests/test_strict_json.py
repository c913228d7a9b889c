"""What is read and written as JSON is exact, or refused; large data come out as if they were written at once."""

import json
import random
from typing import Any

import pytest

from swf_temporal.base.accounting import MAX_WRITTEN
from swf_temporal.base.strict_json import (
    NotJSON,
    in_pieces,
    json_length,
    json_of,
    read_json,
    read_written,
    show_json,
    write_json,
)
from tests.sampling import seeds
from tests.test_weighing import any_json

PLAIN = json.JSONEncoder(separators=(",", ":"))
_WAYS: dict[str, dict[str, Any]] = {"plain": {}, "readable": {"ensure_ascii": False}, "sorted": {"sort_keys": True}}


def _large(choices: random.Random) -> Any:
    many = [any_json(choices) for _ in range(20_000)]
    fields = {f"ключ {choices.random()}": any_json(choices) for _ in range(6_000)}
    numbers = [choices.choice([1, 2.5, True, None]) for _ in range(100_000)]
    return {"z": many, "a": [fields, "é" * 100_000, numbers, [many, [many]]], "few": {"": [], "o": {}}, "n": 1}


@pytest.mark.parametrize("way", _WAYS.values(), ids=_WAYS)
def test_as_if_written_at_once(way: dict[str, Any]) -> None:
    for seed in seeds("large JSON", 1, 3):
        value = _large(random.Random(seed))  # noqa: S311 - the same values each time
        whole = json.dumps(value, separators=(",", ":"), **way)
        assert write_json(value, **way, sizes={}) == write_json(value, **way) == whole
    assert json_length(value) == len(PLAIN.encode(value))


@pytest.mark.parametrize("small", [{}, [], "", 0, None, {"a": []}, [{}]], ids=repr)
@pytest.mark.parametrize("large", [["x" * 100_000], {"x" * 100_000: 1}, "x" * 100_000, [1] * 100_000], ids=lambda _: "")
def test_what_is_small_beside_what_is_large(small: Any, large: Any) -> None:
    for value in ([large, small], [small, large], {"a": large, "b": small}, {"a": small, "b": large}, [[large], small]):
        assert write_json(value, sizes={}) == PLAIN.encode(value)


def test_no_piece_is_large() -> None:
    """What is written at once is a small part of the whole, for arrays, objects, and what is nested in them."""
    row = {f"k{number}": [number] * 20 for number in range(50)}
    for value in (
        [1] * 1_000_000,
        [row] * 1_000,
        dict.fromkeys(map(str, range(200_000)), 1),
        {"a": {"b": [row] * 999}},
    ):
        lengths: list[int] = []

        def encode(piece: Any, lengths: list[int] = lengths) -> str:
            text = PLAIN.encode(piece)
            lengths.append(len(text))
            return text

        assert in_pieces(value, encode, {}, sort_keys=False) == PLAIN.encode(value)
        assert max(lengths) < 200_000 < json_length(value)


def test_what_is_too_large_is_not_written() -> None:
    value: Any = [1]
    for _ in range(60):
        value = [value, value]
    assert json_length(value) > MAX_WRITTEN
    assert json_length("ü" * 10) == json_length("ü" * 10, 12) == 62
    assert json_length("ü" * 10, 11) == 12


def test_numbers_that_are_not_finite() -> None:
    value = [1.0] * 100_000 + [float("nan")]
    large: tuple[dict[int, int] | None, ...] = ({}, None)
    for sizes in large:
        with pytest.raises(NotJSON, match=r"NaN is not a JSON number \(at \.\[100000\]\)"):
            write_json(value, sizes=sizes)


def test_deep_and_large() -> None:
    """What just fits on the stack at once is written, and what does not is refused as ever."""
    value: Any = ["x" * 100_000]
    for _ in range(700):
        value = [value]
    assert write_json(value, sizes={}) == PLAIN.encode(value)
    for _ in range(100_000):
        value = [value]
    with pytest.raises(NotJSON, match="nested too deeply"):
        write_json(value, sizes={})


DEEPEST = "[" * 200 + "]" * 200
EXACT = {
    "pair": ('"\\ud83d\\ude00"', "😀"),
    "escaped backslash": ('"\\\\ud83d"', "\\ud83d"),
    "largest": ("1.7976931348623157e308", 1.7976931348623157e308),
    "smallest": ("1e-400", 0.0),
    "long": ("1" * 308, int("1" * 308)),
    "long in a text": (f'"{"9" * 5000}"', "9" * 5000),
    "deep": (DEEPEST, json.loads(DEEPEST)),
    "many brackets": (f"[{DEEPEST[1:-1]},{'[],' * 300}[]]", json.loads(f"[{DEEPEST[1:-1]},{'[],' * 300}[]]")),
    "same key elsewhere": ('{"a":{"a":1},"b":{"a":2}}', {"a": {"a": 1}, "b": {"a": 2}}),
}
REFUSED = {
    "NaN": ("[NaN]", "NaN is not a JSON number"),
    "infinity": ("-Infinity", "-Infinity is not a JSON number"),
    "exponent": ('{"a":1e400}', "the number 1e400 is too large"),
    "digits": ('{"a":[' + "1" * 400 + "]}", r"a number of 400 digits is too large \(at \.a\[0\]\)"),
    "thousands of digits": ("1" * 5000, "a number of thousands of digits is too large"),
    "digits and a point": ("9" * 400 + ".5", "the number 9{24}… is too large"),
    "high half": ('{"a":"x\\ud83d"}', r"the text has half of a surrogate pair, at character 1 \(at \.a\)"),
    "low half": ('["\\uDE00"]', "half of a surrogate pair"),
    "wrong order": ('"\\ude00\\ud83d"', "half of a surrogate pair"),
    "half in a key": ('{"a":{"\\ud83d":1}}', r"a key has half of a surrogate pair, at character 0 \(at \.a\)"),
    "half as it is": ('["\ud83d"]', "the text has half of a surrogate pair, at character 2"),
    "key twice": ('[{"a":{"b":1,"c":2,"b":1}}]', "the key 'b' is written twice in one object"),
    "too deep": (f"[{DEEPEST}]", "nested too deeply"),
    "much too deep": ("[" * 100_000, "nested too deeply"),
    "not JSON": ("{a: 1}", "line 1 column 2"),
    "nothing": ("", "line 1 column 1"),
    "more": ("1 2", "line 1 column 3"),
}


@pytest.mark.parametrize(("text", "value"), EXACT.values(), ids=EXACT)
def test_exact(text: str, value: Any) -> None:
    assert read_json(text) == read_json(text.encode()) == read_json(text.encode("utf-16")) == value
    assert read_json(write_json(value)) == read_json(write_json(value, ensure_ascii=False).encode()) == value
    assert read_written(write_json(value)) == json_of(value) == value


@pytest.mark.parametrize(("text", "why"), REFUSED.values(), ids=REFUSED)
def test_refused(text: str, why: str) -> None:
    with pytest.raises(NotJSON, match=why):
        read_json(text)
    if text != REFUSED["half as it is"][0]:
        with pytest.raises(NotJSON, match=why):
            read_json(text.encode())


@pytest.mark.parametrize("content", [b"\xff", '"\ud83d"'.encode("utf-8", "surrogatepass"), b"\xfe\xff\x00"], ids=repr)
def test_bytes_that_are_not_text(content: bytes) -> None:
    with pytest.raises(NotJSON, match="it is not text in UTF-"):
        read_json(content)


@pytest.mark.parametrize("value", [
    float("nan"), float("inf"), 10**5000, "\ud83d", {"\ude00": 1}, b"x", {1}, object(),
], ids=lambda value: type(value).__name__)  # fmt: skip
def test_what_is_not_written(value: Any) -> None:
    for write in (json_of, write_json, lambda given: write_json(given, ensure_ascii=False)):
        with pytest.raises(NotJSON, match=r"\.a\[0\]"):
            write({"a": [value]})


def test_what_contains_itself() -> None:
    value: list[Any] = []
    value.append(value)
    for refuse in (json_of, write_json):
        with pytest.raises(NotJSON, match="nested too deeply"):
            refuse(value)


def test_people_are_shown_everything() -> None:
    assert show_json(["\ud83d", "é", float("inf"), {1}]) == '["\\ud83d", "é", Infinity, "{1}"]'
