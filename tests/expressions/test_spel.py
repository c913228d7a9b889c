"""The part of the Spring Expression Language that is evaluated here."""

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import ExpressionFailed
from swf_temporal.expressions.compiled import BadExpression
from swf_temporal.expressions.early import SpelCondition

DATA: JSON = {
    "name": "LateException", "error": {"name": "LateException"}, "count": 3,
    "users": [{"title": "CLERK"}, {"title": "MANAGER"}],
}  # fmt: skip


@pytest.mark.parametrize(("text", "holds"), [
    ("name eq 'LateException'", True),
    ("name is 'Late'", False),
    ("$.error.name ne 'LateException'", False),
    ("$.exception != null", False),
    ("$.error != null", True),
    ("$.nothing == null", True),
    (r"$.error.name matches '^\w+Exception$'", True),
    ("#jsonPath(taskOutputData,'$..title') eq 'MANAGER'", True),
    ("#jsonPath(stateOutputData, '$..title') ne 'MANAGER'", False),
    ("#jsonPath($.error, '$..title') eq 'MANAGER'", False),
    ("#jsonPath($.error, '$.name') eq 'LateException'", True),
    ("taskOutputData.count ge 3", True),
    ("taskOutputData == null", False),
    ("count gt 2 and count lt 4", True),
    ("count <= 2 or count >= 4", False),
    ("not (count eq 3)", False),
    ("!(count == 3) || count == 3.0", True),
    ("count lt 2 or name eq 'x' and true", False),
    ("$.users[?(@.title == 'CLERK')].title is \"CLERK\"", True),
    ("$.users[*].title eq 'CLERK'", True),
    ("$.users[?(@.title != 'a] b')].title eq 'MANAGER'", True),
    ("nothing lt 3", False),
    ("nothing", False),
    ("error", True),
    ("name eq 'it''s'", False),
])  # fmt: skip
def test_holds(text: str, *, holds: bool) -> None:
    assert SpelCondition(text)(DATA, {}) is holds


@pytest.mark.parametrize(("text", "message", "offset"), [
    ("", "ends where a value is expected", 0),
    ("name eq", "ends where a value is expected", 7),
    ("name.equals('x')", r"'\(' is not expected here; supported: eq ne", 11),
    ("T(java.lang.Runtime)", r"'\(' is not expected here", 1),
    ("#exec('ls')", "the function '#exec' is not known", 0),
    ("name = 'x'", "'=' is not known", 5),
    ("name = 'x' and more", "^'=' is not known", 5),
    ("(name eq 'x'", r"'\(' is not closed", 0),
    ("name eq 'x", "\"'x\" is not known|''x' is not known", 8),
    ("name matches '['", "is not a regular expression", 13),
    ("$.a[?(@.b eq 1", r"'\[' is not closed", 3),
    ("#jsonPath(name)", "#jsonPath is written", 0),
    ("#jsonPath(name, $.x)", "is a path in quotes", 16),
    ("#jsonPath(name, '$.x[')", "is not a JSONPath", 17),
    ("(" * 60 + "name" + ")" * 60, "nested too deeply", 40),
    ("not " * 60 + "name", "nested too deeply", 160),
    ("(name) and " * 60 + "(" * 60 + "name" + ")" * 60, "nested too deeply", 700),
    ("count eq 3 4", "'4' is not expected here", 11),
])  # fmt: skip
def test_refuses(text: str, message: str, offset: int) -> None:
    with pytest.raises(BadExpression, match=message) as refused:
        SpelCondition(text)
    assert refused.value.offset == offset


def test_values_without_an_order() -> None:
    """To ask which of a text and a number is less is a mistake that the run tells of."""
    with pytest.raises(ExpressionFailed, match="have no order"):
        SpelCondition("name lt 3")(DATA, {})
    with pytest.raises(ExpressionFailed, match="not a regular expression"):
        SpelCondition("name matches bad")({"name": "x", "bad": "["}, {})


def test_a_name_of_the_data_as_a_whole_is_a_name_in_the_data_first() -> None:
    data: JSON = {"taskOutputData": {"count": 1}, "count": 3}
    assert SpelCondition("taskOutputData.count eq 1")(data, {})
    assert SpelCondition("stateOutputData.count eq 3")(data, {})
    assert not SpelCondition("taskOutputData.count eq 1")([data], {})
