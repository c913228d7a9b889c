"""Settings of what listens, of events and of payloads."""

from datetime import timedelta
from pathlib import Path

import pytest

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.errors import UsageError
from swf_temporal.settings.calls import read_settings
from swf_temporal.settings.events import ROUTER, ConsumerSettings, EventSettings, SinkSettings
from swf_temporal.settings.forms import Rate
from swf_temporal.settings.http import GatewaySettings, Operation, Tenant, read_gateway_settings
from swf_temporal.settings.payloads import PLAIN, EncryptionSettings, PayloadSettings, StorageSettings
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


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "swf.yaml"
    path.write_text(text)
    return path


def test_without_a_file_there_is_nothing() -> None:
    settings = EventSettings.read({})
    assert (settings.consumers, settings.sinks, settings.lifecycle) == ((), (), frozenset())


def test_consumers_and_sinks_are_read(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("abc\n")
    path = written(
        tmp_path,
        """
        events:
          consumers:
          - {name: a, from: 'amqp://broker', queue: q, prefetch: 5, ordered: false, maxBytes: 2KiB, deadLetter: d,
             credentials: {username: ada, password: 'env:PASSWORD'}}
          sinks:
          - {name: r, to: router, types: [a.*, b]}
          - {name: h, to: 'https://host/path', mode: binary, timeout: PT5S, maxAttempts: 3, headers: {X: 'file:token'}}
        """,
    )
    settings = EventSettings.read({"PASSWORD": "lovelace", "SWF_SINK": "http://other"}, file=path)
    assert settings.consumers == (
        ConsumerSettings(
            name="a", url="amqp://broker", queue="q", prefetch=5, ordered=False, max_bytes=2048, dead_letter="d",
            credentials={"username": "ada", "password": "lovelace"},
        ),
    )  # fmt: skip
    assert settings.sinks == (
        SinkSettings(name="r", url=ROUTER, types=("a.*", "b")),
        SinkSettings(
            name="h", url="https://host/path", headers={"X": "abc"}, mode="binary", timeout=timedelta(seconds=5),
            max_attempts=3,
        ),
        SinkSettings(name="SWF_SINK", url="http://other"),
    )  # fmt: skip
    assert "lovelace" not in repr(settings)
    assert "env:PASSWORD" in EventSettings.read({}, file=path, with_secrets=False).consumers[0].secrets


@pytest.mark.parametrize(("section", "said"), [
    ("consumers: [{name: a, from: 'ftp://x'}]", "it must be a URL with one of the schemes"),
    ("consumers: [{name: a, from: 'amqp://x'}]", "the queue is missing"),
    ("consumers: [{name: a, from: 'amqp://x', topic: t}]", "a › topic: over amqp there is a queue"),
    ("consumers: [{name: a, from: 'kafka://x', topic: t, exchange: e}]", "are options of AMQP only"),
    ("consumers: [{name: a, from: 'https://x'}]", "events come over HTTP to swf gateway"),
    ("consumers: [{name: a, from: 'amqp://x', queue: q, stream: s}]", "only NATS has streams"),
    ("consumers: [{name: a, from: 'ws://x', deadLetter: s}]", "no place for dead letters"),
    ("consumers: [{name: a, from: 'amqp://x', queue: q, credentials: {password: 'env:NONE'}}]",
     "a › credentials › password: the variable NONE is not set"),
    ("consumers: [{name: a, from: 'amqp://x', queue: q, credentials: {password: 'file:none'}}]", "cannot be read"),
    ("consumers: [{name: a, from: 'amqp://x', queue: q}, {name: a, from: 'amqp://x', queue: q}]", "more than once"),
    ("consumers: [{name: a, from: 'mqtt://x', topic: t, ordered: false}]", "in their order"),
    ("sinks: [{name: a, to: 'ws://x', mode: binary}]", "no binary mode"),
    ("sinks: [{name: a, too: 'ws://x'}]", "did you mean 'to'"),
    ("sinks: [{name: a, to: 'https://x', timeout: PT2M}]", "timeout: it must be at most"),
])  # fmt: skip
def test_mistakes_are_told(tmp_path: Path, section: str, said: str) -> None:
    path = written(tmp_path, f"events:\n  {section}\n")
    with pytest.raises(UsageError, match=said):
        EventSettings.read({}, file=path)


def test_a_mistake_in_the_variable_names_it() -> None:
    with pytest.raises(UsageError, match="SWF_SINK is 'ftp://other'\n  it must be a URL with one of the schemes"):
        EventSettings.read({"SWF_SINK": "ftp://other"})


def test_a_sink_takes_events_by_type_and_source() -> None:
    sink = SinkSettings(name="a", url=ROUTER, types=("com.*",), sources=("shop/*", "bank", "https://bank?b=1"))
    takes = [sink.takes(CloudEvent("1", source, type_)) for source, type_ in (
        ("bank", "com.a"), ("shop/x", "com.a"), ("shop", "com.a"), ("bank", "org.a"),
        ("https://bank?b=1", "com.a"), ("https://bank/b=1", "com.a"),
    )]  # fmt: skip
    assert takes == [True, True, False, False, True, False]


FILE = """\
calls: {timeout: 5}
storage:
  url: s3://bucket/prefix/
  threshold: 64KiB
  maxBytes: 64MiB
  cacheBytes: 16 MB
  options: {anon: true}
encryption:
  key: 2030-05
  keys:
    2030-05: file:secrets/key
    2030-01: env:OLD_KEY
    kms: function:shop.keys:key
  encrypt: false
  context: orders
compression: true
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "swf.yaml"
    path.write_text(FILE)
    return path


def test_without_a_word_payloads_are_plain() -> None:
    assert PayloadSettings.read({}) == PLAIN


def test_a_file_says_everything(file: Path) -> None:
    keys = {"2030-05": f"file:{file.parent}/secrets/key", "2030-01": "env:OLD_KEY", "kms": "function:shop.keys:key"}
    wanted = PayloadSettings(
        storage=StorageSettings(
            url="s3://bucket/prefix", threshold=65_536, max_bytes=64 * 1024**2, cache_bytes=16_000_000,
            options={"anon": True},
        ),
        encryption=EncryptionSettings(keys=keys, key="2030-05", encrypt=False, context="orders"),
        compression=True,
    )  # fmt: skip
    assert PayloadSettings.read({}, file=file) == wanted
    assert PayloadSettings.read({"SWF_CONFIG": str(file)}) == wanted
    assert read_settings({}, file=file).calls.timeout is not None


def test_a_variable_wins_over_the_file(file: Path) -> None:
    env = {"SWF_STORAGE": "file:///srv/payloads", "SWF_STORAGE_MAX_BYTES": "1GiB", "SWF_STORAGE_THRESHOLD": ""}
    storage = PayloadSettings.read(env, file=file).storage
    assert storage is not None
    assert (storage.url, storage.max_bytes, storage.threshold) == ("file:///srv/payloads", 1024**3, 65_536)
    env = {"SWF_ENCRYPTION_KEYS": "a=env:A, b=file:/b", "SWF_ENCRYPTION_KEY": "a", "SWF_COMPRESSION": "off"}
    wanted = EncryptionSettings(keys={"a": "env:A", "b": "file:/b"}, key="a")
    assert PayloadSettings.read(env) == PayloadSettings(encryption=wanted, compression=False)
    assert PayloadSettings.read({"SWF_STORAGE": "memory://x"}) == PayloadSettings(
        storage=StorageSettings(url="memory://x")
    )


@pytest.mark.parametrize(("text", "message"), [
    ("storage: {url: 's3://b', maxByte: 1}", "storage › maxByte: there is no such option; did you mean 'maxBytes'?"),
    ("storage: {url: /srv/payloads}",
     "storage › url: it must be the URL of a folder, such as file:///srv/payloads or s3://bucket/prefix"),
    ("storage: {url: 'file://srv/payloads'}",
     "storage › url: it must be the URL of a folder, such as file:///srv/payloads or s3://bucket/prefix"),
    ("storage: {url: 's3://b', maxBytes: much}", "storage › maxBytes: it must be a size such as 128KiB or 256MiB"),
    ("encryption: {keys: {a: /run/key}}",
     "encryption › keys › a: it must be env:VARIABLE, file:PATH or function:MODULE:FUNCTION"),
    ("encryption: {keys: [a]}", "encryption › keys: it must be an object, with a value for each name"),
    ("encryption: {keys: {a: env:A}, key: true}", "encryption › key: it must be a text"),
    ("compression: much", "compression: it must be true or false"),
    ("storage: {url: 's3://b', threshold: 2MiB}", "storage › threshold: it must be at most 1MiB"),
])  # fmt: skip
def test_a_mistake_in_the_file_is_told_by_its_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "swf.yaml"
    path.write_text(text)
    with pytest.raises(UsageError) as refused:
        PayloadSettings.read({}, file=path)
    assert str(refused.value) == f"{path}: {message}"


def test_what_cannot_be_meant_is_told(file: Path) -> None:
    with pytest.raises(UsageError, match="storage › url: it is missing; write it here, or set SWF_STORAGE"):
        PayloadSettings.read({"SWF_STORAGE_THRESHOLD": "1MiB"})
    with pytest.raises(UsageError, match="storage › threshold: it is not less than maxBytes"):
        PayloadSettings.read({"SWF_STORAGE_MAX_BYTES": "1KiB"}, file=file)
    with pytest.raises(UsageError, match="encryption › keys: it is missing"):
        PayloadSettings.read({"SWF_ENCRYPTION_KEY": "a"})
    with pytest.raises(UsageError, match="encryption › key: it is missing"):
        PayloadSettings.read({"SWF_ENCRYPTION_KEYS": "a=env:A"})
    with pytest.raises(
        UsageError,
        match=r"SWF_ENCRYPTION_KEY is 'b'\n  'b' is not among the keys.*; the keys are a; or set encrypt: false",
    ):
        PayloadSettings.read({"SWF_ENCRYPTION_KEYS": "a=env:A", "SWF_ENCRYPTION_KEY": "b"})
    with pytest.raises(UsageError, match="SWF_ENCRYPTION_KEYS is 'a'"):
        PayloadSettings.read({"SWF_ENCRYPTION_KEYS": "a"})
    with pytest.raises(UsageError, match="SWF_STORAGE_MAX_BYTES is '-1'"):
        PayloadSettings.read({"SWF_STORAGE_MAX_BYTES": "-1"}, file=file)
