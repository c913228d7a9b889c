"""Progress records that hold each value once."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from swf_temporal.base.data import JSON
from swf_temporal.runtime.inbox import SAME, with_copies, without_copies

LARGE: list[JSON] = [{"number": number} for number in range(40)]
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.integers() | st.sampled_from([LARGE, {"of": LARGE}, [], {}]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", max_size=2), inner, max_size=4),
)


@given(st.dictionaries(st.text("abc", max_size=2), VALUES, max_size=4))
def test_a_record_is_what_it_was_once_it_is_read(record: dict[str, Any]) -> None:
    """What stands twice is written once, and nothing else of the record changes; the record itself does not at all."""
    before = json.dumps(record)
    written = json.dumps(without_copies(record))
    assert json.dumps(record) == before
    assert written.count('{"number": 39}') <= 1
    read = dict(with_copies(json.loads(written)))
    read.pop(SAME, None)
    assert read == record


def test_what_was_shared_is_shared_again() -> None:
    """It is one value in the run that goes on, so that the next record has it once, too."""
    read = with_copies(json.loads(json.dumps(without_copies({"a": LARGE, "b": [{"c": LARGE}]}))))
    assert read["a"] is read["b"][0]["c"]


def test_long_texts_are_written_once() -> None:
    text = "x" * 1000
    record = {"a": {"b": text}, "c": {"b": text, "d": 1}}
    written = json.dumps(without_copies(record))
    assert written.count(text) == 1
    assert {**with_copies(json.loads(written)), SAME: None} == {**record, SAME: None}


def test_a_record_without_repetitions_is_left_alone() -> None:
    small: list[JSON] = [1]
    record: dict[str, Any] = {"a": small, "b": [small], "c": LARGE}
    assert without_copies(record) is record
