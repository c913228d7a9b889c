"""The number of the reading under which a run interprets its definition.

A run keeps the number that it began with, through continue-as-new and in its sub-workflows, however many releases come
while it runs. Where a release makes the same definition take another course, the code asks for the number:
`if lane.semantics >= 2`. A run that was begun by a release which recorded no number has 1. docs/compatibility.md says
when a change needs a number.

2: a plain text is an expression wherever the specification says that the field holds one (operations of expression
functions, conditions, `data` of events and of `continueAs`); timeouts of states hold for sleeps, too, and so does the
`single` of one; a `runBefore` that reached its end completes the run, and goes on with a compensation that was broken
off; event states share events between definitions that overlap, give back what they took in vain, and wait without a
limit for the event with which a workflow starts; `compensateOnCancel` may be a text; an `outputCollection` that is not
an array is a fault; a sub-workflow is not tried again with an input that does not fit, nor where a timeout of its
state or branch broke it off; NaN in an input is refused; the
attribute `swfaddressed` of an event has no effect; an event that is sent by an update before the first step is answered
for once the definition is known.

3: patterns that take too long, in the codes of errors and in data schemas, fail the run, as expressions do that take
too long. Before, such a pattern matched nothing and such data did not fit, so that the course of a run could depend on
how busy its machine was.

4: definitions of 0.5 and 0.6 mean what their own texts say. Before, they were read as 0.8 with other spellings, in
which `maxAttempts` counts the first attempt, errors do not run a state once more, and a sub-workflow is neither
repeated nor left alone.

5: a `validate` state of Direktiv checks `format`; a subflow of Direktiv that was cancelled by itself fails its parent
with `direktiv.cancels.api`; messages of errors, which data may hold, speak of tasks in definitions of May 2020; an id
of a sub-workflow that would be too long ends with a digest; states, executions and sub-workflows that lead round
without waiting for anything fail the run. Before, a sub-workflow whose id would be too long failed the run, and only
the length of ids ended a workflow that runs itself. What a run carries on does not grow with the number of iterations
that are complete: their results are merged, or appended, as soon as all before them are complete, so that a result
that cannot be merged fails the state before later iterations begin. Ids of their calls are counted by the state. A
long stretch of states is divided by what was done in it. What is too large to be carried on fails the run before calls
are made in vain. A `delay` of Direktiv that was over in time is not late because no worker was there when a run
continued as new.

6: where several things have come by the time a workflow task begins, because no worker was there, what has come counts
before any timeout, and timers are taken in the order of their moments, one after the other. Before, a timeout could win
over a result, or over a shorter sleep, that came before it. So it is where a run continues as new.
A run that should continue as new goes on where it is, up to so many events, while a call is under way that is much
slower than others, because all would have to wait for it; and one that waits for it still, shortly before the server
would end it, fails. Before, it began nothing until the call had ended, and events that came could be too many.
A run that holds more collected results than its worker's `maxHeldBytes` fails when it continues as new.

7: a call of a function whose metadata have `longRunning`, and a sub-workflow that is awaited and has
`onParentComplete: continue`, may outlast the execution that began them: a run that should continue as new does not wait
for them, and the next execution goes on to wait. Before, such metadata meant nothing, and `onParentComplete` meant
nothing where a sub-workflow is awaited.

8: the calls of a foreach that are made at once are begun in one workflow task, however many there are and however large
the data are, unless that takes long. Before, a workflow task ended after so many calls, the fewer the larger the data,
and on a fast server the results of these could have the tasks after it made again and again. An execution that gets
very many signals in a short time continues as new early.

9: of sub-workflows that wait for one another, only those ask for the worker's limit that are twice as deep as the
latest that asked, and a sub-workflow carries the definitions that it may need. Before, each deeper than 20 asked, and a
sub-workflow carried all definitions of its parent. Signals that come fast make an execution shorter than before, and
those that come so fast that this is no use, no longer make it short.
"""

from typing import Final

SEMANTICS: Final = 9
"""The number of this release: new runs begin with it."""

FIRST_SEMANTICS: Final = 1
"""The number of a run that recorded none."""


def slow_is_fatal(semantics: int) -> bool:
    """Tell whether a pattern that takes too long fails a run of that reading."""
    return semantics >= _FATAL_PATTERNS


def reads_own_version(semantics: int) -> bool:
    """Tell whether a definition of 0.5 or 0.6 means what its own text says in a run of that reading."""
    return semantics >= _OWN_VERSIONS


def checks_formats(semantics: int) -> bool:
    """Tell whether a `validate` state of Direktiv checks `format` in a run of that reading."""
    return semantics >= _DIREKTIV_ERRORS


def tells_in_own_words(semantics: int) -> bool:
    """Tell whether messages of errors use the words of the definition's version in a run of that reading."""
    return semantics >= _OWN_WORDS


def tells_cancelled_subflows(semantics: int) -> bool:
    """Tell whether a subflow that was cancelled by itself fails with the error of its language in such a run."""
    return semantics >= _DIREKTIV_ERRORS


def forgives_delays(semantics: int) -> bool:
    """Tell whether a `delay` of Direktiv that was over before its timeout is in time, however late it is resumed."""
    return semantics >= _DIREKTIV_ERRORS


def gives_cycles_up(semantics: int) -> bool:
    """Tell whether a run of that reading is given up that never waits, and none for the length of an id."""
    return semantics >= _BUDGETS


def is_compact(semantics: int) -> bool:
    """Tell whether what a run of that reading carries on does not grow with the number of its iterations."""
    return semantics >= _COMPACT


def takes_turns(semantics: int) -> bool:
    """Tell whether timers of a run of that reading are taken in the order of their moments, after what has come."""
    return semantics >= _TURNS


def outlasts_slow_calls(semantics: int) -> bool:
    """Tell whether a run of that reading puts off continuing as new while a slow call is under way."""
    return semantics >= _TURNS


def limits_what_is_held(semantics: int) -> bool:
    """Tell whether a run of that reading may hold only as much as its worker lets it."""
    return semantics >= _TURNS


def lets_calls_outlast(semantics: int) -> bool:
    """Tell whether calls of a run of that reading may outlast an execution, where the definition says so."""
    return semantics >= _LONG_RUNNING


def begins_paths_at_once(semantics: int) -> bool:
    """Tell whether a run of that reading begins iterations side by side without a pause, unless that takes long."""
    return semantics >= _FAST_SERVERS


def keeps_up_with_signals(semantics: int) -> bool:
    """Tell whether a run of that reading continues as new early where signals come very fast."""
    return semantics >= _FAST_SERVERS


def leaves_bursts(semantics: int) -> bool:
    """Tell whether a run of that reading goes by how fast signals come, and not only by how many come."""
    return semantics >= _LEAN_CHILDREN


def asks_seldom_for_depth(semantics: int) -> bool:
    """Tell whether a run of that reading asks for the limit of depth only where it is twice as deep as before."""
    return semantics >= _LEAN_CHILDREN


def gives_on_what_is_needed(semantics: int) -> bool:
    """Tell whether sub-workflows of a run of that reading carry no definition that they cannot lead to."""
    return semantics >= _LEAN_CHILDREN


_FATAL_PATTERNS: Final = 3
_OWN_VERSIONS: Final = 4
_DIREKTIV_ERRORS: Final = 5
_OWN_WORDS: Final = 5
_BUDGETS: Final = 5
_COMPACT: Final = 5
_TURNS: Final = 6
_LONG_RUNNING: Final = 7
_FAST_SERVERS: Final = 8
_LEAN_CHILDREN: Final = 9
