"""Work with evaluations in it, those of which that are not bounded the host makes.

See `expressions/guarding/deferring.py`.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from swf_temporal.expressions.guarding.deferring import Deferred, Evaluation, answering
from swf_temporal.expressions.guarding.helper import EngineAnswer

T = TypeVar("T")


async def evaluated(work: Callable[[], T], evaluate: Callable[[Evaluation], Awaitable[EngineAnswer]]) -> T:
    """Return what *work* comes to, for which *evaluate* makes what is not bounded.

    *work* is done once more after each of these evaluations: it changes nothing.
    """
    try:
        return work()
    except Deferred as deferred:
        needed = deferred.evaluation
    answers: dict[Evaluation, EngineAnswer] = {}
    while True:
        answers[needed] = await evaluate(needed)
        with answering(answers):
            try:
                return work()
            except Deferred as deferred:
                needed = deferred.evaluation
