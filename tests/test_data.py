"""Merging, as an algebra."""

import json
import re
from contextlib import suppress

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swf_temporal.base.data import JSON, Merger, Path, ReplacingMerger, add_result, identity, merge
from swf_temporal.base.strict_json import NotJSON, json_of

SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab", max_size=2)
VALUES: st.SearchStrategy[JSON] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=1), inner, max_size=3)
)
OBJECTS = st.dictionaries(st.text("abc", max_size=1), VALUES, max_size=3)
KEYS = st.lists(st.text("abc", min_size=1, max_size=1), min_size=1, max_size=3)


def _without_repeats(value: JSON) -> JSON:
    """Return *value* with every array in it holding each element once, as merging leaves arrays."""
    if isinstance(value, dict):
        return {key: _without_repeats(item) for key, item in value.items()}
    return merge(value, []) if isinstance(value, list) else value


def _is_free(value: JSON, path: list[str]) -> bool:
    """Tell whether all that *path* leads through is an object, or not there yet."""
    for key in path:
        if value is not None and not isinstance(value, dict):
            return False
        value = None if value is None else value.get(key)
    return True


def merge_at(target: JSON, path: Path, addition: JSON) -> JSON:
    merger = Merger(target)
    merger.merge_at(path, addition)
    return merger.data


def _at(value: JSON, path: list[str]) -> JSON:
    for key in path:
        assert isinstance(value, dict)
        value = value[key]
    return value


@given(OBJECTS)
def test_merging_an_object_into_itself_changes_nothing(value: dict[str, JSON]) -> None:
    value = {key: _without_repeats(item) for key, item in value.items()}
    assert merge(value, value) == value


@given(OBJECTS)
def test_the_empty_object_is_neutral(value: dict[str, JSON]) -> None:
    assert merge(value, {}) == value
    assert merge({}, value) == value


@given(OBJECTS, OBJECTS)
def test_every_key_survives(target: dict[str, JSON], addition: dict[str, JSON]) -> None:
    merged = merge(target, addition)
    assert isinstance(merged, dict)
    assert set(merged) == {*target, *addition}


@given(st.lists(VALUES, max_size=4), st.lists(VALUES, max_size=4))
def test_joined_arrays_hold_each_element_once(target: list[JSON], addition: list[JSON]) -> None:
    merged = merge(target, addition)
    assert isinstance(merged, list)
    kept = [identity(item) for item in merged]
    assert kept == list(dict.fromkeys(identity(item) for item in [*target, *addition]))


@given(VALUES, VALUES)
def test_merging_changes_neither_value(target: JSON, addition: JSON) -> None:
    before = identity(target), identity(addition)
    merge(target, addition)
    with suppress(TypeError):  # something else than a parent stands there
        merge_at(target, ["a", "b"], addition)
    assert (identity(target), identity(addition)) == before


@given(VALUES, st.lists(st.tuples(st.sampled_from([None, [], ["a"], ["a", 0], ["b", "a"]]), VALUES), max_size=6))
def test_merging_one_after_the_other_is_merging_each(target: JSON, additions: list[tuple[Path | None, JSON]]) -> None:
    """A merger comes to what is merged value by value, each time anew, and changes none of these values."""
    before = identity([target, *(addition for _, addition in additions)])
    merger, each = Merger(target), target
    for path, addition in additions:
        if path is None:
            merger.add_result(addition)
            each = add_result(each, addition)
            continue
        try:
            each = merge_at(each, path, addition)
        except TypeError:  # something else than a parent stands there
            with pytest.raises(TypeError):
                merger.merge_at(path, addition)
        else:
            merger.merge_at(path, addition)
        assert identity(merger.data) == identity(each)
    assert identity(merger.data) == identity(each)
    assert identity([target, *(addition for _, addition in additions)]) == before


@given(VALUES, VALUES)
def test_an_empty_path_is_the_root(target: JSON, addition: JSON) -> None:
    assert merge_at(target, [], addition) == merge(target, addition)


