"""The semantics number: by which meaning of definitions a run goes.

A run keeps the number that it began with, through continue-as-new and in its sub-workflows, however many releases come
while it runs. Where a release makes the same definition take another course, it raises `SEMANTICS`, and the code asks
the run for its number: `if run.semantics >= 2`. docs/compatibility.md says when a change needs a number.
"""

from typing import Final

SEMANTICS: Final = 1
"""The number that new runs begin with."""
