"""How large data may be for which an expression of jq is evaluated where a run goes on."""

import pytest

from swf_temporal.expressions.jq_bounds import jq_bound
from swf_temporal.expressions.lexing import tokens

NEVER = 0
LINEAR = 260_000
"""Characters of data on which something is done for each element once."""
QUADRATIC = 1_000


@pytest.mark.parametrize(
    ("expression", "largest"),
    [
        (".a.b", LINEAR),
        ("[.x, 3] | add", LINEAR // 2),
        ("map(.price) | add", LINEAR),
        (".items | map(select(.x > 3)) | length", LINEAR),
        (".a[].b[]", QUADRATIC),
        (".a[] | .b[]", LINEAR),
        ("map({a: .a, b: .b, total: .c}) | sort_by(.a)", LINEAR),
        ("map({a, b, range: .c})", LINEAR),
        ("to_entries | map(select(.value)) | from_entries", LINEAR),
        ('"\\(.a) and \\(.b)"', LINEAR),
        ("map(.a * 2)", LINEAR // 2),
        (".a |= . + 1", LINEAR // 2),
        ("if .a then .b elif .c then .d else .e end", LINEAR),
        ("[.a[], .b[]]", QUADRATIC // 2),
        (".[] as $x | $list[] | . + $x", QUADRATIC // 2),
        ("map(.x) - $all", QUADRATIC),
        ("map(map(map(.)))", 150),
        ("map(contains([1]))", 150),
        ("(. + .) | (. + .)", LINEAR // 4),
        (" | ".join(["(. + .)"] * 20), NEVER),
        (" | ".join(["(1, 2)"] * 20), NEVER),
        (" | ".join(["tojson"] * 20), NEVER),
        ("map(.a * .b) | add", NEVER),
        ('"a" * 1000000000', NEVER),
        (".[1000000000] = 1", NEVER),
        (".[.n] |= 1", NEVER),
        ("[range(600000)] | length < 0", NEVER),
        ("[recurse]", NEVER),
        ("reduce .[] as $x (0; . + .)", NEVER),
        ("[limit(3; repeat(1))]", NEVER),
        ("until(. > 100; . + 1)", NEVER),
        ("def f: f; f", NEVER),
        ('test("(a+)+$")', NEVER),
        ('gsub("a"; "b")', NEVER),
        ("a_function_that_is_new", NEVER),
        (".a as [$x] ?// $x | $x", NEVER),
    ],
)
def test_the_largest_data(expression: str, largest: int) -> None:
    """It shrinks with what goes through them again, or multiplies them; what is not known to be bounded has none."""
    bound = jq_bound(list(tokens(expression)))
    assert bound.holds(largest) is bool(largest)
    assert not bound.holds(3 * largest + 8)
