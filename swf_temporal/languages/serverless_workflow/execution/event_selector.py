"""The events that a path asks for: what of them is the same each time is prepared once."""

from swf_temporal.cloud_event import CloudEvent
from swf_temporal.languages.serverless_workflow.model.definitions import Event
from swf_temporal.runtime.event_matching import is_like


class EventSelector:
    """The events that any of *refs* defines, as far as definitions alone decide: not the values of an instance."""

    __slots__ = ("definitions", "is_correlated", "refs")

    def __init__(self, refs: tuple[str, ...], definitions: tuple[Event, ...]) -> None:
        self.refs = refs
        self.definitions = definitions
        """One for each of the names."""
        self.is_correlated = any(definition.correlation for definition in definitions)
        """Whether attributes of the events decide as well, by which an instance knows its own."""

    def which(self, event: CloudEvent) -> int:
        """Return the number of the first definition that *event* is like; -1 if it is like none."""
        for index, definition in enumerate(self.definitions):
            if is_like(definition, event):
                return index
        return -1

    def accepts(self, event: CloudEvent) -> bool:
        """Tell whether *event* is like one of the definitions."""
        return self.which(event) >= 0
