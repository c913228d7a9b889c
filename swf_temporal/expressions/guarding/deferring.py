"""Evaluations that a run has made elsewhere, since its text and data do not bound how long they take.

The course of a run follows from its history. What is bounded, as `bounds` counts it, is evaluated where the run goes
on, again on every replay. All else is asked of the host, which records the answer: work that meets such an evaluation
raises `Deferred`, and is done once more with the answer. A limit that the clock decides on, or the memory of
a helper, is an answer there. It never is one here: it would be met on one machine and not on another, so it is the
machine's fault, and the task is tried again.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Final, NamedTuple

from swf_temporal.base.accounting import MIB
from swf_temporal.base.errors import ExpressionLimitExceeded
from swf_temporal.base.strict_json import write_json
from swf_temporal.expressions.guarding.bounds import Bound
from swf_temporal.expressions.guarding.guard import ENGINES, JQ, Engine, guard
from swf_temporal.expressions.guarding.helper import EngineAnswer

LIMIT_MET: Final = -1
"""The status of an answer that says which limit was met; the others are those of `jq_process`."""


class Evaluation(NamedTuple):
    """What a helper process is asked: the name of its engine, the program, and the data as JSON."""

    engine: str
    program: str
    data: str


class Deferred(Exception):  # noqa: N818 - not an error: it asks for an evaluation
    """The work goes on once this evaluation was made."""

    def __init__(self, evaluation: Evaluation) -> None:
        super().__init__(f"an evaluation by {evaluation.engine} is to be made by the host")
        self.evaluation = evaluation


class MachineTooSlow(RuntimeError):  # noqa: N818 - named for what is wrong
    """An evaluation that needs little met a limit: it says nothing about the run, and is made again."""


_answers: ContextVar[Mapping[Evaluation, EngineAnswer] | None] = ContextVar("answers", default=None)


def defer_here() -> None:
    """Let the current task, and all those that it creates, leave to the host what is not bounded."""
    _answers.set({})


def is_deferring() -> bool:
    """Tell whether what is not bounded is left to the host."""
    return _answers.get() is not None


@contextmanager
def answering(answers: Mapping[Evaluation, EngineAnswer] | None) -> Iterator[None]:
    """Let what is evaluated within find *answers*; None is that it belongs to no run, and is evaluated at once."""
    token = _answers.set(answers)
    try:
        yield
    finally:
        with suppress(ValueError):  # what is never finished is closed by the garbage collector, in another context
            _answers.reset(token)


def ask(program: str, data: str, bound: Bound, engine: Engine = JQ) -> EngineAnswer:
    """Return what *engine* answers. Raises ExpressionLimitExceeded, and Deferred where the host is to be asked."""
    answers = _answers.get()
    if answers is None:
        return guard(engine).run(program, data)
    if bound.holds(len(data)):
        try:
            return guard(engine).run(program, data)
        except ExpressionLimitExceeded as limit:
            raise MachineTooSlow(f"{limit.message}, which needs little: is this machine too busy?") from None
    evaluation = Evaluation(engine.name, program, data)
    answer = answers.get(evaluation)
    if answer is None:
        raise Deferred(evaluation)
    if answer.status == LIMIT_MET:
        raise ExpressionLimitExceeded(answer.text)
    return answer


def answer_to(evaluation: Evaluation, most: int) -> EngineAnswer:
    """Make *evaluation*: what a host does. A limit that it meets is the answer, as is that it yields more than *most*.

    *most* is how many bytes its text may take as JSON.
    """
    try:
        answer = guard(ENGINES[evaluation.engine]).run(evaluation.program, evaluation.data)
    except ExpressionLimitExceeded as limit:
        return EngineAnswer(LIMIT_MET, limit.message)
    if len(write_json(answer.text)) > most:
        return EngineAnswer(LIMIT_MET, f"an expression yielded more than {most / MIB:g} MiB")
    return answer
