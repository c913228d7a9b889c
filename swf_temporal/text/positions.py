"""Positions: where a node, and each key in it, was written."""

from swf_temporal.base.errors import Position


class Where:
    """The positions of a node and of each key in it."""

    __slots__ = ("inside", "keys", "position")

    def __init__(self, position: Position, keys: dict[str, tuple[Position, Position]]) -> None:
        self.position = position
        self.keys = keys
        """For each key, by its present name: where the key stands, and where its value starts."""
        self.inside: dict[tuple[str | int, ...], Position] = {}
        """For what stands deeper in free-form values and in lists of texts: where it starts, by its path."""

    def key(self, name: str) -> Position:
        """Return where the key *name* was written, or the node if it was not."""
        return self.keys[name][0] if name in self.keys else self.position

    def value(self, name: str) -> Position:
        """Return where the value of the key *name* starts, or the node if there is none."""
        return self.keys[name][1] if name in self.keys else self.position

    def at(self, name: str, *path: str | int) -> Position:
        """Return where the element at *path* inside the value of the key *name* starts."""
        return self.inside.get((name, *path)) or self.value(name)


NOWHERE = Where(Position(), {})
