"""What is a mutant tried with, and how does it fare? Every trial is a forked process, which may hang or fall over.

A mutant meets what comes by its function, the quick before the slow: first scenarios, run once; then the same
scenarios, suspended at their steps and resumed; then unit tests. It is killed by the first thing that is not as before.
Whoever forks has imported everything and run nothing, so that no thread, helper process or cache is inherited.
"""

import contextlib
import copy
import importlib
import io
import json
import os
import pkgutil
import resource
import signal
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Self

import coverage
import hypothesis
import pytest

from tests.mutation.mutant import PACKAGES, ROOT, Mutant
from tests.mutation.mutants import MutatedFile, choose

CORPUS: Final = ROOT / "tests" / "scenarios"
UNIT_TESTS: Final = (
    "tests/runtime",
    "tests/languages/serverless_workflow/execution",
    "tests/languages/serverless_workflow/drafts",
    "tests/expressions",
    "tests/guarding",
    "tests/simulation",
)
NOT_HERE: Final = ("tests/simulation/test_scenarios.py",)
"""What runs the scenarios is not run beside them."""
_MAX_SUSPENSIONS = 24
_MIN_SECONDS, _ALLOWANCE = 1.0, 5
"""How much processor time a trial has: so much, and so many times what it takes without a mutant."""
_CLOCK_SECONDS = 30
"""And how long it may wait for something, on the clock."""
_MEMORY = 4 << 30
_FAILURES = (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR)
_PYTEST = ["-q", "-x", "-p", "no:cacheprovider", "--timeout=0", "-p", "no:xdist", "--no-header", "--tb=no"]
_PYTEST += ["--seed=0", "--hypothesis-profile=mutation", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
"""What is imported before a fork is not rewritten after it."""


class Kind(StrEnum):
    """A way to try a mutant."""

    SCENARIO = "scenario"
    SUSPENDED = "suspended scenario"
    TEST = "unit test"


class Fate(StrEnum):
    """What became of a mutant."""

    REFUSED = "refused"
    """By the type checker."""
    KILLED = "killed"
    TIMED_OUT = "timed out"
    SURVIVED = "survived"


Lines = dict[str, list[int]]
"""Lines of files."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Something that a mutant may be killed by."""

    kind: Kind
    name: str
    seconds: float
    """Processor time that it takes without a mutant."""
    passes: Lines
    """The lines that it comes by."""


Baseline = list[Trial]
Task = Callable[[Callable[[str], None]], None]
"""What a process does; it is given a way to tell its parent something."""


class Bench:
    """Where mutants are tried: all scenarios and tests, and how to run them."""

    def __init__(self, mutated: Sequence[MutatedFile], scratch: Path) -> None:
        # These import what is mutated, which must be prepared by then.
        from swf_temporal import languages  # noqa: PLC0415 - after the mutants are prepared
        from swf_temporal.simulation import scenario  # noqa: PLC0415 - likewise
        from tests.simulation import test_scenarios  # noqa: PLC0415 - likewise

        self._mutated = mutated
        self._scratch = scratch
        self._run = scenario.run
        self._suspended = test_scenarios
        self._scenarios = {str(one).removeprefix(str(ROOT) + "/"): one for one in scenario.find_scenarios([CORPUS])}
        # A language is imported where its first definition is read, which every forked process would do by itself.
        for module in pkgutil.walk_packages(languages.__path__, f"{languages.__name__}."):
            importlib.import_module(module.name)

    def collect(self) -> None:
        """Import the unit tests, so that those that are forked need not."""
        quiet = io.StringIO()
        with contextlib.redirect_stdout(quiet):
            _run_tests(["--collect-only", *test_files()], None)

    def within(self, scratch: Path) -> "Bench":
        """Return the same bench with another folder for files of its own."""
        other = copy.copy(self)
        other._scratch = scratch
        return other

    def baseline(self, known: Baseline, part: int, parts: int) -> Baseline:
        """Run what is not *known* without mutants; return how long each trial takes, and what it comes by.

        It is done in *parts*, of which this is one. What fails without a mutant comes by nothing, and is told. Raises
        RuntimeError if a unit test fails.
        """
        names = {
            Kind.SCENARIO: list(self._scenarios),
            Kind.SUSPENDED: [name for name, one in self._scenarios.items() if self._suspended._can_be_suspended(one)],
        }
        kept = [one for one in known if one.kind is Kind.TEST or one.name in names[one.kind]]
        done = {(one.kind, one.name) for one in kept}
        files = {one.name.partition("::")[0] for one in kept if one.kind is Kind.TEST}
        new = [(kind, name) for kind, all_ in names.items() for name in all_ if (kind, name) not in done]
        with _Passed():  # so that what this imports is there before anything is forked
            measured = kept if part == 0 else []
        measured += self._measured_tests([file for file in test_files() if file not in files][part::parts])
        measured += [self._measured(kind, name) for kind, name in new[part::parts]]
        return measured

    def fate(self, mutant: Mutant, trials: Iterable[Trial]) -> tuple[Fate, str]:
        """Try *mutant* with *trials*, which are of one kind; return what became of it, and by which trial."""
        trials = list(trials)
        if not trials:
            return Fate.SURVIVED, ""
        if trials[0].kind is Kind.TEST:
            return self._tested(mutant, trials)

        def task(tell: Callable[[str], None]) -> None:
            choose(mutant, self._mutated, self._scratch)
            for trial in trials:
                tell(trial.name)
                _limit(trial.seconds)
                if not self._holds(trial.kind, trial.name):
                    os._exit(1)

        status, told = _forked(task)
        return _fate(status), told[-1] if told and status else ""

    def _tested(self, mutant: Mutant, trials: Sequence[Trial]) -> tuple[Fate, str]:
        def task(tell: Callable[[str], None]) -> None:
            choose(mutant, self._mutated, self._scratch)
            _limit(sum(trial.seconds for trial in trials) + 2)
            chosen = _Chosen([trial.name for trial in trials])
            status = _run_tests(chosen.files, chosen)
            tell(chosen.failed)
            os._exit(int(status in _FAILURES))

        status, told = _forked(task)
        return _fate(status), told[-1] if told and status else ""

    def _holds(self, kind: Kind, name: str) -> bool:
        scenario = self._scenarios[name]
        if kind is Kind.SCENARIO:
            return not self._run(scenario)[1]
        undisturbed, steps = self._suspended._suspended(scenario, 0)
        expected = self._suspended._essence(undisturbed)
        for step in range(1, steps + 1, 1 + steps // _MAX_SUSPENSIONS):
            again, _ = self._suspended._suspended(scenario, step)
            if self._suspended._essence(again) != expected:
                return False
            if not self._suspended._takes_time(scenario, undisturbed) and again.elapsed != undisturbed.elapsed:
                return False
        return True

    def _measured(self, kind: Kind, name: str) -> Trial:
        def task(tell: Callable[[str], None]) -> None:
            with _Passed() as passed:
                holds = self._holds(kind, name)
            if not holds:
                os._exit(1)
            tell(json.dumps([passed.seconds, passed.lines]))

        status, told = _forked(task)
        if status:
            print(f"left out, since it does not hold without a mutant: {name} ({kind})", flush=True)
            return Trial(kind, name, 0, {})
        seconds, passes = json.loads(told[0])
        return Trial(kind, name, seconds, passes)

    def _measured_tests(self, files: Sequence[str]) -> Baseline:
        def task(tell: Callable[[str], None]) -> None:
            os._exit(_run_tests(files, _Measured(tell)))

        if not files:
            return []

        status, told = _forked(task)
        if status:
            last = json.loads(told[-1])[0] if told else "nothing"
            raise RuntimeError(f"without any mutant the unit tests fail; the last one that ran was {last}")
        return [Trial(Kind.TEST, name, seconds, passes) for name, seconds, passes in map(json.loads, told)]


class _Measured:
    """A plugin of pytest that tells how long each test takes, and what it comes by."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        with _Passed() as passed:
            result = yield
        self._tell(json.dumps([item.nodeid, passed.seconds, passed.lines]))
        return result


class _Chosen:
    """A plugin of pytest that runs the tests of these names, in this order, and keeps which one failed."""

    def __init__(self, names: Sequence[str]) -> None:
        self._rank = {name: rank for rank, name in enumerate(names)}
        self.files = sorted({name.partition("::")[0] for name in names})
        self.failed = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((one for one in items if one.nodeid in self._rank), key=lambda one: self._rank[one.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = report.nodeid


def _run_tests(arguments: Sequence[str], plugin: object | None) -> int:
    """Run tests in this process. How quick they are must not matter to properties."""
    hypothesis.settings.register_profile(
        "mutation", deadline=None, database=None, derandomize=True, suppress_health_check=list(hypothesis.HealthCheck)
    )
    return int(pytest.main([*_PYTEST, *arguments], plugins=[plugin] if plugin else []))


def test_files() -> list[str]:
    """Return the files of unit tests that mutants are tried with."""
    found = (
        str(file.relative_to(ROOT)) for folder in UNIT_TESTS for file in sorted((ROOT / folder).rglob("test_*.py"))
    )
    return [file for file in found if file not in NOT_HERE]


class _Passed:
    """The lines of what is mutated that this process comes by meanwhile, and the processor time that it takes."""

    def __init__(self) -> None:
        inside = [f"{ROOT / package}/*" for package in PACKAGES]
        self._coverage = coverage.Coverage(data_file=None, config_file=False, include=inside)
        self._coverage.set_option("run:disable_warnings", ["no-data-collected", "already-imported"])
        self.lines: Lines = {}
        self.seconds = 0.0

    def __enter__(self) -> Self:
        self._coverage.start()
        self.seconds = -time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds += time.process_time()
        self._coverage.stop()
        data = self._coverage.get_data()
        for file in data.measured_files():
            self.lines[str(Path(file).relative_to(ROOT))] = sorted(data.lines(file) or ())


def _limit(seconds: float) -> None:
    """End this process if it takes much longer than *seconds* from now on."""
    signal.setitimer(signal.ITIMER_PROF, _MIN_SECONDS + _ALLOWANCE * seconds)
    signal.alarm(_CLOCK_SECONDS + int(_ALLOWANCE * seconds))


def _fate(status: int) -> Fate:
    if status == 0:
        return Fate.SURVIVED
    ended = os.WIFSIGNALED(status) and os.WTERMSIG(status) in {signal.SIGPROF, signal.SIGALRM}
    return Fate.TIMED_OUT if ended else Fate.KILLED


def _forked(task: Task) -> tuple[int, list[str]]:
    """Do *task* in a process of its own; return how it ended, and what it told, text by text."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        _do(task, reading, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        told = stream.read().decode().split("\0")[:-1]
    status = os.waitpid(process, 0)[1]
    with contextlib.suppress(ProcessLookupError):  # a mutant may keep a helper from ending with its parent
        os.killpg(process, signal.SIGKILL)
    return status, told


def in_processes(tasks: Sequence[Callable[[], None]]) -> None:
    """Do all *tasks* at the same time, each in a process of its own. Raises RuntimeError if one fails."""
    started = []
    for task in tasks:
        process = os.fork()
        if process == 0:
            try:
                task()
            except BaseException:  # noqa: BLE001 - nothing of the parent may go on here
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        started.append(process)
    if any(os.waitpid(process, 0)[1] for process in started):
        raise RuntimeError("a process that tried mutants failed")


def _do(task: Task, reading: int, writing: int) -> None:
    """Do *task* and end this process."""
    os.close(reading)
    with contextlib.suppress(OSError):
        os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))

    def tell(text: str) -> None:
        os.write(writing, text.encode() + b"\0")

    try:
        task(tell)
    except BaseException:  # noqa: BLE001 - whatever it is, the mutant caused it
        os._exit(1)
    os._exit(0)
