"""Input that does not fit a workflow's schema is refused before anything is started."""

import pytest

from tests.cli.conftest import Swf
from tests.definitions import definition

ORDERS = definition("""\
id: orders
dataInputSchema: order.json
states: [{name: Pass, type: inject, data: {}, end: true}]
""")
SCHEMA = '{"type": "object", "required": ["id"], "properties": {"n": {"type": "integer"}}}'


@pytest.mark.parametrize("command", [("run",), ("run", "--simulate"), ("start", "--address", "127.0.0.1:1")])
def test_refuses_what_does_not_fit(swf: Swf, command: tuple[str, ...]) -> None:
    swf.write("orders.yaml", ORDERS)
    swf.write("order.json", SCHEMA)
    ended = swf(*command, "orders.yaml", "--input", '{"n": "x"}')
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        "error: the input does not fit the workflow's schema: "
        "$: 'id' is a required property; $.n: 'x' is not of type 'integer'\n"
        "  dataInputSchema of 'orders' describes the required input\n"
    )


def test_accepts_what_fits(swf: Swf) -> None:
    swf.write("orders.yaml", ORDERS)
    swf.write("order.json", SCHEMA)
    ended = swf("run", "--simulate", "orders.yaml", "--input", '{"id": 1}')
    assert (ended.code, ended.out) == (0, '{"id": 1}\n')
