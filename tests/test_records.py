"""Typed records are stored as JSON and read again, and no value of a workflow is taken for one of them."""

import json
from dataclasses import dataclass, field
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swf_temporal.data import JSON
from swf_temporal.records import MalformedRecord, Record, nested


@dataclass(slots=True)
class Leaf(Record):
    """Of one kind."""

    KIND: ClassVar[str] = "leaf"
    value: JSON = None
    deadline: float | None = None


@dataclass(slots=True)
class Fork(Record):
    """Of another, which holds more."""

    KIND: ClassVar[str] = "fork"
    name: str
    left: "Leaf | Fork | None" = None
    only: Leaf | None = None
    many: list[Leaf] = field(default_factory=list)
    numbered: dict[int, "Fork"] = field(default_factory=dict)
    named: dict[str, Leaf] = field(default_factory=dict)
    values: dict[str, JSON] = field(default_factory=dict)
    made: Leaf = field(default_factory=Leaf)
    done: bool = False


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["value", "kind", "left", "many", "deadline", "x"]), inner, max_size=4)
    ),
    max_leaves=8,
)
LEAVES = st.builds(Leaf, VALUES, st.none() | st.floats(allow_nan=False, allow_infinity=False))
FORKS = st.recursive(
    st.builds(Fork, st.text(max_size=3), values=st.dictionaries(st.text(max_size=3), VALUES, max_size=2)),
    lambda inner: st.builds(
        Fork,
        st.text(max_size=3),
        left=st.none() | LEAVES | inner,
        only=st.none() | LEAVES,
        many=st.lists(LEAVES, max_size=2),
        numbered=st.dictionaries(st.integers(0, 99), inner, max_size=2),
        named=st.dictionaries(st.sampled_from(["value", "kind", "b"]), LEAVES, max_size=2),
        values=st.dictionaries(st.sampled_from(["kind", "left"]), VALUES, max_size=2),
        made=LEAVES,
        done=st.booleans(),
    ),
    max_leaves=6,
)


@given(FORKS)
def test_a_record_is_read_as_it_was_written(fork: Fork) -> None:
    """Whatever its values are called."""
    assert Fork.from_json(json.loads(json.dumps(fork.to_json()))) == fork


def test_only_what_is_not_at_its_default_is_written() -> None:
    """What a newer release adds costs nothing where it is not used."""
    assert Fork("a", many=[Leaf()]).to_json() == {"name": "a", "many": [{}]}


def test_classes_at_one_place_are_told_apart_by_their_kind() -> None:
    """Where only one class may stand, nothing is written about it."""
    assert Fork("a", left=Leaf(1), only=Leaf(2)).to_json() == {
        "name": "a",
        "left": {"kind": "leaf", "value": 1},
        "only": {"value": 2},
    }


def test_values_of_workflows_are_not_copied() -> None:
    """So that one that stands at several places can be stored once."""
    value: JSON = {"deadline": 5}
    assert Fork("a", only=Leaf(value)).to_json()["only"]["value"] is value
    assert Fork.from_json({"name": "a", "only": {"value": value}}).only == Leaf(value)


def test_records_are_found_by_their_class_and_not_by_their_keys() -> None:
    """A value that looks like one is none."""
    fork = Fork("a", left=Fork("b", many=[Leaf(1), Leaf({"value": 2})]), numbered={7: Fork("c", only=Leaf(3))})
    assert [leaf.value for leaf in nested(fork, Leaf) if leaf.value is not None] == [1, {"value": 2}, 3]
    assert [one.name for one in nested(fork, Fork)] == ["a", "b", "c"]


def test_a_field_that_is_not_known_is_passed_over() -> None:
    """It was written by a newer release."""
    assert Fork.from_json({"name": "a", "speed": 3, "left": {"kind": "leaf", "age": 1}}) == Fork("a", left=Leaf())


@pytest.mark.parametrize("written", [{}, {"name": "a", "left": {"kind": "twig"}}, {"name": "a", "many": [3]}, 3])
def test_what_no_release_writes_is_refused(written: object) -> None:
    """Instead of being met later, somewhere else."""
    with pytest.raises(MalformedRecord):
        Fork.from_json(written)  # type: ignore[arg-type]


def test_records_beside_other_values_are_refused() -> None:
    """What is stored could not be told from a value."""

    @dataclass(slots=True)
    class Mixed(Record):
        one: Leaf | str

    with pytest.raises(TypeError, match=r"Mixed\.one"):
        Mixed("a").to_json()
