"""The place in the data that an expression names."""

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import pairwise
from typing import Final, TypeAlias

from swf_temporal.base.data import JSON
from swf_temporal.expressions.compiled import BadExpression, Variables
from swf_temporal.expressions.jq import JqProgram
from swf_temporal.expressions.lexing import Token, tokens
from swf_temporal.expressions.parsing import (
    ArrayOf,
    BinaryOperation,
    Identity,
    IfElse,
    Index,
    Literal,
    ObjectOf,
    Tree,
    Variable,
    parsed,
)
from swf_temporal.expressions.template import EmbeddedExpression, split

MAX_INDEX: Final = 1_000_000
"""The highest index at which an element can be put: all missing ones before it are created."""
_MAX_STEPS: Final = 400
"""The maximum depth of a place in the data."""

Target: TypeAlias = Callable[[JSON, Variables], list[str | int]]
"""A function that returns the path that an expression names in the data."""


def target(text: str, declared: Collection[str]) -> Target:
    """Compile an expression that names a place; an empty one names the root.

    Raises BadExpression if it cannot name a place, or names one that data cannot have.
    """
    try:
        return _target(text, declared)
    except RecursionError:
        raise BadExpression("the expression is nested too deeply") from None


def refused(path: Sequence[str | int]) -> str | None:
    """Return why nothing can be put at *path*, or None if it is possible."""
    if len(path) > _MAX_STEPS:
        return f"this names a place that is {len(path):,} levels deep, and the limit is {_MAX_STEPS}"
    highest = max((step for step in path if isinstance(step, int)), default=0)
    if highest > MAX_INDEX:
        return f"this names the element {highest} of an array, and the limit is {MAX_INDEX:,}"
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
        raise BadExpression(f"'{text.strip()}' is not a place in the data, such as '.result'", 0)
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


_NULL = Literal(None)


def reads(text: str, variables: Collection[str]) -> frozenset[str]:
    """Return the fields of the data that the expressions in *text* require.

    A field with an alternative (`.a // 0`), or one that is compared with null, may be missing. Expressions that are not
    simple are ignored.
    """
    return frozenset(key for tree in _trees(text, variables) for key in _read(tree))


def makes(text: str, variables: Collection[str]) -> frozenset[str] | None:
    """Return the fields of the object that *text* makes, or None if it may make anything."""
    trees = list(_trees(text, variables))
    if len(trees) == 1 and isinstance(trees[0], ObjectOf):
        return frozenset(name for name, _ in trees[0].members)
    return None


def members(text: str, variable: str) -> Iterator[str]:
    """Yield the members of *variable* that the expressions in *text* name, as in `$CONST.rate` or `$CONST["rate"]`.

    An expression in JSONPath is read as if it were one in jq, which names them in the same way.
    """
    for source in _sources(text):
        try:
            words = [*tokens(source), *[_NO_WORD] * 5]
        except BadExpression:
            return
        for at, word in enumerate(words):
            if word.text == f"${variable}":
                opening, *quoted, closing = words[at + 1 : at + 6]
                is_closed = opening.text == "." or opening.text + closing.text == "[]"
                if opening.kind == "field":
                    yield opening.text[1:]
                elif is_closed and [word.kind for word in quoted] == ["quote", "text", "quote"]:
                    yield quoted[1].text


def elements(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the paths of the arrays in the data whose elements, single ones or all, the expressions in *text* read.

    As in `.order.items[0]`, `$.items[*]` or `.items | any(.ready)`, as far as that is easily detected: after a `|`,
    too, a path is assumed to begin with the data.
    """
    for source in _sources(text):
        path: tuple[str, ...] = ()
        before = _NO_WORD
        try:
            words = [*tokens(source), _NO_WORD]
        except BadExpression:
            return
        for word, following in pairwise(words):
            if word.kind == "field" and (path or before.kind not in _VALUES):
                path += (word.text[1:],)
            else:
                opens = word.text == "[" and following.kind != "quote"
                if path and (opens or (word.text == "|" and following.text in _OF_EACH)):
                    yield path
                path = ()
            before = word


_VALUES = frozenset({"close", "quote", "variable"})
"""The kinds of words that end a value: a field after one belongs to that, not to the data."""
_OF_EACH = frozenset({"all", "any", "first", "last", "map"})
"""The functions that read the elements of an array that is piped into them."""
_NO_WORD = Token("", "", 0)


def _trees(text: str, variables: Collection[str]) -> Iterator[Tree]:
    """Yield the trees of the simple expressions in a text."""
    for source in _sources(text):
        try:
            tree = parsed(source, variables)
        except BadExpression:
            continue  # another rule reports that it does not compile
        if tree is not None:
            yield tree


def _sources(text: str) -> list[str]:
    """Return the expressions in a text; a bare one counts as an expression."""
    try:
        pieces = split(text)
    except BadExpression:
        return []
    return [piece.text for piece in pieces if isinstance(piece, EmbeddedExpression)] or [text]


def _read(tree: Tree) -> Iterator[str]:
    match tree:
        case Index(Identity(), Literal(str() as key)):
            yield key
        case _:
            for part in _needed(tree):
                yield from _read(part)


def _needed(tree: Tree) -> tuple[Tree, ...]:
    """Return the parts of an expression that read the same data, and that it requires."""
    match tree:
        case BinaryOperation("//", _, _):
            return ()
        case BinaryOperation("|", part, _) | Index(part, _) | IfElse(part, _, _):
            return (part,)
        case BinaryOperation(_, left, right):
            return () if _NULL in (left, right) else (left, right)
        case ObjectOf(members):
            return tuple(member for _, member in members)
        case ArrayOf(items):
            return items
        case _:
            return ()
