"""Data as pages of the console show them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swf_temporal.base.strict_json import show_json, write_json
from swf_temporal.http.console.pages import indented

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(_VALUES, st.booleans(), st.integers(0, 200))
def test_the_beginning_is_that_of_the_whole(value: Any, escapes: bool, most: int) -> None:  # noqa: FBT001 - hypothesis gives it
    whole = show_json(value, indent=2)
    shown, is_cut = indented(write_json(value, ensure_ascii=escapes).encode(), most)
    assert is_cut == (len(whole) > most)
    assert shown == whole[:most] or "\\" in shown


@pytest.mark.parametrize("text", ['{"a": [', '{"a": "b\\', "]]", '"', "{}}", ""])
def test_what_is_cut_or_is_not_json_is_shown_as_it_is(text: str) -> None:
    assert "".join(indented(text.encode(), 100)[0].split()) == "".join(text.split())
