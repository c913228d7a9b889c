"""The kinds of value that an expression can yield, as far as they can be derived easily.

The kinds have the names that jq gives them.
"""

from collections.abc import Mapping
from typing import Final

from swf_temporal.base.data import kind_of
from swf_temporal.expressions.parsing import ArrayOf, BinaryOperation, Builtin, IfElse, Literal, ObjectOf, Tree

ANY: Final = frozenset({"null", "boolean", "number", "string", "array", "object"})
"""The kinds of value that an unknown expression can yield."""

_CALLS: Final[Mapping[str, frozenset[str]]] = {
    "length": frozenset({"number"}),
    "not": frozenset({"boolean"}),
    "objects": frozenset({"object"}),
    "tostring": frozenset({"string"}),
    "values": ANY - {"null"},
}
_ADDED = ("number", "string", "array", "object", "null")


def kinds_of(tree: Tree) -> frozenset[str]:
    """Return the possible kinds of an expression's output; it may also fail."""
    match tree:
        case Literal(value):
            return frozenset({kind_of(value)})
        case ObjectOf():
            return frozenset({"object"})
        case ArrayOf():
            return frozenset({"array"})
        case Builtin(name):
            return _CALLS.get(name, ANY)
        case IfElse(_, chosen, otherwise):
            return kinds_of(chosen) | kinds_of(otherwise)
        case BinaryOperation(sign, left, right):
            return _of_operation(sign, kinds_of(left), kinds_of(right))
        case _:
            return ANY


def _of_operation(sign: str, left: frozenset[str], right: frozenset[str]) -> frozenset[str]:
    match sign:
        case "|":
            return right
        case "//":
            return (left - {"null"}) | right
        case "+":
            found = {
                kind for kind in _ADDED if {kind, "null"} & left and {kind, "null"} & right and kind in left | right
            }
        case "-":
            found = {"number", "array"} & left & right
        case "*":
            found = {"number", "object"} & left & right
            if ("string" in left and "number" in right) or ("number" in left and "string" in right):
                found |= {"string", "null"}
        case "/":
            found = {"number"} & left & right
            if "string" in left & right:
                found |= {"array"}
        case _:
            return frozenset({"boolean"})
    # An operation that can only fail is left to jq, which reports the error.
    return frozenset(found) or ANY
