"""Reading documents of drafts: each draft has its own model and rules, and is lowered to a document of 0.8."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from swf_temporal.base.errors import InvalidDefinition, Problem
from swf_temporal.expressions.evaluation import Expressions
from swf_temporal.languages.serverless_workflow.drafts.lowering import Recovery, of_what_is_left, workflow_of
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.reading.building import DefinitionForm, build
from swf_temporal.languages.serverless_workflow.reading.document import Reading
from swf_temporal.languages.serverless_workflow.reading.normalizing import Normalizer, Spelling
from swf_temporal.text.origin import Fetch, Object, Source

N = TypeVar("N", bound=Node)


@dataclass(frozen=True, slots=True)
class DraftReader(Generic[N]):
    """Converts documents of one draft to the common model, and validates them by the draft's rules."""

    spellings: Mapping[type[Node], Spelling]
    state: type[Node]
    """The base of all states, as which one of an unknown type is read."""
    marks: Callable[[Object], Mapping[str, Any]]
    """Returns facts about a document as written, by keys that authors cannot set."""
    form: Callable[[Object], DefinitionForm[N]]
    """Returns the form of a normalized document."""
    recovery: Recovery[N]
    lower: Callable[[N], Object]
    """Returns the document of 0.8."""
    problems_of: Callable[[N], list[Problem]]
    """Returns the problems by the rules of the draft."""
    schema: Callable[[str | None], dict[str, Any]]
    """Returns the JSON Schema of documents, with a title if there is one."""

    def read(self, root: Object, source: Source, fetch: Fetch) -> Reading:  # noqa: ARG002 - drafts have no included documents
        """Return the workflow that *root* describes, without the draft's rules."""
        draft, problems, is_whole = self._draft(root, source)
        if draft is None or not is_whole:
            return Reading(None, problems, draft=draft)
        return Reading(workflow_of(self.lower(draft), source), problems, draft=draft)

    def lowered(self, root: Object, source: Source) -> Object:
        """Return *root*, which may lack an id, converted to a document of 0.8.

        Raises InvalidDefinition if it is malformed.
        """
        draft, problems, is_whole = self._draft(root, source, may_lack_id=True)
        if draft is None or not is_whole:
            raise InvalidDefinition(problems)
        document = self.lower(draft)
        if not document["id"]:
            del document["id"]
        return document

    def validate(self, reading: Reading, expressions: Expressions | None) -> list[Problem]:  # noqa: ARG002 - their rules compile in the draft's words
        """Return the problems by the rules of the draft."""
        assert isinstance(reading.draft, self.recovery.model)  # noqa: S101 - only called for its own documents
        found = self.problems_of(reading.draft)
        return found if reading.workflow is not None else of_what_is_left(found)

    def json_schema(self, title: str | None) -> dict[str, Any]:
        return self.schema(title)

    def _draft(
        self, root: Object, source: Source, *, may_lack_id: bool = False
    ) -> tuple[N | None, tuple[Problem, ...], bool]:
        """Return *root* in the draft's model, its problems, and True if all of it is well-formed."""
        normalizer = Normalizer(source, self.spellings, self.state)
        marks = self.marks(root)
        normalizer.normalize(self.recovery.model, root, root.where.position)
        root.update(marks)
        if may_lack_id:
            root.setdefault("id", "")
        draft, refused = build(root, source, self.form(root), self.recovery.recover)
        return draft, (*normalizer.problems, *refused), not refused
