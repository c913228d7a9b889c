"""Definitions that are broken at random, of all languages, loaded, validated and simulated.

`python -m tests.mutated --count 10000` shares the count among the versions. Each definition is done with in a process
of its own kind, several at a time: one that takes more than five seconds is broken off and tried once more when nothing
else runs, since a busy machine is no defect, and one that cannot be broken off ends with its process. What came of them
is printed for each version, with the longest time, and each defect with the seed that makes it again. The command ends
with 1 if there is any.
"""

import argparse
import multiprocessing
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from time import monotonic, perf_counter
from typing import Any, Final, NamedTuple

import typer

from swf_temporal import InvalidDefinition, UsageError, simulate
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition
from tests.languages.direktiv import mutations as direktiv
from tests.languages.dsl import mutations as dsl
from tests.loading import mutations as serverless_workflow

LIMIT: Final = 5.0
"""Seconds in which each definition is done with."""
_PATIENCE: Final = 30.0
"""Seconds after which a process is ended that could not be told that the time is over."""
_DIREKTIV: Final = "Direktiv"
_DSL: Final = "1.0"
VERSIONS: Final = (*serverless_workflow.VERSIONS, _DSL, _DIREKTIV)
_INPUTS: Final[list[Any]] = [{"n": 1, "items": [{"i": 1}, {"i": 2}], "go": True}, {}, [1, None], {"items": {"n": []}}]


class Task(NamedTuple):
    version: str
    seed: int


class Tried(NamedTuple):
    task: Task
    outcome: str
    seconds: float
    defect: str = ""


class TakesTooLongError(BaseException):
    """A definition is not done with in its time. No handler of ours takes it for a fault of the definition."""


def attempt(task: Task) -> Tried:
    begun = perf_counter()
    outcome, defect = "defect", ""
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    try:
        outcome = _outcome(task)
    except TakesTooLongError:
        outcome, defect = "late", f"takes more than {LIMIT:g} seconds"
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
        defect = f"{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return Tried(task, outcome, perf_counter() - begun, defect)


def _outcome(task: Task) -> str:
    if task.version == _DIREKTIV:
        return direktiv.outcome(*direktiv.mutated(task.seed))
    if task.version == _DSL:
        return dsl.outcome(*dsl.mutated(task.seed))
    text = serverless_workflow.mutated(task.version, task.seed)
    serverless_workflow.outcome(task.version, text)
    try:
        definition = load(text)
    except InvalidDefinition:
        return "refused"
    return _simulated(text, definition, _INPUTS[task.seed % len(_INPUTS)])


def _simulated(text: str, definition: Definition, given: Any) -> str:
    """Simulate a definition: each of its functions answers, and each of its events comes twice."""
    names = [use.function.name for use in definition.functions]
    events = [
        {"type": use.type or use.name, "source": use.source or "s", "data": {"n": number}, "order": "1"}
        for use in definition.events
        for number in range(2)
    ]
    try:
        run = simulate(
            text, given, functions={name: {"r": number, "id": name} for number, name in enumerate(names)},
            definitions=[{**_OTHER, "id": one} for one in ("s", "t", "other")], events=events,
            secrets=dict.fromkeys(definition.secrets, "s"),
        )  # fmt: skip
    except UsageError:
        return "not simulated"
    fault = run.error
    assert fault is None or (fault.name and fault.message), "the error says nothing"
    assert fault is None or fault.name != "InternalError", fault
    return run.status


_OTHER: Final[Mapping[str, Any]] = {
    "version": "1.0.0",
    "specVersion": "0.8",
    "states": [{"name": "a", "type": "inject", "data": {"s": 1}, "end": True}],
}


