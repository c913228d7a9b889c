"""Under which reading does a run interpret its definition?

A run keeps the number that it began with, through continue-as-new and in its sub-workflows, however many releases come
while it runs. Where a release makes the same definition take another course, the code asks for the number:
`if lane.interpretation.semantics >= 2`. A run that was begun by a release which recorded no number has 1.

2: a plain text is an expression wherever the specification says that the field holds one (operations of expression
functions, conditions, `data` of events and of `continueAs`); timeouts of states hold for sleeps, too, and so does the
`single` of one; a `runBefore` that reached its end completes the run, and goes on with a compensation that was broken
off; event states share events between definitions that overlap, give back what they took in vain, and wait without a
limit for the event with which a workflow starts; `compensateOnCancel` may be a text; an `outputCollection` that is not
an array is a fault; a sub-workflow is not tried again with an input that does not fit, nor where a timeout of its
state or branch broke it off; NaN in an input is refused; the
attribute `swfaddressed` of an event has no effect; an event that is sent by an update before the first step is answered
for once the definition is known.
"""

from typing import Final

SEMANTICS: Final = 2
"""The number of this release: new runs begin with it."""

FIRST_SEMANTICS: Final = 1
"""The number of a run that recorded none."""
