"""The markers that a replay is told of, asked for at every step."""

from string import digits


class Markers:
    """The patches that the history of a replay has markers of. Core announces each before the replay reaches it."""

    __slots__ = ("_known", "kinds")

    def __init__(self) -> None:
        self._known: set[str] = set()
        self.kinds: set[str] = set()
        """What they are called without the numbers at their ends: those of places in a run are numbered."""

    def add(self, marker: str) -> None:
        """Take note of one."""
        self._known.add(marker)
        self.kinds.add(marker.rstrip(digits))

    def __contains__(self, marker: str) -> bool:
        return marker in self._known
