"""Reading definitions in the draft of November 2019."""

from typing import Any, Final

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.drafts.lowering import DraftReader, Recovery
from swf_temporal.languages.serverless_workflow.drafts.november_2019 import model
from swf_temporal.languages.serverless_workflow.drafts.november_2019.lowering import lowered
from swf_temporal.languages.serverless_workflow.drafts.november_2019.spellings import (
    ACCEPTED,
    OTHER_TYPES,
    SPELLINGS,
    STATE_TYPES,
)
from swf_temporal.languages.serverless_workflow.reading.building import DefinitionForm
from swf_temporal.languages.serverless_workflow.reading.vocabulary import Vocabulary

FORM: Final = DefinitionForm(
    model=model.Definition,
    state_types=STATE_TYPES,
    called={
        "states": "state",
        "triggerDefs": "trigger",
        "events": "event definition",
        "actions": "action",
        "branches": "branch",
        "choices": "choice",
        "onError": "onError entry",
        "retry": "retry",
        "single": "rule",
        "and": "rule",
        "or": "rule",
        "not": "rule",
    },
    texts_too=("function", "condition", "completionCondition"),
)
"""The form of definitions in this draft."""


def _problems_of(definition: model.Definition) -> list[Problem]:
    from swf_temporal.languages.serverless_workflow.drafts.november_2019.rules import (  # noqa: PLC0415 - not needed for running
        problems_of,
    )

    return problems_of(definition)


def _json_schema(title: str | None) -> dict[str, Any]:
    from swf_temporal.languages.serverless_workflow.reading.schema import schema_of  # noqa: PLC0415 - seldom needed

    vocabulary = Vocabulary(model.Definition, SPELLINGS, ACCEPTED, OTHER_TYPES)
    return schema_of(vocabulary, title or "Serverless Workflow, November 2019")


READER: Final = DraftReader(
    spellings=SPELLINGS,
    state=model.StateBase,
    marks=lambda _: {},
    form=lambda _: FORM,
    recovery=Recovery(
        model.Definition,
        {"states": {"type": "DELAY", "timeDelay": "PT0S", "end": True}, "triggerDefs": {"type": "", "source": ""}},
    ),
    lower=lowered,
    problems_of=_problems_of,
    schema=_json_schema,
)
