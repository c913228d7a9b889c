"""How often each id was given: the numbers of calls that keep the ids of a run apart.

Those of iterations that are complete are merged, so that a run does not carry more of them the more iterations it has:
of an iteration only the highest numbers are left, under `[*]`, and of all the times that a path was run, under `[]`.
"""

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

_INDEX = re.compile(r"\[(\d+|\*)\]")
"""Where the name of a path has the number of an iteration, or stands for all of them."""
_OF_ALL = "[]"
"""What stands there for all iterations of those times that the path was run before."""


class IdCounters:
    def __init__(self, given: Mapping[str, int]) -> None:
        """Go on from the numbers *given* before."""
        self.given: dict[str, int] = dict(given)
        """How often each id was given."""
        self._has_merged = any(_OF_ALL in key for key in self.given)
        """Whether some numbers stand for all iterations that there were of a path."""

    def next(self, what: str) -> int:
        given = self.given.get(what)
        number = self.given[what] = (self._given_of_all(what) if given is None else given) + 1
        return number

    def merge(self, path: str) -> None:
        """Let the iterations of *path* that come next have higher numbers than those before."""
        self._merge([key for key in self.given if key.startswith(f"{path}[")], path, _OF_ALL)

    def forget_iteration(self, path: str, index: int, actions: AbstractSet[str] | None) -> None:
        """Keep of the numbers of iteration *index* of *path* only the highest.

        *actions* are all that it can have given ids to; None is that states within it gave some.
        """
        own = f"{path}[{index}]"
        if actions is None:
            given = [key for key in self.given if key.startswith(own)]
        else:
            given = [key for action in sorted(actions) if (key := f"{own}/{action}") in self.given]
        self._merge(given, path, "[*]")

    def _merge(self, given: Sequence[str], path: str, all_: str) -> None:
        for key in given:
            rest = key[key.index("]", len(path)) + 1 :]
            merged = f"{path}{all_}{_INDEX.sub(_OF_ALL, rest)}"
            self._has_merged = self._has_merged or _OF_ALL in merged
            self.given[merged] = max(self.given.pop(key), self.given.get(merged, 0))

    def _given_of_all(self, what: str) -> int:
        """Return the highest number of the ids that earlier iterations gave *what* which had the number of this one."""
        if not self._has_merged or "[" not in what:
            return 0
        of_all = (f"{what[: at.start()]}{_INDEX.sub(_OF_ALL, what[at.start() :])}" for at in _INDEX.finditer(what))
        return max((self.given.get(one, 0) for one in of_all), default=0)
