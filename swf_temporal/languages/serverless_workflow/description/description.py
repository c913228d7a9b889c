"""The description of a workflow: facts for programs, text for people, and a diagram."""

from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from swf_temporal.languages.port import Addresses
from swf_temporal.languages.serverless_workflow.description.compact import Facts
from swf_temporal.languages.serverless_workflow.description.facts import facts_of
from swf_temporal.languages.serverless_workflow.description.mermaid import diagram_of
from swf_temporal.languages.serverless_workflow.description.text import text_of

if TYPE_CHECKING:
    from swf_temporal.languages.catalogue import Catalogue
    from swf_temporal.languages.serverless_workflow.definition import ServerlessWorkflowDefinition


class WorkflowDescription:
    """A description of a workflow: what it needs and does."""

    def __init__(
        self, definition: "ServerlessWorkflowDefinition", catalogue: "Catalogue", now: datetime, addresses: Addresses
    ) -> None:
        self._definition = definition
        self._catalogue = catalogue
        self._now = now
        self._addresses = addresses

    @cached_property
    def facts(self) -> Facts:  # a dictionary of JSON
        """All that can be told without running it."""
        return facts_of(self._definition, self._catalogue, self._now, self._addresses)

    def text(self) -> str:
        """Return the description in plain lines."""
        return text_of(self.facts)

    def mermaid(self) -> str:
        """Return the source of a state diagram."""
        return diagram_of(self.facts)
