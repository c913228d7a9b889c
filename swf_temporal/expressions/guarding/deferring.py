"""Evaluations that a run leaves to its host, since their text and data do not bound how long they take.

The course of a run follows from its history. Evaluations with a `Bound` are made within the run, again on every replay.
All others are left to the host, which records the answer: code that needs one raises `Deferred`, and is run once more
with the answer. Exceeding a limit of time or memory is an answer of the host. Within the run it never is one: it would
happen on one machine and not on another, so the machine is to blame, and the task is retried.

Work is counted in steps of an engine, of which a helper makes some millions per second. `MAX_WORK` of them take less
than a tenth of its limit, so that a bounded evaluation never exceeds a limit on any usable machine. A bound is never
too low and often too high: then a fast evaluation is left to the host, which costs some milliseconds.

Without bounds, the host would make all evaluations that need jq. Each then costs a worker ten times as much processor
time, and an event: 4,000 different ones take 15 s rather than 1.6 s, and 4,017 events rather than 169.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Final, NamedTuple

from swf_temporal.base.accounting import MIB
from swf_temporal.base.errors import ExpressionLimitExceeded
from swf_temporal.base.strict_json import write_json
from swf_temporal.expressions.guarding.guard import ENGINES, JQ, Engine, guard
from swf_temporal.expressions.guarding.helper import EngineAnswer

MAX_WORK: Final = 1 << 16
"""The maximum number of steps of an evaluation within the run."""
_ELEMENT: Final = 4
"""The usual minimum of characters that one element takes as JSON."""
_IN_PYTHON: Final = 10
"""The factor by which a step of an engine that is written in Python takes longer."""
MAX_EXPONENT: Final = 8
"""The highest exponent of a bound."""


class Bound(NamedTuple):
    """The work of an evaluation: at most *factor* times the elements of its data to the power of *exponent*."""

    exponent: int = 1
    factor: int = 1

    def holds(self, size: int) -> bool:
        """Return whether the work on data of *size* characters is within the limit."""
        return self.factor * int(max(1, size // _ELEMENT) ** self.exponent) <= MAX_WORK


UNBOUNDED: Final = Bound(0, MAX_WORK + 1)
"""The bound of an evaluation whose text and data do not bound its work."""

_GENERATED = re.compile(r"\b(?:match|search)\s*\(|\.\.|\?")
_SCHEMA_LOOPS = re.compile(r'"(?:pattern|patternProperties|\$ref|\$dynamicRef|\$recursiveRef|uniqueItems|format)":')
_SCHEMA_AGAIN = re.compile(r'"(?:allOf|anyOf|oneOf|not|if|contains|unevaluated\w+|additionalProperties)":')
_QUANTIFIED_GROUP = re.compile(r"\)\s*[*+?{]|\\[1-9gk]|\(\?(?![:=!]|<[=!])")
_QUANTIFIER = re.compile(r"(?<!\\)(?:[*+]|\{\d*,?\d*\})")
_STEPS: Final = 256
"""The number of characters that are compared with a pattern in the time of a step."""
_SEGMENTS: Final = 256
"""The number of characters of a path whose segments take as long as a step."""
_CHOICE = re.compile(r"(?<!\\)[|?]")


def jsonpath_bound(path: str) -> Bound:
    """Return the bound of a JSONPath: one that only descends visits its data once for each of its selectors.

    Several selectors in one segment may find the same values, and the next segment descends from each of them.
    """
    found = _GENERATED.findall(path)
    if any("(" in one for one in found):
        return UNBOUNDED
    repeated = 2 ** min(path.count(","), 20)
    return Bound(max(1, min(len(found), MAX_EXPONENT)), _IN_PYTHON * repeated * (1 + len(path) // _SEGMENTS))


def schema_bound(schema: str) -> Bound:
    """Return the bound of validating data against the JSON Schema in the text *schema*.

    Without patterns and references, each part of it is compared with each part of the data at most once.
    """
    if _SCHEMA_LOOPS.search(schema) is not None:
        return UNBOUNDED
    return Bound(1, _IN_PYTHON * (1 + len(_SCHEMA_AGAIN.findall(schema))))


def pattern_bound(pattern: str, text: str) -> Bound:
    """Return the bound of searching *text* for a regular expression, for data of size 0.

    Each repetition can begin at any character and end at any other, and so can a nested one.
    """
    size = len(text)
    if size <= 1:
        return Bound(0)
    if _QUANTIFIED_GROUP.search(pattern) is not None:
        return Bound(0, 2 ** min(size, 20) * len(pattern))
    repetitions, choices = len(_QUANTIFIER.findall(pattern)), len(_CHOICE.findall(pattern))
    work = size ** min(repetitions + 1, MAX_EXPONENT) * 2 ** min(choices, 20) * len(pattern)
    return Bound(0, max(1, work // _STEPS))


LIMIT_MET: Final = -1
"""The status of an answer that says which limit was exceeded; the others are those of `jq_process`."""


class Evaluation(NamedTuple):
    """A request to a helper process: the name of its engine, the program, and the data as JSON."""

    engine: str
    program: str
    data: str


class Deferred(Exception):  # noqa: N818 - not an error: it requests an evaluation
    """Raised to have an evaluation made by the host; the code that raised it is run again with the answer."""

    def __init__(self, evaluation: Evaluation) -> None:
        super().__init__(f"an evaluation by {evaluation.engine} is to be made by the host")
        self.evaluation = evaluation


class MachineTooSlow(RuntimeError):  # noqa: N818 - named for what is wrong
    """A bounded evaluation exceeded a limit: this is not a fault of the run, and it is made again."""


_answers: ContextVar[Mapping[Evaluation, EngineAnswer] | None] = ContextVar("answers", default=None)


def defer_here() -> None:
    """Make the current task, and all tasks that it creates, leave unbounded evaluations to the host."""
    _answers.set({})


def is_deferring() -> bool:
    """Return whether unbounded evaluations are left to the host."""
    return _answers.get() is not None


@contextmanager
def answering(answers: Mapping[Evaluation, EngineAnswer] | None) -> Iterator[None]:
    """Provide *answers* to evaluations within the context; with None, they are made at once, outside of any run."""
    token = _answers.set(answers)
    try:
        yield
    finally:
        with suppress(ValueError):  # an unfinished generator is closed by the garbage collector, in another context
            _answers.reset(token)


class Joint(NamedTuple):
    """A program that can evaluate several expressions, and the number of one of them, from 0."""

    program: str
    number: int

    def input(self, data: str) -> str:
        """Return what this program is given for the expression, whose own is given *data*, a JSON array."""
        return f"{data[:-1]},{self.number}]"


def ask(program: str, data: str, bound: Bound, engine: Engine = JQ, joint: Joint | None = None) -> EngineAnswer:
    """Return what *engine* answers. Raises ExpressionLimitExceeded, and Deferred where the host is to be asked.

    Here, *joint* may do it in the place of *program*; what a host is asked is that alone.
    """
    answers = _answers.get()
    if answers is None or bound.holds(len(data)):
        here = (program, data) if joint is None else (joint.program, joint.input(data))
        try:
            return guard(engine).run(*here)
        except ExpressionLimitExceeded as limit:
            if answers is None:
                raise
            raise MachineTooSlow(f"{limit.message}, although it needs little: is this machine too busy?") from None
    evaluation = Evaluation(engine.name, program, data)
    answer = answers.get(evaluation)
    if answer is None:
        raise Deferred(evaluation)
    if answer.status == LIMIT_MET:
        raise ExpressionLimitExceeded(answer.text)
    return answer


def answer_to(evaluation: Evaluation, most: int) -> EngineAnswer:
    """Make *evaluation* for a host. If it exceeds a limit, or yields too much, that is the answer.

    *most* is the limit of its text as JSON, in bytes.
    """
    try:
        answer = guard(ENGINES[evaluation.engine]).run(evaluation.program, evaluation.data)
    except ExpressionLimitExceeded as limit:
        return EngineAnswer(LIMIT_MET, limit.message)
    if len(write_json(answer.text)) > most:
        return EngineAnswer(LIMIT_MET, f"an expression yielded more than {most / MIB:g} MiB")
    return answer
