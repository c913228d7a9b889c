"""The fields of the data that an expression reads, and those that it makes, as far as they are plain to see."""

from collections.abc import Collection, Iterator
from itertools import pairwise

from swf_temporal.expressions.ast import ArrayOf, BinaryOperation, Identity, IfElse, Index, Literal, ObjectOf, Tree
from swf_temporal.expressions.compiled import BadExpression
from swf_temporal.expressions.lexing import Token, tokens
from swf_temporal.expressions.parsing import parsed
from swf_temporal.expressions.template import EmbeddedExpression, split

_NULL = Literal(None)


def reads(text: str, variables: Collection[str]) -> frozenset[str]:
    """Return the fields of the data that the expressions in *text* cannot do without.

    A field with an alternative (`.a // 0`), or one that is compared with null, may well be missing. Expressions that
    are not simple tell nothing.
    """
    return frozenset(key for tree in _trees(text, variables) for key in _read(tree))


def makes(text: str, variables: Collection[str]) -> frozenset[str] | None:
    """Return the fields of the object that *text* makes, or None where it may make anything."""
    trees = list(_trees(text, variables))
    if len(trees) == 1 and isinstance(trees[0], ObjectOf):
        return frozenset(name for name, _ in trees[0].members)
    return None


def members(text: str, variable: str) -> Iterator[str]:
    """Yield the members of *variable* that the expressions in *text* name, as in `$CONST.rate` or `$CONST["rate"]`.

    An expression in JSONPath is read as if it were one in jq, which names them alike.
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
    """Yield the paths of the arrays in the data of which the expressions in *text* read single elements, or each.

    As in `.order.items[0]`, `$.items[*]` or `.items | any(.ready)`, as far as they are plain to see: behind a `|`, too,
    a path is taken to begin with the data.
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
"""The kinds of words that end a value: a field behind one is a field of that, and none of the data."""
_OF_EACH = frozenset({"all", "any", "first", "last", "map"})
"""What an array is piped into for its elements."""
_NO_WORD = Token("", "", 0)


def _trees(text: str, variables: Collection[str]) -> Iterator[Tree]:
    """Yield what is simple of the expressions in a text."""
    for source in _sources(text):
        try:
            tree = parsed(source, variables)
        except BadExpression:
            continue  # another rule says that it does not compile
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
    """Return the parts of an expression that read the same data as it does, and that it cannot do without."""
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
