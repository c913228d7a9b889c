"""The order example runs as it stands."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from swf_temporal import simulate
from swf_temporal.base.errors import CallFailed
from swf_temporal.languages.loading import check_file
from swf_temporal.sdk.definitions import catalogue_of
from swf_temporal.simulation.scenario import Scenario, find_scenarios, run
from tests.docs.pages import MADE, blocks_of
from tests.docs.reader import comparable

FOLDER = Path(__file__).parents[2] / "examples" / "orders"
ORDER = json.loads((FOLDER / "order.json").read_text())
CONFIRMED = json.loads((FOLDER / "confirmed.json").read_text())


@pytest.mark.temporal
def test_the_demo_fulfils_an_order() -> None:
    """`make demo` runs an order against a real service on an embedded server, and prints what the README shows."""
    ran = subprocess.run(
        [sys.executable, str(FOLDER / "demo.py")],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=100,
        check=False,
        env={"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")},
    )

    [shown] = [block.commands[0].printed for block in blocks_of("README.md") if block.heading == MADE["README.md"]]
    installing, _, shown = shown.partition("\n")
    assert ran.returncode == 0, ran.stdout
    assert installing == "installing (once) …"
    # What is done at once may come in any order.
    assert sorted(comparable(ran.stdout).splitlines()) == sorted(comparable(shown).splitlines())


def test_the_definition_has_no_problems() -> None:
    assert check_file(FOLDER / "orders.sw.yaml").problems == ()


def test_an_order_that_cannot_be_fulfilled_is_rejected() -> None:
    """Where something is missing the customer is told, and nothing is charged."""
    run = simulate(
        FOLDER / "orders.sw.yaml", ORDER, functions={"checkStock": {"inStock": False}, "notifyCustomer": None}
    )

    assert run.output == {"orderId": "A-1001", "rejected": True}
    assert [name for name, _ in run.calls] == ["checkStock", "checkStock", "notifyCustomer"]


def test_a_declined_card_is_no_failure() -> None:
    def charge(_: object) -> None:
        raise CallFailed(code=402, status=402, message="declined", retryable=False)

    run = simulate(
        FOLDER / "orders.sw.yaml",
        ORDER,
        events=[CONFIRMED],
        functions={
            "checkStock": {"inStock": True},
            "reserveItem": {"id": 1},
            "chargeCard": charge,
            "notifyCustomer": None,
        },
    )

    assert run.output == {"orderId": "A-1001", "rejected": True}


SCENARIOS = find_scenarios([FOLDER])


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.claim)
def test_its_scenarios_hold(scenario: Scenario) -> None:
    assert run(scenario)[1] == []


def test_scenarios_are_no_definitions() -> None:
    assert [workflow.id for workflow in catalogue_of([FOLDER])] == ["orders", "shop.orders"]
