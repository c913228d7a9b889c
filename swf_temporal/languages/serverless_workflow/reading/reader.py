"""The port of drafts that read their own documents, and what reading yields."""

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
    """The workflow that a text describes, or None, and what is to be said about the text."""

    workflow: Workflow | None
    """Without the parts of the wrong form, where there are problems about such parts."""
    problems: tuple[Problem, ...]
    """Some may be about another text: `externals.at_its_origin` has the last word about places."""
    bundled: str | None = None
    """The definition with all its externals in place, where it has some that were found."""
    detected: Detected | None = None
    """The version that the text is written in; None if no document could be read in it."""
    draft: Node | None = None
    """The document in its draft's own model, for the draft's rules."""


class Reader(Protocol):
    """Reads the documents of one draft. The module that its `Version` names has one as `READER`."""

    def read(self, root: Object, source: Source, fetch: Fetch) -> Reading:
        """Return the workflow that *root* describes, made of the draft's model, without asking the draft's rules."""

    def lowered(self, root: Object, source: Source) -> Object:
        """Return the document that 0.8 has for *root*. Raises InvalidDefinition if that has the wrong form."""

    def validate(self, reading: Reading, expressions: "Expressions | None") -> list[Problem]:
        """Return what the draft's rules say of what was read; *expressions* compiles those of its workflow."""

    def json_schema(self, title: str | None) -> dict[str, Any]:
        """Return the JSON Schema of the draft's documents."""


def reader_of(version: Version) -> Reader | None:
    """Return what reads documents of *version*, if that is a draft."""
    if version.reader is None:
        return None
    reader: Reader = module_named(version.reader).READER
    return reader