@given(OBJECTS, KEYS, VALUES)
def test_merging_at_a_path_makes_the_parents(target: dict[str, JSON], path: list[str], addition: JSON) -> None:
    merged = merge_at({}, path, addition)
    assert _at(merged, path) == addition
    assume(_is_free(target, path))
    _at(merge_at(target, path, addition), path)


@given(OBJECTS, KEYS, VALUES)
def test_merging_at_a_path_leaves_the_rest(target: dict[str, JSON], path: list[str], addition: JSON) -> None:
    assume(_is_free(target, path))
    merged = merge_at(target, path, addition)
    assert isinstance(merged, dict)
    assert {k: v for k, v in merged.items() if k != path[0]} == {k: v for k, v in target.items() if k != path[0]}


@given(KEYS, st.text("abc", min_size=1, max_size=1), VALUES.filter(lambda value: not isinstance(value, dict | None)))
def test_merging_at_a_path_throws_nothing_away(path: list[str], beyond: str, present: JSON) -> None:
    target = merge_at({}, path, present)
    with pytest.raises(TypeError, match="stands where an object is needed"):
        merge_at(target, [*path, beyond], 5)


@pytest.mark.parametrize(("target", "path", "told"), [
    ({"list": [1]}, ["list", "name"], "an array stands where an object is needed"),
    ({"a": 1}, [0], "an object stands where an array is needed"),
    ({"a": "text"}, ["a", 0], '"text" stands where an array is needed'),
])  # fmt: skip
def test_what_stands_in_the_way_is_told(target: JSON, path: list[str | int], told: str) -> None:
    with pytest.raises(TypeError, match=told):
        merge_at(target, path, 5)


def test_null_makes_way() -> None:
    assert merge_at({"a": None}, ["a", "b", 1], 5) == {"a": {"b": [None, 5]}}


@given(VALUES)
def test_null_as_a_result_changes_nothing(target: JSON) -> None:
    assert add_result(target, None) == target


def test_a_result_that_is_no_object_is_put_under_response() -> None:
    assert add_result({}, 5) == 5
    assert add_result({"a": 1}, 5) == {"a": 1, "response": 5}


def test_equal_numbers_are_one_element_however_they_are_written() -> None:
    assert merge([1], [1.0, True, "1"]) == [1, True, "1"]


@given(VALUES)
def test_json_is_copied_as_it_is(value: JSON) -> None:
    """What is JSON already stays what it is, and a copy of an array or an object is another one."""
    copy = json_of(value)
    assert json.dumps(copy) == json.dumps(value)
    assert copy is not value or not isinstance(value, list | dict)


@pytest.mark.parametrize(
    ("value", "where"), [({"a": [0, {"b": {1}}]}, ".a[1].b"), ([[float("inf")]], ".[0][0]"), ({"a": {None: 1}}, ".a")]
)
def test_what_is_not_json_is_refused_with_its_place(value: object, where: str) -> None:
    with pytest.raises(NotJSON, match=rf"\(at {re.escape(where)}\)$"):
        json_of(value)


@pytest.mark.parametrize(("target", "addition", "merged"), [
    (None, 1, 1), ({}, [1], [1]), ({}, 1, 1), ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}), ({"a": 1}, None, {"a": 1}),
    ({"a": 1}, 5, {"a": 1, "response": 5}), ({"a": 1, "response": [1]}, [2], {"a": 1, "response": [2]}),
    ([1], [2], [2]), ([1], 2, [1, 2]), ([1], 1, [1]), ([1], {"a": 1}, [1, {"a": 1}]), (1, 2, 2),
    (1, [2], [1, 2]), (1, [2, 1], [2, 1]), (1, [True], [1, True]), ("old", {"a": 1}, {"a": 1, "_target": "old"}),
    ({"a": {"b": 1}, "c": "old"}, {"a": 5, "c": [1]}, {"a": {"b": 1, "response": 5}, "c": ["old", 1]}),
])  # fmt: skip
def test_sonataflow_loses_nothing_but_arrays(target: JSON, addition: JSON, merged: JSON) -> None:
    """Values of different kinds are kept, an array takes the place of another one; the target stays as it was."""
    before = json.dumps(target)
    merger = ReplacingMerger(target)
    merger.merge(addition)
    assert merger.data == merged
    assert json.dumps(target) == before
