"""The description of a definition: its outline and, of each sub-workflow, the one definition that is meant."""

from functools import cached_property
from typing import Any

from swf_temporal.languages.direktiv.definition import DirektivDefinition
from swf_temporal.languages.direktiv.model.workflow import SubflowFunction
from swf_temporal.languages.direktiv.names import candidates
from swf_temporal.languages.outlines import OutlineDescription
from swf_temporal.languages.port import WorkflowRef


class DirektivDescription(OutlineDescription):
    """The description of a definition."""

    @cached_property
    def facts(self) -> dict[str, Any]:
        """All that can be told without running it, as JSON."""
        one = self._definition
        assert isinstance(one, DirektivDefinition)  # noqa: S101 - its language describes its own alone
        return {**super().facts, "subWorkflows": [self._meant(name, one.id) for name in _references(one)]}

    def _meant(self, reference: str, caller: str) -> dict[str, Any]:
        names, version = candidates(reference, caller)
        targets = (self._other(WorkflowRef(name, version)) for name in names)
        return next((one for one in targets if one["found"]), self._other(WorkflowRef(reference, version)))


def _references(definition: DirektivDefinition) -> list[str]:
    functions = definition.workflow.functions
    return list(dict.fromkeys(one.workflow for one in functions if isinstance(one, SubflowFunction)))
