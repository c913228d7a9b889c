"""Do the helper processes come, stay and go as they should?"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from swf_temporal.base.errors import ExpressionLimitExceeded
from swf_temporal.expressions.guarding import guard as guarding
from swf_temporal.expressions.guarding import jq_process
from swf_temporal.expressions.guarding.guard import EngineAnswer, EvaluationLimits, Guard

ENDLESS = "[range(1e18)] | tojson"


@pytest.fixture
def guard() -> Iterator[Guard]:
    pool = Guard(EvaluationLimits(seconds=0.2, memory=256 << 20, output=1000, processes=2))
    yield pool
    pool.stop()


def open_files() -> int:
    """Return how many files and pipes this process has open, without the connections of what else is in it."""
    opened = 0
    for descriptor in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # it was that of the list, or has been closed meanwhile
            opened += not str(descriptor.readlink()).startswith(("socket:", "anon_inode:"))
    return opened


def children() -> set[str]:
    """Return the ids of this process's children, the dead that nobody waited for included."""
    return set(Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split())


def test_answers_with_outputs_and_messages(guard: Guard) -> None:
    assert guard.run(".[] | tojson", '[1.0,"a\\nb"]') == EngineAnswer(jq_process.OUTPUTS, '1.0\n"a\\nb"')
    assert guard.run("nope", None).status == jq_process.NOT_COMPILED
    assert guard.run(".a | tojson", "1") == EngineAnswer(jq_process.FAILED, 'Cannot index number with string ("a")')


def test_a_helper_is_used_again(guard: Guard) -> None:
    before = children()
    for _ in range(5):
        guard.run("1 | tojson", "null")
    assert len(children() - before) == 1


def test_a_large_request_and_answer_pass(guard: Guard) -> None:
    text = "x" * 3_000_000
    assert guard.run("length | tojson", f'"{text}"').text == "3000000"


def test_a_killed_helper_leaves_nothing(guard: Guard) -> None:
    guard.stop()
    files, before = open_files(), children()
    with pytest.raises(ExpressionLimitExceeded, match=r"longer than 0\.2 s"):
        guard.run(ENDLESS, "null")
    assert children() == before
    assert open_files() <= files  # what tests before left open may be closed meanwhile


def test_too_much_output_keeps_the_helper(guard: Guard) -> None:
    guard.start()
    before = children()
    with pytest.raises(ExpressionLimitExceeded, match="yielded more than"):
        guard.run("range(10000) | tojson", "null")
    assert guard.run("1 | tojson", "null").text == "1"
    assert children() == before


def test_a_helper_killed_while_idle_is_replaced(guard: Guard) -> None:
    before = children()
    guard.start()
    (helper,) = children() - before
    os.kill(int(helper), signal.SIGKILL)
    os.waitid(os.P_PID, int(helper), os.WEXITED | os.WNOWAIT)
    assert guard.run("1 | tojson", "null").text == "1"


def test_a_helper_ignores_what_asks_its_parent_to_end(guard: Guard) -> None:
    """Ctrl-C or a stopping service signals the whole group; a run that is finishing still has its helper."""
    before = children()
    guard.start()
    (helper,) = children() - before
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(int(helper), number)
    assert guard.run("1 | tojson", "null").text == "1"
    assert children() - before == {helper}


def test_threads_share_the_helpers(guard: Guard) -> None:
    """More threads than helpers take turns, each gets its own answers, and an endless one hurts no other."""
    wrong: list[object] = []

    def work(number: int) -> None:
        for turn in range(20):
            answer = guard.run(". + 1 | tojson", str(number * 1000 + turn))
            if answer.text != str(number * 1000 + turn + 1):
                wrong.append(answer)
        with contextlib.suppress(ExpressionLimitExceeded):
            wrong.append(guard.run(ENDLESS, "null"))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_stopping_ends_a_helper_at_work_when_it_has_answered() -> None:
    pool = Guard(EvaluationLimits(seconds=5, processes=1))
    pool.start()
    started = threading.Event()
    answers: list[EngineAnswer] = []

    def work() -> None:
        started.set()
        answers.append(pool.run("[range(300000)] | length | tojson", "null"))

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    pool.stop()
    thread.join()
    pool.stop()
    assert [answer.text for answer in answers] == ["300000"]


