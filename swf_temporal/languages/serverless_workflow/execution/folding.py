"""Effects applied one by one, for versions of the language in which data are not merged."""

from collections.abc import Callable

from swf_temporal.base.data import JSON
from swf_temporal.languages.serverless_workflow.execution.action_frames import ActionResult
from swf_temporal.languages.serverless_workflow.execution.lane import Lane


class OneByOne:
    """Applies each effect to the data that the one before came to."""

    def __init__(self, apply: Callable[[ActionResult, JSON, Lane], JSON], data: JSON, lane: Lane) -> None:
        self._apply = apply
        self._lane = lane
        self.data = data
        """The data with all that was applied."""

    def apply(self, effect: ActionResult) -> None:
        self.data = self._apply(effect, self.data, self._lane)
