"""Reads documents of the draft, in both of its spellings."""

from typing import Any, Final

from swf_temporal.errors import Problem, Severity
from swf_temporal.expressions.evaluation import Expressions
from swf_temporal.languages.serverless_workflow.drafts.lowering import workflow_of
from swf_temporal.languages.serverless_workflow.drafts.may_2020 import model
from swf_temporal.languages.serverless_workflow.drafts.may_2020.lowering import lowered
from swf_temporal.languages.serverless_workflow.drafts.may_2020.rules import RULES
from swf_temporal.languages.serverless_workflow.drafts.may_2020.rules.context import OF_PARENT, Context
from swf_temporal.languages.serverless_workflow.drafts.may_2020.spellings import SPELLINGS
from swf_temporal.languages.serverless_workflow.drafts.recovery import Recovery, of_what_is_left
from swf_temporal.languages.serverless_workflow.reading.building import Form, build
from swf_temporal.languages.serverless_workflow.reading.normalizing import Normalizer
from swf_temporal.languages.serverless_workflow.reading.reader import Reader, Reading
from swf_temporal.text.located import Object
from swf_temporal.text.origin import Source
from swf_temporal.text.resources import Fetch

TASK_TYPES: Final = ("event", "operation", "switch", "delay", "parallel", "subflow", "inject", "foreach", "callback")
_CALLED: Final = {
    "tasks": "task", "actions": "action", "functions": "function", "events": "event", "branches": "branch",
    "action": "action", "dataConditions": "condition", "eventConditions": "condition", "onError": "onError entry",
    "retry": "retry", "eventsActions": "eventsActions entry",
}  # fmt: skip

_RECOVERY: Final = Recovery(
    model.DraftWorkflow,
    {
        "tasks": {"type": "inject", "end": {"kind": "default"}},
        "functions": {"resource": ""},
        "events": {"type": "", "source": ""},
    },
)


class MayReader:
    """Makes the common model of a document of the draft, and asks the draft's rules about it."""

    def read(self, root: Object, source: Source, fetch: Fetch) -> Reading:  # noqa: ARG002 - the draft has no documents beside it
        """Return the workflow that *root* describes, without the parts of the wrong form."""
        has_states = "states" in root and "tasks" not in root
        normalizer = Normalizer(source, SPELLINGS, model.TaskBase)
        normalizer.normalize(model.DraftWorkflow, root, root.where.position)
        root["@hasStates"] = has_states
        draft, refused = build(root, source, _form("state" if has_states else "task"), _RECOVERY.recover)
        problems = (*normalizer.problems, *refused)
        if draft is None or not _can_be_lowered(draft):
            return Reading(None, problems, draft=draft)
        return Reading(workflow_of(lowered(draft), source), problems, draft=draft)

    def validate(self, reading: Reading, expressions: Expressions | None) -> list[Problem]:  # noqa: ARG002 - its rules compile in the draft's words
        """Return what the rules of the draft say, rule by rule."""
        draft = reading.draft
        if not isinstance(draft, model.DraftWorkflow):
            return []
        context = Context(draft)
        found = [problem for rule in RULES for problem in rule(context)]
        is_whole = all(problem.severity is not Severity.ERROR for problem in reading.problems)
        return found if is_whole else of_what_is_left(found)

    def json_schema(self, title: str | None) -> dict[str, Any]:
        """Return the JSON Schema of documents in both spellings."""
        from swf_temporal.languages.serverless_workflow.drafts.may_2020.schema import json_schema  # noqa: PLC0415 - seldom

        return json_schema(title)


READER: Final[Reader] = MayReader()


def _form(word: str) -> Form[model.DraftWorkflow]:
    return Form(
        model=model.DraftWorkflow,
        state_types=TASK_TYPES,
        called={**_CALLED, "tasks": word},
        state=word,
        texts_too=("expression", "transition", "default"),
        words=OF_PARENT if word == "state" else {},
    )


def _can_be_lowered(draft: model.DraftWorkflow) -> bool:
    """Tell whether every list of tasks has one to start with: a rule tells where one has none."""
    return _start_everywhere(draft.tasks)


def _start_everywhere(tasks: tuple[model.Task, ...]) -> bool:
    for task in tasks:
        if isinstance(task, model.ParallelTask) and not all(_start_everywhere(one.tasks) for one in task.branches):
            return False
        if isinstance(task, model.ForeachTask) and not _start_everywhere(task.tasks):
            return False
    return bool(tasks)
