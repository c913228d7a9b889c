"""An instance of a definition as the child of a workflow written in code."""

from collections.abc import Iterable
from typing import Any, TypedDict

from swf_temporal.base.arguments import check_each, check_text, kind_of
from swf_temporal.base.client_errors import InvalidInputError
from swf_temporal.base.data import json_from
from swf_temporal.base.errors import UsageError
from swf_temporal.base.strict_json import NotJSON
from swf_temporal.languages.port import Definition
from swf_temporal.temporal.records import pin_of, pinned


class ChildWorkflow(TypedDict):
    """The arguments of the SDK's `execute_child_workflow` and `start_child_workflow` that make it an instance."""

    workflow: str
    args: list[Any]


def as_child_workflow(
    definition: Definition | str, data: object = None, *, sub_workflows: Iterable[Definition] = ()
) -> ChildWorkflow:
    """Return the arguments with which a workflow written in code starts an instance of *definition* as its child.

        output = await workflow.execute_child_workflow(**as_child_workflow(ORDER, {"item": "pen"}), id="order-1")

    Given a Definition, the child keeps it and *sub_workflows*, whatever the workers serve later; given an id, it runs
    the definition that the workers have. Raises InvalidInputError if *data* is not JSON, and UsageError if
    *definition* is neither.
    """
    if isinstance(definition, str):
        check_text("the id of a definition", definition)
    elif not isinstance(definition, Definition):
        raise UsageError(f"a child is a Definition or the id of one, and this is {kind_of(definition)}", "see `load`")
    sub_workflows = list(sub_workflows)
    check_each("sub_workflows", sub_workflows, "a Definition", lambda one: isinstance(one, Definition))
    try:
        given: Any = {} if data is None else json_from(data)
    except NotJSON as error:
        raise InvalidInputError(f"the input of a workflow is one JSON value: {error}") from None
    if isinstance(definition, str):
        return ChildWorkflow(workflow=definition, args=[given])
    pin = pin_of(pinned([definition, *sub_workflows]), definition.version).to_json()
    return ChildWorkflow(workflow=definition.id, args=[given, pin])
