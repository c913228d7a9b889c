"""What editors ask: lists side by side have names, which are keys, and calls refer to functions."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from swf_temporal.base.data import JSON
from swf_temporal.languages.marks import Kind, Mark, in_order, referred
from swf_temporal.languages.port import ShownExpression
from swf_temporal.text.origin import Object
from tests.languages.steps.expressions import MARK, StepsExpressions
from tests.languages.steps.model import SIDE_BY_SIDE


def marks_in(root: Object) -> list[Mark]:
    return in_order(_in(root))


def _in(node: Any) -> Iterator[Mark]:
    if isinstance(node, Object):
        for key, value in node.items():
            if key in SIDE_BY_SIDE and isinstance(value, Object):
                yield from (Mark(Kind.STATE, name, value.where.keys[name][0], defines=True) for name in value)
            elif key == "call" and isinstance(value, str):
                yield from referred(Kind.FUNCTION, node, key)
            yield from _in(value)
    elif isinstance(node, list):
        for one in node:
            yield from _in(one)


def expression_at(line: str, column: int) -> ShownExpression | None:
    """Return the expression that goes on from a mark to the end of the line."""
    start = line.find(f" {MARK}") + 1
    if not 0 < start <= column:
        return None
    return ShownExpression(start, len(line), partial(_value_of, line[start:]))


def _value_of(text: str, data: JSON) -> JSON:
    return StepsExpressions().value_of(text, data, {})
