"""Messages have the plurals, articles and lists of English."""

import pytest

from swf_temporal.base.grammar import counted, listed, plural, with_article


@pytest.mark.parametrize(("made", "text"), [
    (counted(0, "event"), "no events"), (counted(1, "event"), "1 event"), (counted(2000, "event"), "2,000 events"),
    (plural("branch"), "branches"), (plural("retry"), "retries"), (plural("key"), "keys"),
    (with_article("object"), "an object"), (with_article("OSError"), "an OSError"), (with_article("set"), "a set"),
    (with_article("UUID"), "a UUID"), (with_article("User"), "a User"), (listed(["a"]), "a"),
    (listed(["a", "b"]), "a and b"), (listed(["a", "b", "c"]), "a, b and c"),
])  # fmt: skip
def test_words_are_as_english_has_them(made: str, text: str) -> None:
    assert made == text
