"""The JSON Schema of documents of the draft, in both of its spellings."""

from collections.abc import Mapping
from typing import Any, Final, get_args

from swf_temporal.languages.serverless_workflow.drafts.may_2020 import model
from swf_temporal.languages.serverless_workflow.drafts.may_2020.spellings import SPELLINGS
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.reading.normalizing import parts
from swf_temporal.languages.serverless_workflow.reading.schema import schema_of
from swf_temporal.languages.serverless_workflow.reading.schema_spellings import Accepted, Schema
from swf_temporal.languages.serverless_workflow.reading.vocabulary import Vocabulary

TITLE: Final = "Serverless Workflow, draft of May 2020"

_TASKS: Final = tuple(parts(model.Branch)["tasks"].kinds)
"""The types of tasks."""


def json_schema(title: str | None = None) -> dict[str, Any]:
    """Return the JSON Schema of documents, called *title*."""
    types = {written: word for word in _TASKS for written in (word.upper(), word.capitalize())}
    return schema_of(Vocabulary(model.DraftWorkflow, SPELLINGS, _ACCEPTED, types), title or TITLE)


def _in_any_case(*words: str) -> Schema:
    """Return what accepts *words* in capitals, and with a capital, as examples of the text have them."""
    return {"enum": [written for word in words for written in (word.upper(), word.capitalize())]}


_MODE: Final = {"actionMode": _in_any_case(*get_args(model.ActionMode))}
_ACCEPTED: Final[Mapping[type[Node], Accepted]] = {
    model.DraftWorkflow: Accepted(instead={"id": ("name",)}, is_open=True),
    model.Start: Accepted(widened={"kind": _in_any_case("default", "scheduled")}),
    model.End: Accepted(widened={"kind": _in_any_case("default", "terminate", "event")}),
    model.OperationTask: Accepted(widened=_MODE),
    model.EventActions: Accepted(widened=_MODE),
}