class _Hand:
    """A process that tries one definition after the other."""

    def __init__(self, work: Callable[[Task], Tried]) -> None:
        self.pipe, its = multiprocessing.Pipe()
        self.process: BaseProcess = multiprocessing.get_context("spawn").Process(
            target=_try_all, args=(its, work), daemon=True
        )
        self.process.start()
        its.close()
        self.pipe.recv()  # it is ready
        self.task: Task | None = None
        self.since = 0.0

    def give(self, task: Task) -> None:
        self.task, self.since = task, monotonic()
        self.pipe.send(task)

    def take(self) -> Tried:
        """Return what came of its task; where the process has ended with it, that."""
        task = self.task
        assert task is not None
        self.task = None
        try:
            got: Tried = self.pipe.recv()
        except (EOFError, ConnectionError):
            self.close()
            return Tried(task, "defect", monotonic() - self.since, f"its process ended with {self.process.exitcode}")
        return got

    @property
    def is_alive(self) -> bool:
        return self.process.is_alive()

    def close(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def _try_all(pipe: Connection, work: Callable[[Task], Tried]) -> None:
    def too_late(*_: object) -> None:
        raise TakesTooLongError

    signal.signal(signal.SIGALRM, too_late)
    with suppress(EOFError, KeyboardInterrupt):
        pipe.send(None)
        while True:
            pipe.send(work(pipe.recv()))


def tried(tasks: Iterator[Task], jobs: int, work: Callable[[Task], Tried] = attempt) -> Iterator[Tried]:
    hands: list[_Hand] = []
    try:
        while True:
            hands = [one for one in hands if one.task is not None or one.is_alive]
            for task in islice(tasks, jobs - len(hands)):
                hands.append(_Hand(work))
                hands[-1].give(task)
            if not hands:
                return
            ready = wait([one.pipe for one in hands], timeout=1)
            for hand in hands:
                if hand.pipe in ready:
                    yield hand.take()
                    if not hand.is_alive:
                        continue
                    following = next(tasks, None)
                    if following is None:
                        hand.close()
                    else:
                        hand.give(following)
                elif monotonic() - hand.since > _PATIENCE:
                    hand.process.kill()
    finally:
        for hand in hands:
            hand.close()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutated", description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=10_000, help="how many definitions, of all versions together")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first of each version")
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count(), help="how many at a time")
    parser.add_argument("--version", choices=VERSIONS, action="append", help="only definitions of this version")
    asked = parser.parse_args()
    versions = asked.version or VERSIONS
    of_each = -(-asked.count // len(versions))
    tasks = (Task(version, asked.seed + number) for version in versions for number in range(of_each))
    outcomes: dict[str, Counter[str]] = {version: Counter() for version in versions}
    longest: dict[str, Tried] = {}
    defects: list[Tried] = []
    late: list[Task] = []
    for one in tried(tasks, asked.jobs):
        if one.outcome == "late":
            late.append(one.task)
            continue
        _count(one, outcomes, longest, defects)
    for one in tried(iter(late), 1):
        _count(one, outcomes, longest, defects)
    for version, counted in outcomes.items():
        came = ", ".join(f"{count} {name}" for name, count in sorted(counted.items()))
        slowest = longest[version]
        took = f"the longest {slowest.seconds:.1f} s (seed {slowest.task.seed})"
        typer.echo(f"{version}: {counted.total()} definitions, {came}; {took}")
    for one in defects:
        typer.echo(f"{one.task.version}, seed {one.task.seed}: {one.defect}")
    total = sum(counted.total() for counted in outcomes.values())
    took_long = sum(one.outcome == "late" for one in defects)
    typer.echo(f"{total} definitions: {len(defects) - took_long} defects, {took_long} over {LIMIT:g} s")
    return int(bool(defects))


def _count(one: Tried, outcomes: Mapping[str, Counter[str]], longest: dict[str, Tried], defects: list[Tried]) -> None:
    version = one.task.version
    outcomes[version][one.outcome] += 1
    if version not in longest or one.seconds > longest[version].seconds:
        longest[version] = one
    if one.defect:
        defects.append(one)


if __name__ == "__main__":
    sys.exit(main())
