"""The interface of drafts that read their own documents, and the result of reading."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from swf_temporal.base.errors import Problem
from swf_temporal.base.importing import module_named
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow
from swf_temporal.languages.serverless_workflow.reading.versions.detection import Detected
from swf_temporal.languages.serverless_workflow.reading.versions.version import Version
from swf_temporal.text.located import Object
from swf_temporal.text.origin import Fetch, Source

if TYPE_CHECKING:
    from swf_temporal.expressions.evaluation import Expressions


@dataclass(frozen=True, slots=True)
class Reading:
    """The workflow that a text describes, or None, and the problems of the text."""

    workflow: Workflow | None
    """The workflow, without malformed parts, for which there are problems."""
    problems: tuple[Problem, ...]
    """The problems; those of included texts get their final positions by `including.at_its_origin`."""
    bundled: str | None = None
    """The definition with all its externals included, if any were found."""
    detected: Detected | None = None
    """The version of the text; None if it could not be parsed."""
    draft: Node | None = None
    """The document in its draft's own model, for the draft's rules."""


class Reader(Protocol):
    """The reader of the documents of one draft: `READER` in the module that its `Version` names."""

    def read(self, root: Object, source: Source, fetch: Fetch) -> Reading:
        """Return the workflow that *root* describes, converted from the draft's model, without the draft's rules."""

    def lowered(self, root: Object, source: Source) -> Object:
        """Return *root* converted to a document of 0.8. Raises InvalidDefinition if *root* is malformed."""

    def validate(self, reading: Reading, expressions: "Expressions | None") -> list[Problem]:
        """Return the problems by the draft's rules; *expressions* is the compiler for the workflow's expressions."""

    def json_schema(self, title: str | None) -> dict[str, Any]:
        """Return the JSON Schema of the draft's documents."""


def reader_of(version: Version) -> Reader | None:
    """Return the reader of *version*, if that is a draft."""
    if version.reader is None:
        return None
    reader: Reader = module_named(version.reader).READER
    return reader
