"""What one helper process is asked, what it answers, and how it ends."""

import os
import resource
import select
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from swf_temporal.base.accounting import current_account
from swf_temporal.base.errors import ExpressionLimitExceeded
from swf_temporal.expressions.guarding import helper as helpers
from swf_temporal.expressions.guarding import jq_process
from swf_temporal.expressions.guarding.guard import JQ, Engine, EngineAnswer, Guard
from swf_temporal.expressions.guarding.helper import EvaluationLimits, Helper

ENDLESS = "last(range(1e18)) | tojson"
LONG = "last(range(1000000)) | tojson"
"""It takes longer than a thread waits before it looks whether it is to wait on."""
LIMITS = EvaluationLimits(seconds=30, memory=256 << 20, output=10, processes=1)


@pytest.fixture
def helper() -> Iterator[Helper]:
    started = Helper(JQ, LIMITS, 0)
    yield started
    started.end()


def test_a_helper_ends_with_its_input(helper: Helper) -> None:
    assert helper._process.stdin is not None
    helper._process.stdin.close()
    assert helper._process.wait() == 0


def test_a_helper_reaches_nothing(helper: Helper) -> None:
    """It has no environment and no folder of its parent, no file but its pipes, and leaves none when it crashes."""
    process = Path(f"/proc/{helper._process.pid}")
    assert sorted((process / "environ").read_bytes().split(b"\0")) == [b"", b"LC_ALL=C.UTF-8", b"TZ=UTC"]
    assert (process / "cwd").readlink() == Path("/")
    assert (process / "fd" / "2").readlink() == Path("/dev/null")
    limits = [resource.RLIMIT_AS, resource.RLIMIT_CORE, resource.RLIMIT_NOFILE]
    set_ = [resource.prlimit(helper._process.pid, limit) for limit in limits]
    assert set_ == [(LIMITS.memory, LIMITS.memory), (0, 0), (0, 0)]


def test_a_helper_ends_in_time_whatever_its_parent_ignores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helpers, "_CLOCK_ALLOWANCE", 1000)  # on a busy machine the clock would end it first
    usual = signal.signal(signal.SIGPROF, signal.SIG_IGN)
    try:
        started = Helper(JQ, EvaluationLimits(seconds=0.2), 0)
    finally:
        signal.signal(signal.SIGPROF, usual)
    try:
        with pytest.raises(ExpressionLimitExceeded, match=r"longer than 0\.2 s"):
            started.ask(ENDLESS, "null")
        assert started._process.returncode == -signal.SIGPROF
    finally:
        started.end()


def test_a_helper_answers_as_much_as_it_may(helper: Helper) -> None:
    assert helper.ask('"123", "4567" | .[1:] | tojson', "null") == EngineAnswer(jq_process.OUTPUTS, '"23"\n"567"')
    assert helper.ask('"123", "45678" | .[1:] | tojson', "null") == EngineAnswer(jq_process.OUTPUTS, '"23"\n"5678"')
    assert helper.ask('"123", "456789" | .[1:] | tojson', "null") == EngineAnswer(jq_process.TOO_LARGE, "")


def test_a_text_is_answered_in_its_characters(helper: Helper) -> None:
    assert helper.ask('. + "é" | tojson', '"日本語ß€"') == EngineAnswer(jq_process.OUTPUTS, '"日本語ß€é"')


def test_an_evaluation_may_take_its_time(helper: Helper) -> None:
    """The thread that waits for it looks now and then whether it is to wait on, and does."""
    assert helper.ask(LONG, "null").text == "999999"


def test_an_evaluation_that_takes_long_lets_others_go_first(helper: Helper) -> None:
    told: list[str] = []

    def ask() -> None:
        try:
            helper.ask(ENDLESS, "null")
        except ExpressionLimitExceeded as error:
            told.append(str(error))

    ours = os.getpriority(os.PRIO_PROCESS, 0)
    thread = threading.Thread(target=ask)
    thread.start()
    while thread.is_alive() and os.getpriority(os.PRIO_PROCESS, helper._process.pid) <= ours:
        time.sleep(0.01)
    is_behind = thread.is_alive()
    helper._process.send_signal(signal.SIGKILL)
    thread.join()
    assert is_behind
    assert told == ["an expression ended the process that evaluated it (exit code -9)"]


def test_what_is_quick_lets_no_others_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = os.getpriority(os.PRIO_PROCESS, 0)
    monkeypatch.setattr("swf_temporal.expressions.guarding.helper._SLOW", 0)
    helper = Helper(JQ, LIMITS, 0)
    try:
        assert os.getpriority(os.PRIO_PROCESS, helper._process.pid) == ours
        monkeypatch.setattr("swf_temporal.expressions.guarding.helper._SLOW", 30)
        helper.ask(LONG, "null")
        assert os.getpriority(os.PRIO_PROCESS, helper._process.pid) == ours
    finally:
        helper.end()


