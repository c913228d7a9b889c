"""Reading documents of the draft, in both of its spellings, and their JSON Schema."""

from collections.abc import Mapping
from typing import Any, Final, get_args

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.drafts.lowering import DraftReader, Recovery
from swf_temporal.languages.serverless_workflow.drafts.may_2020 import model
from swf_temporal.languages.serverless_workflow.drafts.may_2020.lowering import lowered
from swf_temporal.languages.serverless_workflow.drafts.may_2020.spellings import OF_PARENT, SPELLINGS
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.reading.building import DefinitionForm
from swf_temporal.languages.serverless_workflow.reading.normalizing import parts
from swf_temporal.languages.serverless_workflow.reading.schema import schema_of
from swf_temporal.languages.serverless_workflow.reading.vocabulary import Accepted, Schema, Vocabulary
from swf_temporal.text.origin import Object

TASK_TYPES: Final = ("event", "operation", "switch", "delay", "parallel", "subflow", "inject", "foreach", "callback")
_CALLED: Final = {
    "tasks": "task", "actions": "action", "functions": "function", "events": "event", "branches": "branch",
    "action": "action", "dataConditions": "condition", "eventConditions": "condition", "onError": "onError entry",
    "retry": "retry", "eventsActions": "eventsActions entry",
}  # fmt: skip


def _form(root: Object) -> DefinitionForm[model.DraftWorkflow]:
    has_states = root["@hasStates"]
    word = "state" if has_states else "task"
    return DefinitionForm(
        model=model.DraftWorkflow,
        state_types=TASK_TYPES,
        called={**_CALLED, "tasks": word},
        state=word,
        texts_too=("expression", "transition", "default"),
        words=OF_PARENT if has_states else {},
    )


def _marks(root: Object) -> dict[str, bool]:
    """Return whether it uses the words of the draft's predecessor, which calls tasks states."""
    return {"@hasStates": "states" in root and "tasks" not in root}


def _problems_of(draft: model.DraftWorkflow) -> list[Problem]:
    from swf_temporal.languages.serverless_workflow.drafts.may_2020.rules import problems_of  # noqa: PLC0415 - not needed for running

    return problems_of(draft)


def _json_schema(title: str | None) -> dict[str, Any]:

    return json_schema(title)


READER: Final = DraftReader(
    spellings=SPELLINGS,
    state=model.TaskBase,
    marks=_marks,
    form=_form,
    recovery=Recovery(
        model.DraftWorkflow,
        {
            "tasks": {"type": "inject", "end": {"kind": "default"}},
            "functions": {"resource": ""},
            "events": {"type": "", "source": ""},
        },
    ),
    lower=lowered,
    problems_of=_problems_of,
    schema=_json_schema,
)


TITLE: Final = "Serverless Workflow, draft of May 2020"

_TASKS: Final = tuple(parts(model.Branch)["tasks"].kinds)
"""The types of tasks."""


def json_schema(title: str | None = None) -> dict[str, Any]:
    """Return the JSON Schema of documents, called *title*."""
    types = {written: word for word in _TASKS for written in (word.upper(), word.capitalize())}
    return schema_of(Vocabulary(model.DraftWorkflow, SPELLINGS, _ACCEPTED, types), title or TITLE)


def _in_any_case(*words: str) -> Schema:
    """Return the schema of *words* in capitals or with a capital, as in examples of the text."""
    return {"enum": [written for word in words for written in (word.upper(), word.capitalize())]}


_MODE: Final = {"actionMode": _in_any_case(*get_args(model.ActionMode))}
_ACCEPTED: Final[Mapping[type[Node], Accepted]] = {
    model.DraftWorkflow: Accepted(instead={"id": ("name",)}, is_open=True),
    model.Start: Accepted(widened={"kind": _in_any_case("default", "scheduled")}),
    model.End: Accepted(widened={"kind": _in_any_case("default", "terminate", "event")}),
    model.OperationTask: Accepted(widened=_MODE),
    model.EventActions: Accepted(widened=_MODE),
}
