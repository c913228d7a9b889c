"""Runs jq, and other engines, so that it cannot stop, kill or read this process.

Theory of operation. jq is C code that holds Python's interpreter lock while it works: an endless program
would freeze every thread here, and a value nested deeply enough would end the process. So jq is never loaded
here. A pool of small helper processes runs it; a call is one request and one answer over a pair of pipes, and
other threads run meanwhile. Helpers start when they are first needed, are reused last in first out, and exit
by themselves when their standard input closes.

Three limits apply to one call. Processor time: a timer in the helper, whose signal ends it; processor time,
because a busy machine should not change the outcome of an expression. Memory: the helper's address space. Size
of the output: counted by the helper. Wall-clock time is a backstop, several times as long. A helper that
exceeded a limit, or died in any other way, is replaced at the next call, and the call raises
ExpressionLimitExceeded.

JavaScript, JSON Schemas with patterns, and JSONPath run in separate helpers, in the same way.

Helpers are started as programs and never forked, since threads are running when the first is needed. Their
environment is empty but for the locale and the time zone.
"""

import atexit
import threading
import time
from collections import deque
from pathlib import Path

from swf_temporal.base.accounting import check_size, json_size
from swf_temporal.base.errors import ExpressionLimitExceeded
from swf_temporal.base.strict_json import write_json
from swf_temporal.expressions.guarding import jq_process
from swf_temporal.expressions.guarding.helper import (
    LOOK,
    Engine,
    EngineAnswer,
    EvaluationLimits,
    Helper,
    OutOfMemoryBefore,
    size_text,
)

__all__ = [
    "JAVASCRIPT",
    "JQ",
    "JSONPATH",
    "SCHEMAS",
    "Engine",
    "EngineAnswer",
    "EvaluationLimits",
    "Guard",
    "guard",
    "written",
]

_SPARE = 4
"""The ratio of the number of helpers to those that may work at once at full speed."""
_LARGE = 4 << 20
"""The size of input, in characters, from which evaluations run one at a time."""
_one_by_one = threading.Lock()

_PACKAGE = Path(__file__).parents[2]
JQ = Engine("jq", "jq", "jq")
JAVASCRIPT = Engine("JavaScript", "_quickjs", "quickjs-ng", str(_PACKAGE / "expressions" / "js_process.py"))
SCHEMAS = Engine(
    "JSON Schema",
    "jsonschema",
    "jsonschema",
    str(_PACKAGE / "expressions" / "schema_process.py"),
    is_python=True,
)
JSONPATH = Engine(
    "JSONPath", "jsonpath", "python-jsonpath", str(_PACKAGE / "expressions" / "jsonpath_process.py"), is_python=True
)
ENGINES = {engine.name: engine for engine in (JQ, JAVASCRIPT, SCHEMAS, JSONPATH)}


