"""A run whose data take more memory than they may fails, at the step at which they do."""

from typing import Any

import pytest

from swf_temporal import simulate
from swf_temporal.base.accounting import MIB, Account
from swf_temporal.base.errors import PayloadTooLarge
from swf_temporal.runtime import run
from swf_temporal.runtime.run import MAX_DATA_BYTES, STEP, DataLimit

FUNCTIONS: Any = [{"name": "same", "type": "expression", "operation": "$args.v"}]


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "STEP", 20_000)
    monkeypatch.setattr(run, "MAX_DATA_BYTES", 200_000)
    monkeypatch.setattr(run, "_OF_PAYLOAD", 0)


def _states(count: int, output: str) -> Any:
    """Return a workflow of states whose data are what *output* says, with the number of each."""
    states: list[Any] = [
        {
            "name": f"Make {n}",
            "type": "inject",
            "data": {},
            "stateDataFilter": {"output": output.replace("NUMBER", str(n))},
            "transition": f"Make {n + 1}",
        }
        for n in range(count)
    ]
    states[-1] = {key: value for key, value in states[-1].items() if key != "transition"} | {"end": True}
    return {"id": "a", "version": "1", "specVersion": "0.8", "states": states}


@pytest.mark.usefixtures("_small")
def test_a_run_that_holds_too_much_fails() -> None:
    ended = simulate(_states(12, '${ .sNUMBER = ("x" * 30000) }'), {})
    assert ended.error is not None
    assert (ended.error.name, ended.error.state) == ("PayloadTooLarge", "Make 7")
    assert "take more memory than the 0 MiB that a run may hold" in ended.error.message


@pytest.mark.usefixtures("_small")
def test_what_is_dropped_does_not_count() -> None:
    ended = simulate(_states(12, '${ ("x" * 30000) as $made | {size: ($made | length)} }'), {})
    assert ended.output == {"size": 30_000}


@pytest.mark.usefixtures("_small")
def test_results_count() -> None:
    actions = [{"functionRef": {"refName": "get"}, "actionDataFilter": {"toStateData": f".r{n}"}} for n in range(12)]
    definition = {
        "id": "a", "version": "1", "specVersion": "0.8",
        "functions": [{"name": "get", "type": "custom", "operation": "get"}],
        "states": [{"name": "Get", "type": "operation", "actions": actions, "end": True}],
    }  # fmt: skip
    numbers = iter(range(12))
    ended = simulate(definition, {}, functions={"get": lambda _: f"{next(numbers) % 10}" * 30_000})
    assert ended.error is not None
    assert (ended.error.name, ended.error.state) == ("PayloadTooLarge", "Get")


def test_data_are_measured_where_they_have_grown() -> None:
    account = Account()
    limit = DataLimit(account, carries=0)
    measured: list[int] = []

    def grown(by: int, to: int) -> bool:
        account.made += by
        before = len(measured)

        def data() -> list[object]:
            measured.append(to)
            return ["x" * to]

        limit.check(data)
        return len(measured) > before

    assert not grown(MIB, 0)
    assert grown(STEP, 40 * MIB)
    assert not grown(STEP, 0)  # half of what it had is more
    assert grown(5 * MIB, 1)
    limit.receive("x" * STEP)
    assert grown(0, 1)
    with pytest.raises(PayloadTooLarge, match="128 MiB"):
        grown(STEP, MAX_DATA_BYTES)


def test_large_payloads_need_more() -> None:
    assert DataLimit(Account(), carries=2 * MIB).most == MAX_DATA_BYTES
    assert DataLimit(Account(), carries=256 * MIB).most == 1024 * MIB
