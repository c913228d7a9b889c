"""Names that a server cannot have are told before anything runs."""

import json

import pytest

from swf_temporal.base.errors import InvalidDefinition
from swf_temporal.languages.loading import check, load
from swf_temporal.runtime.ids import ACTIVITY_TYPES, WORKFLOW_TYPES
from swf_temporal.temporal import (
    constants,
    instance_signals,
    mailbox_records,
    place_records,
    publishing,
    records,
    search_attributes,
    variables,
)

LONG = "é" * 501
"""In bytes 1,002."""


def test_names_that_are_too_long() -> None:
    """Of the id and of functions it is an error, of events a warning: these can be sent without their name."""
    definition = {
        "id": LONG,
        "specVersion": "0.8",
        "functions": [{"name": LONG, "type": "custom"}],
        "events": [{"name": LONG, "type": "t", "source": "s"}],
        "states": [{"name": "Call", "type": "operation", "actions": [{"functionRef": LONG}], "transition": "Wait"},
                   {"name": "Wait", "type": "event", "onEvents": [{"eventRefs": [LONG]}], "end": True}],
    }  # fmt: skip
    with pytest.raises(InvalidDefinition) as refused:
        load(definition)
    told = f"the name '{'é' * 40}…' has 1,002 bytes, and a server takes no more than 1,000"
    found = [(str(one.severity), one.message) for one in refused.value.problems if one.code == "name-too-long"]
    assert sorted(found) == sorted(
        [
            ("error", f"the id of the workflow is its type on the server: {told}"),
            ("error", f"a function is an activity on the server: {told}"),
            ("warning", f"the name of the event cannot be that of a signal: {told}"),
        ]
    )


def test_an_id_that_some_servers_cannot_store() -> None:
    definition = {
        "id": "x" * 256,
        "specVersion": "0.8",
        "states": [{"name": "A", "type": "inject", "data": {"a": 1}, "end": True}],
    }
    assert [one.message for one in check(json.dumps(definition)).warnings] == [
        "the id has 256 characters: servers on MySQL and PostgreSQL store 255"
    ]


@pytest.mark.parametrize("id_", ['an "order"', "orders\\\\"])
def test_an_id_that_no_list_can_be_filtered_by(id_: str) -> None:
    """An error: events without correlation, and those who look for instances, would find none."""
    state = {"name": "A", "type": "inject", "data": {"a": 1}, "end": True}
    [problem] = check(json.dumps({"id": id_, "specVersion": "0.8", "states": [state]})).errors
    assert problem.message.endswith("has a quotation mark or a backslash, and servers find no instances by such an id")


def test_all_of_our_own_types_are_reserved() -> None:
    types = {publishing.DELAYED_EVENT, mailbox_records.MAILBOX, place_records.PLACES, variables.TYPE}
    assert types == WORKFLOW_TYPES
    activities = {
        records.RESOLVE, records.LOOK_UP, records.LIMITS, records.PUBLISH, constants.ENDING, instance_signals.FIND,
        place_records.TELL, place_records.LOOK, search_attributes.LOOK,
    }  # fmt: skip
    assert activities | {variables.READ_VARIABLE, variables.WRITE_VARIABLE, variables.INSTANCE_ENDED} == ACTIVITY_TYPES
