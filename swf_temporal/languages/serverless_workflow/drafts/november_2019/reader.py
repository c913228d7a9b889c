"""Reads definitions that are written in the draft of November 2019."""

from typing import Any, Final

from swf_temporal.errors import Problem
from swf_temporal.expressions.evaluation import Expressions
from swf_temporal.languages.serverless_workflow.drafts.lowering import workflow_of
from swf_temporal.languages.serverless_workflow.drafts.november_2019 import model
from swf_temporal.languages.serverless_workflow.drafts.november_2019.lowering import lowered
from swf_temporal.languages.serverless_workflow.drafts.november_2019.spellings import (
    ACCEPTED,
    OTHER_TYPES,
    SPELLINGS,
    STATE_TYPES,
    normalizer_of,
)
from swf_temporal.languages.serverless_workflow.drafts.recovery import Recovery, of_what_is_left
from swf_temporal.languages.serverless_workflow.reading.building import Form, build
from swf_temporal.languages.serverless_workflow.reading.reader import Reading
from swf_temporal.text.located import Object
from swf_temporal.text.origin import Source
from swf_temporal.text.resources import Fetch

FORM: Final = Form(
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
"""The form of these definitions."""
_RECOVERY: Final = Recovery(
    model.Definition,
    {"states": {"type": "DELAY", "timeDelay": "PT0S", "end": True}, "triggerDefs": {"type": "", "source": ""}},
)


class NovemberReader:
    """Reads, checks and describes the form of what is written in this draft."""

    def read(self, root: Object, source: Source, fetch: Fetch) -> Reading:  # noqa: ARG002 - these name no documents
        """Return the workflow that *root* describes, made of the draft's model, without asking the draft's rules."""
        normalizer = normalizer_of(source)
        normalizer.normalize(model.Definition, root, root.where.position)
        definition, refused = build(root, source, FORM, _RECOVERY.recover)
        problems = (*normalizer.problems, *refused)
        if definition is None or refused:
            return Reading(None, problems, draft=definition)
        return Reading(workflow_of(lowered(definition), source), problems, draft=definition)

    def validate(self, reading: Reading, expressions: Expressions | None) -> list[Problem]:  # noqa: ARG002 - paths compile alone
        """Return what the draft's rules say of what was read."""
        from swf_temporal.languages.serverless_workflow.drafts.november_2019.rules import (  # noqa: PLC0415 - not to run
            problems_of,
        )

        assert isinstance(reading.draft, model.Definition)  # noqa: S101 - it is asked for its own alone
        found = problems_of(reading.draft)
        return found if reading.workflow is not None else of_what_is_left(found)

    def json_schema(self, title: str | None) -> dict[str, Any]:
        """Return the JSON Schema of these definitions."""
        from swf_temporal.languages.serverless_workflow.reading.schema import (  # noqa: PLC0415 - seldom
            Vocabulary,
            schema_of,
        )

        vocabulary = Vocabulary(model.Definition, SPELLINGS, ACCEPTED, OTHER_TYPES)
        return schema_of(vocabulary, title or "Serverless Workflow, November 2019")


READER: Final = NovemberReader()
