"""What rewriting a definition changed, and what it could not say."""

from dataclasses import dataclass, field

from swf_temporal.languages.port import Change


@dataclass(slots=True)
class Report:
    """All changes to one definition, each told once."""

    changes: list[Change] = field(default_factory=list)

    def respelled(self, message: str) -> None:
        """Note that something is only called otherwise."""
        self._add(Change("respelled", message))

    def reshaped(self, message: str) -> None:
        """Note that something is said in another form."""
        self._add(Change("reshaped", message))

    def unsayable(self, message: str) -> None:
        """Note that something cannot be said in the newer version, and is left as it was."""
        self._add(Change("unsayable", message))

    def _add(self, change: Change) -> None:
        if change not in self.changes:
            self.changes.append(change)