class Guard:
    """A pool of helper processes that run an engine. May be used from several threads at once."""

    def __init__(self, limits: EvaluationLimits | None = None, engine: Engine = JQ) -> None:
        self.limits = limits or EvaluationLimits()
        self.engine = engine
        self._idle: list[Helper] = []
        self._running = 0
        self._generation = 0
        self._changed = threading.Condition()
        self._waiting: deque[object] = deque()
        """The threads that wait for a helper, in the order of their arrival."""

    def run(self, program: str, data: str | None) -> EngineAnswer:
        """Run *program* on the JSON text *data*, or only compile it if that is None.

        Raises ExpressionLimitExceeded if an evaluation exceeds a limit, and ModuleNotFoundError if the engine is not
        installed.
        """
        if data is not None and len(data) > _LARGE:
            with _one_by_one:  # each takes many times as much memory as its data, here and in its helper
                return self._run(program, data)
        return self._run(program, data)

    def _run(self, program: str, data: str | None) -> EngineAnswer:
        try:
            return self._run_with(self._take(), program, data)
        except OutOfMemoryBefore:
            # Earlier evaluations took memory there, too, but the limit of an expression must depend on it alone.
            return self._run_with(self._take(is_fresh=True), program, data)

    def _run_with(self, helper: Helper, program: str, data: str | None) -> EngineAnswer:
        try:
            answer = helper.ask(program, data)
        except BaseException:
            helper.end()
            self._give_back(None)
            raise
        if helper.is_last() or answer.status == jq_process.OUT_OF_MEMORY:
            helper.end()
            self._give_back(None)
        else:
            self._give_back(helper)
        if answer.status == jq_process.TOO_LARGE:
            raise ExpressionLimitExceeded(f"an expression yielded more than {size_text(self.limits.output)}")
        if answer.status == jq_process.OUT_OF_MEMORY:
            if not helper.was_fresh:
                raise OutOfMemoryBefore(self.engine.name)
            raise ExpressionLimitExceeded(f"an expression took more than {size_text(self.limits.memory)} of memory")
        return answer

    @property
    def count(self) -> int:
        """The number of helpers, idle or at work."""
        return self._running

    def start(self) -> None:
        """Start one helper ahead of its first use."""
        self._give_back(self._take())

    def stop(self) -> None:
        """End the helpers; those at work answer first. A later call starts new ones."""
        with self._changed:
            idle, self._idle = self._idle, []
            self._running -= len(idle)
            self._generation += 1
            self._changed.notify_all()
        for helper in idle:
            helper.end()

    def _take(self, *, is_fresh: bool = False) -> Helper:
        with self._changed:
            self._wait_for_turn()
            while self._idle:
                helper = self._idle.pop()
                if not is_fresh and helper.is_alive():
                    return helper
                helper.end()  # or something else killed it while it was idle
                self._running -= 1
            self._running += 1
            generation = self._generation
        try:
            return Helper(self.engine, self.limits, generation)
        except BaseException:
            self._give_back(None)
            raise

    def _wait_for_turn(self) -> None:
        """Wait until it is this thread's turn, and there is a helper or room for one.

        Threads are served in the order of their arrival: a thread with many evaluations would otherwise take back the
        helper that it has just returned, before the others. A thread that has waited long needs no turn: those before
        it have waited, too, or were interrupted, which can happen anywhere.
        """
        turn = object()
        # Evaluations in progress may be slow, and others need not wait long for these.
        until = time.monotonic() + LOOK
        try:
            self._waiting.append(turn)
            while not self._may_go(turn, is_late=time.monotonic() >= until):
                self._changed.wait(LOOK)
        finally:
            while turn in self._waiting:
                self._waiting.popleft()
            self._changed.notify_all()

    def _may_go(self, turn: object, *, is_late: bool) -> bool:
        return (is_late or next(iter(self._waiting), None) is turn) and self._has_helper(is_late=is_late)

    def _has_helper(self, *, is_late: bool) -> bool:
        most = self.limits.processes * (_SPARE if is_late else 1)
        return bool(self._idle) or self._running < most

    def _give_back(self, helper: Helper | None) -> None:
        with self._changed:
            if helper is not None and helper.generation == self._generation:
                self._idle.append(helper)
                helper = None
            else:
                self._running -= 1
            self._changed.notify_all()
        if helper is not None:
            helper.end()


_guards = {engine: Guard(engine=engine) for engine in ENGINES.values()}


def guard(engine: Engine = JQ) -> Guard:
    """Return the pool of helpers for *engine*."""
    return _guards[engine]


def written(value: object) -> str:
    """Return *value* as JSON for an evaluation.

    Raises ExpressionLimitExceeded, before writing it, if it exceeds the limit of input, and NotJSON.
    """
    sizes: dict[int, int] = {}
    check_size(json_size(value, sizes=sizes))
    return write_json(value, sizes=sizes)


def configure(limits: EvaluationLimits) -> None:
    for engine, old in _guards.items():
        _guards[engine] = Guard(limits, engine)
        old.stop()


def helpers() -> dict[str, int]:
    """Return the number of helpers of each engine, by its name."""
    return {engine.name: pool.count for engine, pool in _guards.items()}


def start() -> None:
    """Start a helper for jq ahead of the first evaluation: most definitions need no other engine."""
    _guards[JQ].start()


def stop() -> None:
    """End the helpers; a later evaluation starts new ones."""
    for pool in _guards.values():
        pool.stop()


atexit.register(stop)