def test_a_turn_that_nobody_takes_holds_nobody_up() -> None:
    """A thread can be broken off at any place, also where it has a turn and does not give it back."""
    pool = Guard(EvaluationLimits(processes=1))
    pool._waiting.append("of a thread that was broken off")
    assert pool.run("1 | tojson", "null").text == "1"
    assert not pool._waiting
    pool.stop()


def test_a_thread_with_many_expressions_lets_others_have_its_helper() -> None:
    """The thread that waits for a helper is next, though the one that gave it back wants it again at once.

    The shortest wait counts: a busy machine may leave this thread without a processor before it waits at all.
    """
    many, pool = 3_000, Guard(EvaluationLimits(processes=1))
    done = 0

    def evaluate_many() -> None:
        nonlocal done
        for _ in range(many):
            pool.run(". | tojson", "1")
            done += 1

    thread = threading.Thread(target=evaluate_many)
    thread.start()
    try:
        meanwhile = list[int]()
        while len(meanwhile) < 5 and (before := done) < many:
            pool.run(". | tojson", "1")
            meanwhile.append(done - before)
        assert min(meanwhile) < many / 10
    finally:
        thread.join()
        pool.stop()


def test_a_pool_that_was_stopped_has_its_helpers_again() -> None:
    pool = Guard(EvaluationLimits(processes=1))
    for _ in range(2):
        pool.start()
        pool.stop()
    assert pool.run("1 | tojson", "null").text == "1"
    pool.stop()


class _Told(threading.Condition):
    """A condition that tells when somebody begins to wait for it."""

    def __init__(self) -> None:
        super().__init__()
        self.is_awaited = threading.Event()

    def wait(self, timeout: float | None = None) -> bool:
        self.is_awaited.set()
        return super().wait(timeout)


def test_there_are_no_more_helpers_than_there_may_be() -> None:
    pool = Guard(EvaluationLimits(processes=1))
    pool._changed = told = _Told()
    helper = pool._take()
    taken: list[object] = []
    thread = threading.Thread(target=lambda: taken.append(pool._take()))
    thread.start()
    while thread.is_alive() and not told.is_awaited.is_set():
        os.sched_yield()
    assert taken == []
    pool._give_back(helper)
    thread.join()
    assert taken == [helper]
    helper.end()


class _Counted(contextlib.AbstractContextManager[None]):
    def __init__(self) -> None:
        self.taken = 0

    def __enter__(self) -> None:
        self.taken += 1

    def __exit__(self, *_: object) -> None:
        pass


