"""Parses the expressions that are simple enough to be evaluated without jq.

The grammar is a part of jq's, with jq's precedence, in which every expression has exactly one output. Other expressions
are not refused but left to jq: `parsed` returns None.

The kinds of value that a tree can yield are derived from it, with the names that jq gives them.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from swf_temporal.base.data import JSON, kind_of
from swf_temporal.expressions.compiled import ANY
from swf_temporal.expressions.lexing import Token, tokens


@dataclass(frozen=True, slots=True)
class Literal:
    """`12`, `"text"`, `true`, `null`."""

    value: JSON


@dataclass(frozen=True, slots=True)
class Identity:
    """`.`: the data, or the output of the expression before a pipe."""


@dataclass(frozen=True, slots=True)
class Variable:
    """`$name`."""

    name: str


@dataclass(frozen=True, slots=True)
class Index:
    """`.a`, `.["a"]`, `.[0]`, `.[$key]`."""

    container: "Tree"
    key: "Tree"


@dataclass(frozen=True, slots=True)
class ObjectOf:
    """`{a: .b}`."""

    members: tuple[tuple[str, "Tree"], ...]


@dataclass(frozen=True, slots=True)
class ArrayOf:
    """`[.a, 1]`."""

    items: tuple["Tree", ...]


@dataclass(frozen=True, slots=True)
class BinaryOperation:
    """Two expressions with an operator between them, a sign or a word."""

    sign: str
    left: "Tree"
    right: "Tree"


@dataclass(frozen=True, slots=True)
class Builtin:
    """`add`, `length`, `not`, `objects`, `tostring`, `values`."""

    name: str


@dataclass(frozen=True, slots=True)
class IfElse:
    """`if … then … else … end`."""

    condition: "Tree"
    chosen: "Tree"
    otherwise: "Tree"


Tree: TypeAlias = Literal | Identity | Variable | Index | ObjectOf | ArrayOf | BinaryOperation | Builtin | IfElse


def is_fixed(tree: Tree) -> bool:
    """Return whether an expression yields the same value whatever the data, and cannot fail."""
    match tree:
        case Literal():
            return True
        case ArrayOf(items):
            return all(map(is_fixed, items))
        case ObjectOf(members):
            return all(is_fixed(member) for _, member in members)
        case _:
            return False


def mentioned(tree: Tree) -> frozenset[str]:
    match tree:
        case Variable(name):
            return frozenset({name})
        case Index(one, other) | BinaryOperation(_, one, other):
            return mentioned(one) | mentioned(other)
        case ArrayOf(items):
            return frozenset[str]().union(*map(mentioned, items))
        case ObjectOf(members):
            return frozenset[str]().union(*(mentioned(member) for _, member in members))
        case IfElse(condition, chosen, otherwise):
            return mentioned(condition) | mentioned(chosen) | mentioned(otherwise)
        case _:
            return frozenset()


SIGNS: Final = (("//",), ("or",), ("and",), ("==", "!=", "<", "<=", ">", ">="), ("+", "-"), ("*", "/"))
"""The operators by increasing precedence; that of a pipe is lower than all."""

_COMPARING = 3
_ALTERNATIVE = 0
_CALLS = frozenset({"add", "length", "not", "objects", "tostring", "values"})
_WORDS: Final[dict[str, JSON]] = {"true": True, "false": False, "null": None}
_RESERVED = frozenset(
    {"def", "module", "import", "include", "if", "then", "elif", "else", "end", "as", "reduce", "foreach"}
    | {"and", "or", "try", "catch", "label", "__loc__"}
)
# jq prints longer numbers, exponents and leading zeros in its own ways.
_PLAIN_NUMBER = re.compile(r"(?=.{1,16}$)(?:0|[1-9][0-9]{0,14})(?:\.[0-9]+)?")
_END = Token("end", "", -1)


class _NotSimple(Exception):  # noqa: N818 - not an error: jq takes over
    pass


def parsed(text: str, declared: Collection[str]) -> Tree | None:
    """Return the tree of a simple expression, or None if it has to be left to jq.

    Raises BadExpression if brackets or quotes do not match.
    """
    words = list(tokens(text))
    try:
        parser = _Parser(words, declared)
        tree = parser.pipe()
        parser.expect_end()
    except (_NotSimple, RecursionError):
        return None
    return tree


class _Parser:
    def __init__(self, words: list[Token], declared: Collection[str]) -> None:
        self._words = [*words, _END]
        self._at = 0
        self._declared = declared

    def pipe(self) -> Tree:
        left = self._operation(0)
        return BinaryOperation("|", left, self.pipe()) if self._took("|") else left

    def expect_end(self) -> None:
        if self._next is not _END:
            raise _NotSimple

    def _operation(self, level: int) -> Tree:
        if level == len(SIGNS):
            return self._operand()
        left = self._operation(level + 1)
        while self._next.text in SIGNS[level] and self._next.kind in ("operator", "name"):
            sign = self._take().text
            # `//` is right-associative; a second comparison is an error, for which jq has a better message.
            right = self._operation(level if level == _ALTERNATIVE else level + 1)
            left = BinaryOperation(sign, left, right)
            if level == _COMPARING:
                break
        return left

    def _operand(self) -> Tree:
        if self._took("-"):
            return self._negative()
        if self._next.text == "if":
            return self._choice()
        return self._term()

    def _negative(self) -> Tree:
        token = self._take()
        if token.kind != "number" or not token.text.isdigit():
            raise _NotSimple
        value = _number(token.text)
        if value == 0:
            raise _NotSimple
        return Literal(-value)  # an index of it, as in `-1 .a`, remains unread, and so is left to jq

    def _choice(self) -> Tree:
        self._take()
        condition = self.pipe()
        self._require("then")
        chosen = self.pipe()
        if self._next.text == "elif":
            return IfElse(condition, chosen, self._choice())
        otherwise: Tree = self.pipe() if self._took("else") else Identity()
        self._require("end")
        return IfElse(condition, chosen, otherwise)

    def _term(self) -> Tree:
        token = self._take()
        tree: Tree
        if token.kind == "field":
            tree = Index(Identity(), Literal(token.text[1:]))
        elif token.kind == "variable" and token.text[1:] in self._declared:
            tree = Variable(token.text[1:])
        elif token.kind == "number":
            tree = Literal(_number(token.text))
        elif token.kind == "quote":
            tree = Literal(self._string())
        elif token.kind == "name":
            tree = self._named(token.text)
        elif token.text == ".":
            tree = Index(Identity(), self._quoted()) if self._next.kind == "quote" else Identity()
        elif token.kind == "open":
            tree = self._enclosed(token.text)
        else:
            raise _NotSimple
        return self._indexed(tree)

    def _indexed(self, tree: Tree) -> Tree:
        while True:
            if self._next.kind == "field":
                tree = Index(tree, Literal(self._take().text[1:]))
            elif self._took("["):
                tree = Index(tree, self.pipe())
                self._require("]")
            elif self._took("."):
                if self._next.kind == "quote":
                    tree = Index(tree, self._quoted())
                elif self._next.text != "[":
                    raise _NotSimple
            else:
                return tree

    def _named(self, name: str) -> Tree:
        if name in _WORDS:
            return Literal(_WORDS[name])
        if name in _CALLS:
            return Builtin(name)
        raise _NotSimple

    def _enclosed(self, bracket: str) -> Tree:
        if bracket == "(":
            tree = self.pipe()
            self._require(")")
            return tree
        return self._array() if bracket == "[" else self._object()

    def _array(self) -> Tree:
        if self._took("]"):
            return ArrayOf(())
        items = [self._operation(0)]
        if self._took("|"):
            # A comma would belong to the right side of the pipe.
            items = [BinaryOperation("|", items[0], self.pipe())]
            self._require("]")
            return ArrayOf(tuple(items))
        while self._took(","):
            items.append(self._operation(0))
        self._require("]")
        return ArrayOf(tuple(items))

    def _object(self) -> Tree:
        if self._took("}"):
            return ObjectOf(())
        members = [self._member()]
        while self._took(","):
            members.append(self._member())
        self._require("}")
        return ObjectOf(tuple(members))

    def _member(self) -> tuple[str, Tree]:
        token = self._take()
        if token.kind == "variable" and token.text[1:] in self._declared:
            return token.text[1:], Variable(token.text[1:])
        if token.kind == "quote":
            key = self._string()
        elif token.kind == "name" and token.text not in _RESERVED and "::" not in token.text:
            key = token.text
        else:
            raise _NotSimple
        if not self._took(":"):
            return key, Index(Identity(), Literal(key))
        return key, self._negative() if self._took("-") else self._term()

    def _quoted(self) -> Tree:
        self._take()
        return Literal(self._string())

    def _string(self) -> str:
        text = self._take().text if self._next.kind == "text" else ""
        self._require('"')  # so escapes and interpolations are left to jq
        return text

    @property
    def _next(self) -> Token:
        return self._words[self._at]

    def _take(self) -> Token:
        token = self._words[self._at]
        self._at += 1
        return token

    def _took(self, text: str) -> bool:
        if self._next.text != text:
            return False
        self._at += 1
        return True

    def _require(self, text: str) -> None:
        if not self._took(text):
            raise _NotSimple


def _number(text: str) -> int | float:
    if not _PLAIN_NUMBER.fullmatch(text):
        raise _NotSimple
    return int(text) if text.isdigit() else float(text)


_KINDS: Final[Mapping[str, frozenset[str]]] = {
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
            return _KINDS.get(name, ANY)
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
