"""The names of variables that are always there are not given to others."""

from collections.abc import Callable

import pytest

TEXT = """
id: a
specVersion: "0.8"
functions: [{name: f, operation: "api#f"}]
states:
- name: A
  type: foreach
  inputCollection: .list
  iterationParam: NAME
  actions: [{functionRef: f}]
  end: true
""".lstrip()


@pytest.mark.parametrize("name", ["SECRETS", "args", "ENV", "__now"])
def test_a_name_that_is_taken(found: Callable[[str, str], list[str]], name: str) -> None:
    """An element cannot have the name of a variable that every expression may use."""
    assert found("reserved-name", TEXT.replace("NAME", name)) == [
        (f"8:19 error state 'A': the iterationParam {name!r} would hide the variable ${name}, which is always there"
         " | another name, such as item, is free"),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["workflow", "argument", "${ .item }"])
def test_a_name_that_is_free(found: Callable[[str, str], list[str]], name: str) -> None:
    """Any other name will do, also one that differs in case alone: names of variables do."""
    assert found("reserved-name", TEXT.replace("NAME", name)) == []
