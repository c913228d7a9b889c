"""Globs match whole texts, and take little time whatever they are."""

import pytest

from swf_temporal.languages.direktiv.globs import is_glob_of

FITTING = [
    ("*", ""), ("a*c", "abc"), ("a*c", "ac"), ("a?c", "abc"), ("[a-c]x", "bx"), ("[!a]x", "bx"), ("[^a]x", "bx"),
    ("[]]", "]"), ("[-a]", "-"), ("{a,b*}z", "bqz"), ("{a,{b,c}d}", "cd"), ("{,x}y", "y"), (r"\*", "*"),
    (r"\{a\}", "{a}"), ("[", "["), ("{a", "{a"), ("a\\", "a\\"), ("com.*.failed", "com.pay.failed"), ("", ""),
]  # fmt: skip
OTHERS = [
    ("c*", "direktiv.x"), ("abc", "abcd"), ("bc", "abc"), ("a?c", "ac"), ("[a-c]x", "dx"), ("[!a]x", "ax"),
    ("[!a]x", "x"), ("{a,b}", "ab"), ("{a,b}", "{a,b}"), (r"\*", "a"), ("e.r", "eXr"), ("A", "a"),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "text"), FITTING)
def test_matches(pattern: str, text: str) -> None:
    assert is_glob_of(pattern, text)


@pytest.mark.parametrize(("pattern", "text"), OTHERS)
def test_does_not_match(pattern: str, text: str) -> None:
    assert not is_glob_of(pattern, text)


@pytest.mark.timeout(60)
def test_a_hostile_glob_takes_little_work() -> None:
    assert not is_glob_of("*a" * 200 + "b", "a" * 5000)
    assert is_glob_of("{a*,b*," * 15 + "x" + "}" * 15 + "*", "a" * 3000)
