"""The place in the data that an expression names."""

from collections.abc import Callable, Collection, Sequence
from typing import Final, TypeAlias

from swf_temporal.base.data import JSON
from swf_temporal.expressions.ast import ArrayOf, Identity, IfElse, Index, Literal, ObjectOf, Tree, Variable
from swf_temporal.expressions.compiled import BadExpression, Variables
from swf_temporal.expressions.jq import JqProgram
from swf_temporal.expressions.parsing import parsed

MAX_INDEX: Final = 1_000_000
"""The highest index at which an element can be put: those before it are made, as many as there are."""
_MAX_STEPS: Final = 400
"""How deep a place can be in the data."""

Target: TypeAlias = Callable[[JSON, Variables], list[str | int]]
"""Yields the path that an expression names in the data."""


def target(text: str, declared: Collection[str]) -> Target:
    """Compile an expression that names a place; an empty one names the root.

    Raises BadExpression where it cannot name one, or one that data cannot have.
    """
    try:
        return _target(text, declared)
    except RecursionError:
        raise BadExpression("the expression is nested too deeply") from None


def refused(path: Sequence[str | int]) -> str | None:
    """Return why nothing can be put at *path*, or None where something can."""
    if len(path) > _MAX_STEPS:
        return f"this names a place that is {len(path):,} levels deep, and {_MAX_STEPS} are the most"
    highest = max((step for step in path if isinstance(step, int)), default=0)
    if highest > MAX_INDEX:
        return f"this names the element {highest} of an array, and {MAX_INDEX:,} is the last that can be named"
    return None


def _target(text: str, declared: Collection[str]) -> Target:
    tree = parsed(text, declared) if text.strip() else Identity()
    if tree is None:
        return _jq_target(text, declared)
    path = _fixed_path(tree)
    if path is not None:
        reason = refused(path)
        if reason is not None:
            raise BadExpression(reason, 0)
        return lambda _data, _variables: list(path)
    if _names_nothing(tree):
        raise BadExpression(f"'{text.strip()}' is not a place in the data: it has to be one, such as '.result'", 0)
    return _jq_target(text, declared)


def _jq_target(text: str, declared: Collection[str]) -> Target:
    program = JqProgram(text, declared, result="path(.)")

    def named(data: JSON, variables: Variables) -> list[str | int]:
        found = program.outputs(data, variables)
        if len(found) != 1:
            raise program.failed(f"this names {len(found)} places, and has to name one")
        path = found[0]
        steps: list[str | int] = []
        for step in path if isinstance(path, list) else ():
            if isinstance(step, bool) or not isinstance(step, str | int):
                raise program.failed("this names more, or less, than one element")
            steps.append(step)
        reason = refused(steps)
        if reason is not None:
            raise program.failed(reason)
        return steps

    return named


def _fixed_path(tree: Tree) -> list[str | int] | None:
    match tree:
        case Identity():
            return []
        case Index(container, Literal(str() | int() as key)) if not isinstance(key, bool):
            start = _fixed_path(container)
            return None if start is None else [*start, key]
        case _:
            return None


def _names_nothing(tree: Tree) -> bool:
    match tree:
        case Literal() | ObjectOf() | ArrayOf() | Variable():
            return True
        case Index(container):
            return _names_nothing(container)
        case IfElse(_, chosen, otherwise):
            return _names_nothing(chosen) and _names_nothing(otherwise)
        case _:
            return False
