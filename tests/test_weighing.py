"""What data come to, before anything is made of them."""

import json
import random
from typing import Any

from swf_temporal.base.accounting import json_size, memory_of
from tests.sampling import chance


def any_json(choices: random.Random, depth: int = 0) -> Any:
    kind = choices.randrange(8 if depth < 4 else 5)
    if kind < 2:
        return choices.choice([1, 0, -1.5, True, None, 12_345])
    if kind < 5:
        return "x" * choices.randrange(5)
    if kind == 5:
        return {"k" * number: any_json(choices, depth + 1) for number in range(choices.randrange(4))}
    return [any_json(choices, depth + 1) for _ in range(choices.randrange(4))]


def test_never_more_than_the_json_takes() -> None:
    choices = chance("JSON to be weighed")
    for _ in range(5_000):
        value = any_json(choices)
        assert json_size(value) <= len(json.dumps(value, separators=(",", ":")))


def test_texts_and_keys_count_in_full() -> None:
    value = {"a" * 50: ["x" * 1_000, {"b" * 50: "y" * 1_000}]}
    assert json_size(value) > 0.95 * len(json.dumps(value, separators=(",", ":")))


def test_what_is_shared_counts_as_often_as_it_is_written() -> None:
    value: Any = [1]
    for _ in range(300):
        value = [value, value]
    assert json_size(value, 2**400) > 2**300
    assert memory_of([value]) < 50_000


def test_enough_is_enough() -> None:
    assert 1_000 < json_size([["x" * 100] * 50] * 1_000, 1_000) < 100_000


def test_nested_too_deeply() -> None:
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    assert json_size(value) == 0


def test_memory_of_what_is_held_counts_each_object_once() -> None:
    text = "x" * 10_000
    assert memory_of([[text]]) > 10_000
    assert memory_of([[text] * 10, {"a": text}]) < 12_000
    assert memory_of([[1] * 10_000]) > 50_000
    assert memory_of(["ü" * 10_000]) > 3 * memory_of([text])
