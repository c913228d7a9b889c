"""What a state injects is an object."""

from collections.abc import Callable

import pytest

TEXT = """
id: a
specVersion: "0.8"
states:
- name: A
  type: inject
  data: DATA
  end: true
""".lstrip()


@pytest.mark.parametrize(("data", "kind"), [("7", "7"), ("true", "True"), ("plain", "'plain'"), ("[]", "a list")])
def test_no_object(found: Callable[[str, str], list[str]], data: str, kind: str) -> None:
    message = f"state 'A' injects {kind}, which takes the place of all data: only an object is added to it"
    hint = "write an object, as in data: {key: value}"
    assert found("inject-data", TEXT.replace("DATA", data)) == [f"6:9 warning {message} | {hint}"]


@pytest.mark.parametrize("data", ["{}", "{a: 1}", "null"])
def test_object(found: Callable[[str, str], list[str]], data: str) -> None:
    assert found("inject-data", TEXT.replace("DATA", data)) == []
