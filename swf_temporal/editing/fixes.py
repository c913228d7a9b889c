"""What to write instead, where a problem says what was probably meant."""

import re
from typing import Final

from swf_temporal.errors import Problem

_MEANT: Final = re.compile(r"did you mean (?:'((?:[^'\\]|\\.)+)'|\"((?:[^\"\\]|\\.)+)\")\?")


def replacement(problem: Problem) -> str | None:
    """Return the word that was probably meant; None if it is not known."""
    found = _MEANT.search(problem.hint or "")
    return None if found is None else found[1] or found[2]