def test_an_evaluation_that_does_not_come_on_is_given_up(helper: Helper, monkeypatch: pytest.MonkeyPatch) -> None:
    """Time on the clock is limited, too, to a multiple of the processor time: it may be stopped, or wait for memory."""
    monkeypatch.setattr("swf_temporal.expressions.guarding.helper._CLOCK_ALLOWANCE", 1e9)
    assert helper.ask(LONG, "null").text == "999999"
    helper._process.send_signal(signal.SIGSTOP)
    monkeypatch.setattr("swf_temporal.expressions.guarding.helper._CLOCK_ALLOWANCE", 0)
    with pytest.raises(ExpressionLimitExceeded, match="an expression ran longer than 30 s"):
        helper.ask(LONG, "null")


@pytest.mark.parametrize(("ended_by", "told"), [
    (signal.SIGPROF, "an expression ran longer than 30 s"),
    (signal.SIGSEGV, "an expression built a value that is nested too deeply"),
    (signal.SIGABRT, "an expression took more than 256 MiB of memory"),
    (signal.SIGKILL, "an expression ended the process that evaluated it (exit code -9)"),
])  # fmt: skip
def test_the_signal_that_ended_a_helper_says_what_was_wrong(
    helper: Helper, ended_by: signal.Signals, told: str
) -> None:
    """Its timer sends the first; the next are what becomes of a stack, or of memory, that is not enough."""
    helper._process.send_signal(ended_by)
    helper._process.wait()
    with pytest.raises(ExpressionLimitExceeded) as raised:
        helper.ask("tojson", "null")
    assert raised.value.message == told


class _Poll:
    """What a thread polls until something comes; it keeps for how many milliseconds it is asked to wait."""

    def __init__(self, after: int) -> None:
        self.after = after
        self.waits: list[float] = []

    def poll(self, milliseconds: float) -> bool:
        self.waits.append(milliseconds)
        return len(self.waits) > self.after


def test_a_thread_that_waits_looks_four_times_a_second_whether_it_is_to_wait_on(helper: Helper) -> None:
    """More often towards the end of the time that there is, and at once where none is left."""
    poll = _Poll(2)
    helper._wait(cast("select.poll", poll), time.monotonic() + 1e9)
    assert poll.waits == [250, 250, 250]
    poll = _Poll(0)
    helper._wait(cast("select.poll", poll), time.monotonic() - 1)
    assert poll.waits == [0]


def test_a_helper_that_let_others_go_first_is_as_quick_as_it_was_or_is_replaced(helper: Helper) -> None:
    ours = os.getpriority(os.PRIO_PROCESS, 0)
    assert not helper.is_last()
    helper.ask(LONG, "null")
    assert helper.is_last() or os.getpriority(os.PRIO_PROCESS, helper._process.pid) == ours


def test_an_evaluation_that_broke_a_limit_counts_as_all_the_time_that_it_had() -> None:
    """How long it really took is not known; it is added to what this thread had others evaluate before."""
    pool = Guard(EvaluationLimits(seconds=0.2, processes=1))
    spent = current_account()
    for _ in range(2):
        pool.run("1 | tojson", "null")
        before = spent.seconds
        with pytest.raises(ExpressionLimitExceeded, match=r"longer than 0\.2 s"):
            pool.run(ENDLESS, "null")
        assert spent.seconds - before == pytest.approx(0.2)
    pool.stop()


def test_one_that_did_not_get_to_run_counts_as_much() -> None:
    """As on a machine that is busy with others: it is ended by the clock, and has used no processor time."""
    helper = Helper(JQ, EvaluationLimits(seconds=0.1), 0)
    os.kill(helper._process.pid, signal.SIGSTOP)
    spent = current_account()
    before = spent.seconds
    with pytest.raises(ExpressionLimitExceeded, match="longer than"):
        helper.ask("1 | tojson", "null")
    assert spent.seconds - before == pytest.approx(0.1)
    helper.end()


def test_the_time_of_answers_is_counted(helper: Helper) -> None:
    account = current_account()
    begun = account.seconds
    helper.ask(LONG, "null")
    between = account.seconds
    helper.ask("[1, 2] | tojson", "null")
    assert 0 <= account.seconds - between < between - begun


def test_an_engine_that_is_not_installed() -> None:
    pool = Guard(engine=Engine("Missing", "no_such_engine", "no-such-package"))
    for _ in range(2):
        with pytest.raises(ModuleNotFoundError, match="the package 'no-such-package' is not installed") as told:
            pool.run(".", "null")
        assert told.value.name == "no_such_engine"
        assert pool._running == 0
