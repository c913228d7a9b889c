"""Typed records are stored as JSON and read again, and no value of a workflow is taken for one of them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, ClassVar, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import NewerRecord
from swf_temporal.base.records import MalformedRecord, Record, nested


@dataclass(slots=True)
class Leaf(Record):
    KIND: ClassVar[str] = "leaf"
    value: JSON = None
    deadline: float | None = None


@dataclass(slots=True)
class Fork(Record):
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
    assert Fork.from_json(json.loads(json.dumps(fork.to_json()))) == fork


def test_only_what_is_not_at_its_default_is_written() -> None:
    assert Fork("a", many=[Leaf()]).to_json() == {"name": "a", "many": [{}]}


def test_classes_at_one_place_are_told_apart_by_their_kind() -> None:
    assert Fork("a", left=Leaf(1), only=Leaf(2)).to_json() == {
        "name": "a",
        "left": {"kind": "leaf", "value": 1},
        "only": {"value": 2},
    }


def test_values_of_workflows_are_not_copied() -> None:
    value: JSON = {"deadline": 5}
    assert Fork("a", only=Leaf(value)).to_json()["only"]["value"] is value
    assert Fork.from_json({"name": "a", "only": {"value": value}}).only == Leaf(value)


def test_records_are_found_by_their_class_and_not_by_their_keys() -> None:
    fork = Fork("a", left=Fork("b", many=[Leaf(1), Leaf({"value": 2})]), numbered={7: Fork("c", only=Leaf(3))})
    assert [leaf.value for leaf in nested(fork, Leaf) if leaf.value is not None] == [1, {"value": 2}, 3]
    assert [one.name for one in nested(fork, Fork)] == ["a", "b", "c"]


def test_a_field_that_is_not_known_is_passed_over() -> None:
    assert Fork.from_json({"name": "a", "speed": 3, "left": {"kind": "leaf", "age": 1}}) == Fork("a", left=Leaf())


@pytest.mark.parametrize("written", [{}, {"name": "a", "left": {"kind": "twig"}}, {"name": "a", "many": [3]}, 3])
def test_what_no_release_writes_is_refused(written: object) -> None:
    with pytest.raises(MalformedRecord):
        Fork.from_json(written)


def test_records_beside_other_values_are_refused() -> None:
    @dataclass(slots=True)
    class Mixed(Record):
        one: Leaf | str

    with pytest.raises(TypeError, match=r"Mixed\.one"):
        Mixed("a").to_json()


@dataclass(slots=True)
class Parcel(Record):
    """Of all types that a field may have, which travels alone."""

    WHAT: ClassVar[str] = "a parcel"
    CAMEL_CASE: ClassVar[bool] = True
    UNKNOWN: ClassVar[str] = "others"
    sent_to: str
    weight: float = 1.0
    count: int = 1
    sort: Literal["letter", "box"] = "box"
    takes: timedelta | None = None
    content: bytes = b""
    opened: CloudEvent | None = None
    places: tuple[str, ...] = ()
    pairs: Sequence[tuple[str, int | None]] = ()
    either: str | list[int] | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    rounds: list[list[str | int]] = field(default_factory=list)
    leaves: dict[str, Leaf | None] = field(default_factory=dict)
    own_value: JSON = None
    others: dict[str, JSON] = field(default_factory=dict)

    def check(self) -> None:
        if not self.count:
            raise ValueError("it has nothing in it")


PARCEL = Parcel(
    "me", 2.5, 7, "letter", timedelta(minutes=1), b"\0x", CloudEvent("1", "s", "t", is_addressed=True), ("a", "b"),
    [("a", 1), ("b", None)], [3], {"x": "y"}, [["a", 0]], {"a": Leaf(1), "b": None}, {"sent_to": 1}, {"colour": "blue"},
)  # fmt: skip


def test_each_type_of_a_field_has_one_form() -> None:
    assert json.loads(json.dumps(PARCEL.to_json())) == {
        "sentTo": "me",
        "weight": 2.5,
        "count": 7,
        "sort": "letter",
        "takes": 60.0,
        "content": "AHg=",
        "opened": {"addressed": {"specversion": "1.0", "id": "1", "source": "s", "type": "t"}},
        "places": ["a", "b"],
        "pairs": [["a", 1], ["b", None]],
        "either": [3],
        "labels": {"x": "y"},
        "rounds": [["a", 0]],
        "leaves": {"a": {"value": 1}, "b": None},
        "ownValue": {"sent_to": 1},
        "colour": "blue",
    }
    assert Parcel.from_json(json.loads(json.dumps(PARCEL.to_json()))) == PARCEL


def test_what_is_equal_to_a_default_is_not_written() -> None:
    equal = json.loads('{"weight": 1.0, "count": 1, "sort": "box"}')
    assert Parcel("me", **equal).to_json() == {"sentTo": "me"}


WRONG: dict[str, tuple[Any, str]] = {
    "no object": ([], "a parcel has to be an object, and is of the type array"),
    "a field is missing": ({}, "a parcel has no 'sentTo'"),
    "a text": ({"sentTo": 5}, "in a parcel, sentTo has to be a string, and is of the type number"),
    "null": ({"sentTo": None}, "in a parcel, sentTo has to be a string, and is of the type null"),
    "a number": ({"weight": "5"}, "in a parcel, weight has to be a number, and is of the type string"),
    "a boolean is no number": ({"weight": True}, "in a parcel, weight has to be a number, and is of the type boolean"),
    "an integer": ({"count": 1.5}, "in a parcel, count has to be an integer, and is of the type number"),
    "one of some": ({"sort": "bag"}, "in a parcel, sort has to be one of 'letter', 'box', and is 'bag'"),
    "a text that is one of some": ({"sort": []}, "in a parcel, sort has to be a string, and is of the type array"),
    "seconds": ({"takes": "1"}, "in a parcel, takes has to be a number, and is of the type string"),
    "more seconds than there are": ({"takes": 1e300}, "in a parcel, takes cannot be read: "),
    "base64": ({"content": "?"}, "in a parcel, content cannot be read: "),
    "an event": ({"opened": {}}, "in a parcel, opened cannot be read: an event needs a text as its 'type'"),
    "one of several": ({"places": ["a", 5]}, "in a parcel, places[1] has to be a string, and is of the type number"),
    "too few": ({"pairs": [["a"]]}, "in a parcel, pairs[0] has to have 2 items, and has 1"),
    "one of a tuple": ({"pairs": [["a", "b"]]}, "in a parcel, pairs[0][1] has to be an integer"),
    "none of two kinds": ({"either": {}},
                          "in a parcel, either has to be a string or an array, and is of the type object"),
    "within one of two kinds": ({"either": [1, "a"]}, "in a parcel, either[1] has to be an integer"),
    "a value": ({"labels": {"a": 1}}, "in a parcel, labels.a has to be a string, and is of the type number"),
    "deep inside": ({"rounds": [["a"], ["b", None]]}, "in a parcel, rounds[1][1] has to be a string or an integer"),
    "a record": ({"leaves": {"a": {"deadline": "x"}}}, "in a parcel, leaves.a.deadline has to be a number, and"),
    "what it says itself": ({"count": 0}, "a parcel cannot be read: it has nothing in it"),
    "the format": ({"format": "new"}, "in a parcel, format has to be an integer, and is of the type string"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_refused_is_told_with_its_place(case: str) -> None:
    written, told = WRONG[case]
    given = written if isinstance(written, list) or not written else {"sentTo": "me", **written}
    with pytest.raises(MalformedRecord) as refused:
        Parcel.from_json(given)
    assert told in str(refused.value)


def test_a_key_that_is_no_integer_is_refused() -> None:
    with pytest.raises(MalformedRecord, match="in Fork, numbered has the key 'x', which is not an integer"):
        Fork.from_json({"name": "a", "numbered": {"x": {"name": "b"}}})


def test_a_higher_format_is_left_to_a_newer_release() -> None:
    with pytest.raises(NewerRecord, match="the format of a parcel, 2, is newer"):
        Parcel.from_json({"format": 2, "sentTo": 5})


def test_a_type_that_has_no_form_is_refused() -> None:
    @dataclass(slots=True)
    class Strange(Record):
        one: complex

    with pytest.raises(TypeError, match=r"Strange\.one"):
        Strange(1j).to_json()
