"""The syntax tree of simple expressions."""

from dataclasses import dataclass
from typing import TypeAlias

from swf_temporal.base.data import JSON


@dataclass(frozen=True, slots=True)
class Literal:
    """`12`, `"text"`, `true`, `null`."""

    value: JSON


@dataclass(frozen=True, slots=True)
class Identity:
    """`.`: the data, or what the expression before a pipe yields."""


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
    """Two expressions and a sign or word between them."""

    sign: str
    left: "Tree"
    right: "Tree"


@dataclass(frozen=True, slots=True)
class Builtin:
    """`length`, `not`."""

    name: str


@dataclass(frozen=True, slots=True)
class IfElse:
    """`if … then … else … end`."""

    condition: "Tree"
    chosen: "Tree"
    otherwise: "Tree"


Tree: TypeAlias = Literal | Identity | Variable | Index | ObjectOf | ArrayOf | BinaryOperation | Builtin | IfElse


def is_fixed(tree: Tree) -> bool:
    """Tell whether an expression yields the same value whatever the data, and cannot fail."""
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
