"""The settings of the gateway: who may ask, what is wrong with them, and a gateway that would be open to all."""

from datetime import timedelta
from pathlib import Path

import pytest

from swf_temporal.base.errors import UsageError
from swf_temporal.settings.forms import Rate
from swf_temporal.settings.http import GatewaySettings, Operation, Tenant, read_gateway_settings
from swf_temporal.settings.values import Address

LOOPBACK = Address("127.0.0.1", 0)
EVERYWHERE = Address("0.0.0.0", 8080)  # noqa: S104 - nothing listens there
KEY = "0123456789abcdef-key"


def test_a_gateway_that_asks_nobody_is_refused(tmp_path: Path) -> None:
    assert read_gateway_settings({}, LOOPBACK).is_open
    with pytest.raises(UsageError, match="would start workflows for everyone"):
        read_gateway_settings({}, EVERYWHERE)
    path = tmp_path / "swf.yaml"
    path.write_text("gateway: {unauthenticated: true}")
    assert read_gateway_settings({}, EVERYWHERE, file=path).is_open


def test_the_task_queue_is_that_of_workers(tmp_path: Path) -> None:
    path = tmp_path / "swf.yaml"
    path.write_text("worker: {taskQueue: orders}")
    assert read_gateway_settings({}, LOOPBACK).task_queue == "swf"
    assert read_gateway_settings({}, LOOPBACK, file=path).task_queue == "orders"
    assert read_gateway_settings({"SWF_TASK_QUEUE": "mine"}, LOOPBACK, file=path).task_queue == "mine"
    assert read_gateway_settings({"SWF_TASK_QUEUE": "mine"}, LOOPBACK, task_queue="other").task_queue == "other"


def test_only_an_asterisk_stands_for_other_characters() -> None:
    """In the ids and sources of a tenant: question marks and brackets are characters of URLs."""
    tenant = Tenant(workflows=("a[1]*",), sources=("https://shop/orders?from=*", "urn:[ab]"))
    ids, sources = (
        ("a[1]", "a[1]-b", "a1"),
        ("https://shop/orders?from=x", "urn:[ab]", "https://shop/orders/from=x", "urn:a"),
    )
    assert [tenant.has_workflow(one) for one in ids] == [True, True, False]
    assert [tenant.may_send_from(one) for one in sources] == [True, True, False, False]


def test_settings_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "swf.yaml"
    (tmp_path / "key").write_text(f"{KEY}\n")
    path.write_text(
        "gateway:\n" "  tenants:\n" "    shop:\n"
        "      {keys: [env:SHOP, 'file:key'], workflows: [orders], sources: [shop/*],\n"
        "       operations: [events], rate: 5/s}\n"
        "    billing: {claims: {department: billing}, workflows: ['*'], namespace: billing, taskQueue: bills}\n"
        "  jwks: https://id/jwks\n" "  audience: gateway\n" "  origins: [https://A.example.com/]\n" "  taskQueue: all\n"
        "  rate: 50/s\n" "  maxBytes: 64KiB\n" "  maxBatchBytes: 1MiB\n" "  maxBatch: 10\n" "  maxWait: PT5S\n"
        "  sonataflowApi: true\n" "  keptHeaders: [X-Team, X-Shop]\n"
    )  # fmt: skip
    found = read_gateway_settings({"SHOP": f"{KEY}-of-env"}, EVERYWHERE, ["https://b.example.com"], file=path)
    assert found == GatewaySettings(
        address=EVERYWHERE,
        tenants={"shop": Tenant(workflows=("orders",), sources=("shop/*",), operations=frozenset([Operation.EVENTS]),
                                keys=(f"{KEY}-of-env", KEY), rate=Rate(5)),
                 "billing": Tenant(workflows=("*",), claims={"department": "billing"}, namespace="billing",
                                   task_queue="bills")},
        jwks="https://id/jwks", audience="gateway", origins=("https://a.example.com", "https://b.example.com"),
        task_queue="all", rate=Rate(50), max_bytes=64 * 1024, max_batch_bytes=1024 * 1024, max_batch=10,
        max_wait=timedelta(seconds=5), sonataflow_api=True, kept_headers=("X-Team", "X-Shop"),
    )  # fmt: skip
    assert [(name, tenant.name) for name, tenant in found.tenants.items()] == [("shop", "shop"), ("billing", "billing")]
    assert not any(KEY in text for text in (repr(found), str(found)))


@pytest.mark.parametrize(("text", "message"), [
    ("{tenants: {a: {workflows: [x]}}}", "gateway › tenants › a: it has neither keys nor claims"),
    ("{tenants: {a: {keys: [env:K]}}}", "gateway › tenants › a › workflows: it is missing"),
    ("{tenants: {a: {keys: [abc], workflows: [x]}}}", "tenants › a › keys › 0: it must be env:VARIABLE or file:PATH"),
    (
        "{tenants: {a: {keys: [env:NO], workflows: [x]}}}",
        "gateway › tenants › a › keys › 0: the variable NO is not set",
    ),
    (
        "{tenants: {a: {keys: ['env:SHORT'], workflows: [x]}}}",
        "gateway › tenants › a › keys › 0: the value of env:SHORT is not a token",
    ),
    (
        "{tenants: {a: {keys: [env:K], workflows: [x], operations: [fly]}}}",
        "tenants › a › operations › 0: it must be one of events, start, read, tasks, change, end, rerun",
    ),
    (
        "{tenants: {a: {keys: [env:K], workflows: [x]}, b: {keys: [env:K], workflows: [x]}}}",
        "two tenants have the same key",
    ),
    ("{tenants: {a: {claims: {d: x}, workflows: [x]}}}", "a › claims: they need JWTs that are verified"),
    ("{tenants: {a: {keys: [env:K], workflows: [x]}}, jwks: https://id, issuer: i}", "no tenant has claims"),
    ("{jwks: https://id/jwks}", "gateway › jwks: it needs an issuer or an audience"),
    ("{rate: often}", "gateway › rate: it must be a number of calls in a time"),
    ("{tenants: {a: {keys: [env:K], workflows: [x], name: b}}}", "tenants › a › name: there is no such option"),
    ("{keptHeaders: [X-Team, Cookie]}", "gateway › keptHeaders: Cookie is a secret"),
    ("{keptHeaders: [x-api-key]}", "gateway › keptHeaders: x-api-key is a secret"),
    ("{keptHeaders: [X-Forwarded-For]}", "gateway › keptHeaders: X-Forwarded-For is about one request"),
    ("{keptHeaders: ['*']}", "gateway › keptHeaders: '*' cannot be the name of a header"),
    ("{keptHeaders: [X Team]}", "gateway › keptHeaders: 'X Team' cannot be the name of a header"),
    ("{tenant: {}}", "gateway › tenant: there is no such option; did you mean 'tenants'?"),
])  # fmt: skip
def test_mistakes_are_told_by_their_place(tmp_path: Path, text: str, message: str) -> None:
    """By the place in the file."""
    path = tmp_path / "swf.yaml"
    path.write_text(f"gateway: {text}")
    with pytest.raises(UsageError) as refused:
        read_gateway_settings({"K": KEY, "SHORT": "abc"}, LOOPBACK, file=path)
    assert message in str(refused.value)
