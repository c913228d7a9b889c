"""Is a plain text that was meant as an expression told from one that was not?"""

import pytest

from swf_temporal.expressions.evaluation import Expressions
from swf_temporal.languages.expression_hints import meant, names_in
from swf_temporal.languages.serverless_workflow.expressions import VARIABLES

EXPRESSIONS = Expressions(variables=VARIABLES | {"item"}, functions={"net": ".price"})
PATHS = Expressions(variables=VARIABLES | {"item"}, language="jsonpath")


@pytest.mark.parametrize(
    "text",
    [".message", " .order.id ", ".list | length", ".list[0].x", '"a" + .b', '"Hello \\(.name)"', "$CONST.x", "$item",
     "$WORKFLOW.id", "map(.x)", "if .a then 1 else 2 end", "{id: .id}", "[.a, .b]", ".[0]", '."a b"', ". | keys",
     ".total/.count", ".total / 2", "fn:net", ".. | .price?"],
)  # fmt: skip
def test_what_names_data_was_meant(text: str) -> None:
    assert meant(text, EXPRESSIONS, ()) == text.strip()


@pytest.mark.parametrize(
    "text",
    ["", "plain", "length", "now", "1 + 1", '"quoted"', ".", "..", "...", "...more", "[.]", ".5", "0.5", "$5.00",
     "$HOME", "$ENV.HOME", "{id}", ".env", ".env.local", ".tar.gz", ".jpg, .png", ".example.com", ".NET", "./run",
     "../first", ".github/workflows/test.yaml", "error.log", "first.name", "error-log.txt", "input/first.json",
     "user@example.com", "https://example.com/.well-known/x", "it is .x", "Hello .name", "(.a", "# .x", "fn:gross",
     "{{ name }}"],
)  # fmt: skip
def test_what_names_none_was_not(text: str) -> None:
    """It does not compile, or names no data, or is the name of a file, a host or a thing."""
    assert meant(text, EXPRESSIONS, ()) is None


def test_a_name_that_the_definition_knows_is_a_field() -> None:
    assert meant(".env", EXPRESSIONS, {"env"}) == ".env"
    assert meant("error.log", EXPRESSIONS, {"log"}) is None


def test_the_old_marks_count() -> None:
    assert meant("{{ .name }}", EXPRESSIONS, ()) == ".name"


@pytest.mark.parametrize(("text", "is_meant"), [("$.a", True), ("$item.x", True), ("$", False), (".a", False)])
def test_paths(text: str, is_meant: bool) -> None:  # noqa: FBT001 - what is expected
    assert (meant(text, PATHS, ()) is not None) is is_meant


def test_names() -> None:
    """The names of fields are found wherever they stand, and none in what has no words."""
    assert names_in('.a + (.b | map(.c)) + "x.d"') == {"a", "b", "c"}
    assert names_in("(.a") == frozenset()


@pytest.mark.parametrize(("text", "expression"), [
    ('"Bearer " + $SECRET.tok', '"Bearer " + $SECRETS.tok'), ("$SECRET.tok", "$SECRETS.tok"),
    ("$const.rate", "$CONST.rate"), ('"Got: \\(.)"', '"Got: \\(.)"'), ("Costs $SECRET", None), ("$HOME", None),
    ('"Got: it"', None),
])  # fmt: skip
def test_what_misspells_a_variable_or_is_in_quotes_was_meant(text: str, expression: str | None) -> None:
    assert meant(text, EXPRESSIONS, ()) == expression