def test_evaluations_of_large_data_wait_for_one_another(guard: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes memory here and in its helper, many times as much as its data; small ones wait for nothing."""
    monkeypatch.setattr(guarding, "_one_by_one", one_by_one := _Counted())
    monkeypatch.setattr(guarding, "_LARGE", 10)
    for data in (None, "null", '"12345678"'):
        guard.run("length | tojson", data)
    assert one_by_one.taken == 0
    assert guard.run("length | tojson", '"123456789"').text == "9"
    assert one_by_one.taken == 1


def test_who_waits_for_slow_evaluations_has_a_helper_of_their_own() -> None:
    """Those at work may take long. So there are some more than work at once without being slowed down."""
    pool = Guard(EvaluationLimits(processes=1))
    helpers = [pool._take() for _ in range(4)]
    assert len(set(helpers)) == 4
    for helper in helpers:
        pool._give_back(helper)
    pool.stop()
    assert pool._running == 0


def test_a_fresh_helper_takes_the_place_of_those_that_are_idle() -> None:
    """One that held too much memory is not needed any more, and neither are others: there are as many as before."""
    pool = Guard(EvaluationLimits(processes=2))
    idle = [pool._take(), pool._take()]
    for helper in idle:
        pool._give_back(helper)
    fresh = pool._take(is_fresh=True)
    assert fresh not in idle
    assert not any(helper.is_alive() for helper in idle)
    assert pool._running == 1
    pool._give_back(fresh)
    pool.stop()


def test_other_limits_hold_from_the_next_evaluation_on() -> None:
    guarding.stop()
    before = children()
    guarding.start()
    (helper,) = children() - before
    guarding.configure(EvaluationLimits(output=3))
    assert children() == before
    for engine in (guarding.JQ, guarding.JAVASCRIPT, guarding.SCHEMAS, guarding.JSONPATH):
        assert (guarding.guard(engine).engine, guarding.guard(engine).limits.output) == (engine, 3)
    guarding.configure(EvaluationLimits())
    assert guarding.guard().run('"1234" | tojson', "null").text == '"1234"'
    assert helper not in children()
    guarding.stop()
    assert children() == before


def test_helpers_that_are_gone_do_not_count() -> None:
    """Whoever ended one, outside or by a limit, the pool may start another in its place, and no more than that."""
    pool = Guard(EvaluationLimits(seconds=0.2, processes=1))
    for _ in range(2):
        before = children()
        pool.start()
        (helper,) = children() - before
        os.kill(int(helper), signal.SIGKILL)
        os.waitid(os.P_PID, int(helper), os.WEXITED | os.WNOWAIT)
        assert pool.run("1 | tojson", "null").text == "1"
        with pytest.raises(ExpressionLimitExceeded):
            pool.run(ENDLESS, "null")
    pool.stop()
    assert pool._running == 0


def test_a_helper_that_comes_back_to_a_stopped_pool_is_ended() -> None:
    pool = Guard(EvaluationLimits(processes=1))
    for _ in range(2):
        helper = pool._take()
        pool.stop()
        pool._give_back(helper)
        assert not helper.is_alive()


def test_helpers_die_with_their_parent() -> None:
    script = (
        "import os, signal, pathlib\n" "from swf_temporal.expressions.guarding import guard\n" "guard.start()\n"
        "print(pathlib.Path(f'/proc/self/task/{os.getpid()}/children').read_text(), flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )  # fmt: skip
    root = str(Path(guarding.__file__).parents[3])
    parent = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, check=False, cwd=root)
    helper = int(parent.stdout)
    try:
        waiting = os.pidfd_open(helper)
    except ProcessLookupError:
        return
    try:
        poll = select.poll()
        poll.register(waiting, select.POLLIN)
        assert poll.poll(10_000)
    finally:
        os.close(waiting)


def test_a_helper_that_cannot_start_says_so() -> None:
    pool = Guard(EvaluationLimits(seconds=0.2, memory=1 << 70, processes=1))
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"the process that runs jq did not start \(exit code -?\d+\)"):
            pool.run(".", "null")
        assert pool._running == 0


def test_this_process_never_loads_jq() -> None:
    script = (
        "import sys\n"
        "from swf_temporal.expressions.evaluation import Expressions\n"
        "print(Expressions().expression('${ [.[] | tostring] }')([1], {}), 'jq' in sys.modules)\n"
    )
    root = str(Path(guarding.__file__).parents[3])
    command = [sys.executable, "-W", "error", "-c", script]
    assert subprocess.run(command, check=True, cwd=root, capture_output=True).stdout == b"['1'] False\n"


def test_a_helper_is_used_again_beside_a_large_process() -> None:
    """What the process holds that started it is not what it holds itself, though Linux counts it to its maximum."""
    script = """
import os, threading
from pathlib import Path
from swf_temporal.expressions.guarding.guard import Guard, EvaluationLimits
large = b"x" * (400 << 20)
pool = Guard(EvaluationLimits(processes=1))
def children(): return Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split()
pool.run("1 | tojson", "null")
first = children()
pool.run("1 | tojson", "null")
print(first == children() != [])
pool.stop()
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, check=True, cwd=Path(__file__).parents[2], capture_output=True, text=True)
    assert done.stdout == "True\n"


def test_a_helper_that_holds_much_is_replaced() -> None:
    """It gives the answer for which it took the memory, and that is its last; jq keeps a text that it has compiled."""
    pool = Guard(EvaluationLimits(processes=1, seconds=10))
    try:
        before = children()
        assert pool.run('("x" * 300000000) | length | tojson', "null").text == "300000000"
        assert children() == before
        assert pool._running == 0
        assert pool.run("1 | tojson", "1").text == "1"
        assert len(children() - before) == 1
    finally:
        pool.stop()
