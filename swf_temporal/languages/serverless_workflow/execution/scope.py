"""The states among which a walk moves: those of the workflow, or those that a state of it holds.

A transition leads to a state of the same scope, and the end of a scope ends its walk. States are known by their path,
in which the names of the parts that hold them stand before their own: `Ship/left/Pack`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from swf_temporal.base.errors import UnknownDefinition
from swf_temporal.languages.serverless_workflow.model.states import State


@dataclass(frozen=True, slots=True)
class Scope:
    """States by their names, and the one that a walk begins with."""

    workflow_id: str
    states: Mapping[str, State]
    start: str
    path: str = ""
    """Of what holds the states; empty for the workflow itself."""
    window: str | None = None
    """The interval in which a walk may begin, if not always."""

    def state(self, name: str) -> State:
        """Return the state *name*. Raises UnknownDefinition."""
        try:
            return self.states[name]
        except KeyError:
            where = f" in {self.path!r}" if self.path else ""
            raise UnknownDefinition(f"{name!r} is not a state of workflow {self.workflow_id!r}{where}") from None

    def path_of(self, name: str) -> str:
        return f"{self.path}/{name}" if self.path else name
