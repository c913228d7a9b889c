"""Settings of workers, of what listens, of events and of payloads, from options, variables and the file."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from swf_temporal import __version__
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.errors import UsageError
from swf_temporal.settings.calls import read_settings
from swf_temporal.settings.events import ROUTER, ConsumerSettings, EventSettings, SinkSettings
from swf_temporal.settings.forms import Rate
from swf_temporal.settings.http import GatewaySettings, Operation, Tenant, read_gateway_settings
from swf_temporal.settings.payloads import PLAIN, EncryptionSettings, PayloadSettings, StorageSettings
from swf_temporal.settings.values import Address, LogFormat, LogLevel
from swf_temporal.settings.worker import Deployment, Versioning, WorkerSettings

WORKER_FILE = """\
calls: {timeout: 5}
worker:
  taskQueue: orders
  knownDefinitionsOnly: true
  maxActivities: 50
  gracePeriod: PT1M
  healthPort: 8080
  containerEndpoint: 127.0.0.1:8889
  logFormat: JSON
  variables: postgresql://swf@db.internal/shop
  buildId: 17
  versioningOf: {reports: auto-upgrade}
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "swf.yaml"
    path.write_text(text)
    return path


@pytest.fixture
def worker_file(tmp_path: Path) -> Path:
    return written(tmp_path, WORKER_FILE)


def test_without_a_word_there_are_defaults() -> None:
    assert WorkerSettings.read({}) == WorkerSettings()


def test_settings_of_a_file(worker_file: Path) -> None:
    """They have the forms of the page; the environment may name the file, and the calls have their part of it."""
    wanted = WorkerSettings(
        task_queue="orders", known_definitions_only=True, max_activities=50, grace_period=timedelta(minutes=1),
        health_port=8080, container_endpoint=Address("127.0.0.1", 8889), log_format=LogFormat.JSON,
        variables="postgresql://swf@db.internal/shop", build_id="17",
        versioning_of={"reports": Versioning.AUTO_UPGRADE},
    )  # fmt: skip
    assert WorkerSettings.read({}, file=worker_file) == wanted
    assert WorkerSettings.read({"SWF_CONFIG": str(worker_file)}) == wanted
    assert read_settings({}, file=worker_file).calls.timeout == timedelta(seconds=5)


def test_the_nearest_word_wins(worker_file: Path) -> None:
    """A variable wins over the file, and an option over both; what is empty, and None, says nothing."""
    env = {
        "SWF_TASK_QUEUE": "stock", "SWF_KNOWN_DEFINITIONS_ONLY": "0", "SWF_MAX_ACTIVITIES": "",
        "SWF_LOG_LEVEL": "debug", "SWF_GRACE_PERIOD": "5",
    }  # fmt: skip
    settings = WorkerSettings.read(env, file=worker_file, arguments={"task_queue": "shop", "log_level": None})
    assert settings.task_queue == "shop"
    assert settings.known_definitions_only is False
    assert settings.max_activities == 50
    assert settings.log_level is LogLevel.DEBUG
    assert settings.grace_period == timedelta(seconds=5)


@pytest.mark.parametrize(("text", "address"), [
    ("9090", Address("", 9090)), ("10.0.0.7:9090", Address("10.0.0.7", 9090)), ("[::1]:9090", Address("::1", 9090)),
])  # fmt: skip
def test_metrics_have_a_port_and_perhaps_a_host(text: str, address: Address) -> None:
    assert WorkerSettings.read({"SWF_METRICS": text}).metrics == address


def test_the_version_of_a_worker() -> None:
    """Without a deployment there is none; without a build id it is the release; a variable says several definitions."""
    assert WorkerSettings.read({}).version is None
    env = {"SWF_DEPLOYMENT": "shop", "SWF_VERSIONING_OF": "orders = pinned, reports=auto-upgrade"}
    wanted = {"orders": Versioning.PINNED, "reports": Versioning.AUTO_UPGRADE}
    assert WorkerSettings.read(env).version == Deployment("shop", __version__, Versioning.AUTO_UPGRADE, wanted)
    with pytest.raises(UsageError) as refused:
        WorkerSettings.read({"SWF_VERSIONING_OF": "orders=pined"})
    assert refused.value.hint == "orders: it must be one of pinned, auto-upgrade"


def test_a_mistake_in_a_variable_names_it() -> None:
    with pytest.raises(UsageError) as refused:
        WorkerSettings.read({"SWF_HEALTH_PORT": "http"})
    assert refused.value.message == "SWF_HEALTH_PORT is 'http'"
    assert refused.value.hint == "it must be a whole number"


LOOPBACK = Address("127.0.0.1", 0)
EVERYWHERE = Address("0.0.0.0", 8080)  # noqa: S104 - nothing listens there
KEY = "0123456789abcdef-key"


def test_a_gateway_that_asks_nobody_is_refused(tmp_path: Path) -> None:
    assert read_gateway_settings({}, LOOPBACK).is_open
    with pytest.raises(UsageError, match="would start workflows for everyone"):
        read_gateway_settings({}, EVERYWHERE)
    path = written(tmp_path, "gateway: {unauthenticated: true}")
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
    return written(tmp_path, FILE)


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


def of_the_gateway(environ: Mapping[str, str], *, file: Path) -> object:
    return read_gateway_settings({**environ, "K": KEY, "SHORT": "abc"}, LOOPBACK, file=file)


Reading = Callable[..., object]
SAID_IN_FULL: dict[Reading, list[tuple[str, str]]] = {
    WorkerSettings.read: [
        ("worker: 5", "worker: it must be an object"),
        ("worker: {taskQeue: a}", "worker › taskQeue: there is no such option; did you mean 'taskQueue'?"),
        ("worker: {taskQueue: ''}", "worker › taskQueue: it must be a text that is not empty"),
        ("worker: {maxActivities: 0}", "worker › maxActivities: it must be at least 1"),
        ("worker: {maxActivities: many}", "worker › maxActivities: it must be a whole number"),
        ("worker: {healthPort: 70000}", "worker › healthPort: it must be at most 65,535"),
        ("worker: {metrics: ':9090'}",
         "worker › metrics: it must be a port, or an address and a port, such as 9090 or 127.0.0.1:9090"),
        ("worker: {metrics: 70000}",
         "worker › metrics: it must be a port, or an address and a port, such as 9090 or 127.0.0.1:9090"),
        ("worker: {containerEndpoint: 8889}",
         "worker › containerEndpoint: it must be an address and a port, such as 127.0.0.1:8889"),
        ("worker: {containerEndpoint: 'a:0'}",
         "worker › containerEndpoint: it must be an address and a port, such as 127.0.0.1:8889"),
        ("worker: {logFormat: xml}", "worker › logFormat: it must be one of text, json"),
        ("worker: {variables: mysql://db}",
         "worker › variables: it must be 'temporal', 'sqlite:///FILE' or 'postgresql://USER@HOST/DATABASE'"),
        ("worker: {maxHeldBytes: 15MiB}", "worker › maxHeldBytes: it must be at least 16MiB"),
        ("worker: {maxSubflowDepth: 19}", "worker › maxSubflowDepth: it must be at least 20"),
        ("worker: {logLevel: loud}", "worker › logLevel: it must be one of debug, info, warning, error"),
    ],
    PayloadSettings.read: [
        ("storage: {url: 's3://b', maxByte: 1}",
         "storage › maxByte: there is no such option; did you mean 'maxBytes'?"),
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
    ],
}  # fmt: skip
"""What reads a section, and what it says of texts of the file, after the name of that."""
SAID: dict[Reading, list[tuple[str, str]]] = {
    of_the_gateway: [
        ("gateway: {tenants: {a: {workflows: [x]}}}", "gateway › tenants › a: it has neither keys nor claims"),
        ("gateway: {tenants: {a: {keys: [env:K]}}}", "gateway › tenants › a › workflows: it is missing"),
        ("gateway: {tenants: {a: {keys: [abc], workflows: [x]}}}",
         "tenants › a › keys › 0: it must be env:VARIABLE or file:PATH"),
        ("gateway: {tenants: {a: {keys: [env:NO], workflows: [x]}}}",
         "gateway › tenants › a › keys › 0: the variable NO is not set"),
        ("gateway: {tenants: {a: {keys: ['env:SHORT'], workflows: [x]}}}",
         "gateway › tenants › a › keys › 0: the value of env:SHORT is not a token"),
        ("gateway: {tenants: {a: {keys: [env:K], workflows: [x], operations: [fly]}}}",
         "tenants › a › operations › 0: it must be one of events, start, read, tasks, change, end, rerun"),
        ("gateway: {tenants: {a: {keys: [env:K], workflows: [x]}, b: {keys: [env:K], workflows: [x]}}}",
         "two tenants have the same key"),
        ("gateway: {tenants: {a: {claims: {d: x}, workflows: [x]}}}", "a › claims: they need JWTs that are verified"),
        ("gateway: {tenants: {a: {keys: [env:K], workflows: [x]}}, jwks: https://id, issuer: i}",
         "no tenant has claims"),
        ("gateway: {jwks: https://id/jwks}", "gateway › jwks: it needs an issuer or an audience"),
        ("gateway: {rate: often}", "gateway › rate: it must be a number of calls in a time"),
        ("gateway: {tenants: {a: {keys: [env:K], workflows: [x], name: b}}}",
         "tenants › a › name: there is no such option"),
        ("gateway: {keptHeaders: [X-Team, Cookie]}", "gateway › keptHeaders: Cookie is a secret"),
        ("gateway: {keptHeaders: [x-api-key]}", "gateway › keptHeaders: x-api-key is a secret"),
        ("gateway: {keptHeaders: [X-Forwarded-For]}", "gateway › keptHeaders: X-Forwarded-For is about one request"),
        ("gateway: {keptHeaders: ['*']}", "gateway › keptHeaders: '*' cannot be the name of a header"),
        ("gateway: {keptHeaders: [X Team]}", "gateway › keptHeaders: 'X Team' cannot be the name of a header"),
        ("gateway: {tenant: {}}", "gateway › tenant: there is no such option; did you mean 'tenants'?"),
    ],
    EventSettings.read: [
        ("events: {consumers: [{name: a, from: 'ftp://x'}]}", "it must be a URL with one of the schemes"),
        ("events: {consumers: [{name: a, from: 'amqp://x'}]}", "the queue is missing"),
        ("events: {consumers: [{name: a, from: 'amqp://x', topic: t}]}", "a › topic: over amqp there is a queue"),
        ("events: {consumers: [{name: a, from: 'kafka://x', topic: t, exchange: e}]}", "are options of AMQP only"),
        ("events: {consumers: [{name: a, from: 'https://x'}]}", "events come over HTTP to swf gateway"),
        ("events: {consumers: [{name: a, from: 'amqp://x', queue: q, stream: s}]}", "only NATS has streams"),
        ("events: {consumers: [{name: a, from: 'ws://x', deadLetter: s}]}", "no place for dead letters"),
        ("events: {consumers: [{name: a, from: 'amqp://x', queue: q, credentials: {password: 'env:NONE'}}]}",
         "a › credentials › password: the variable NONE is not set"),
        ("events: {consumers: [{name: a, from: 'amqp://x', queue: q, credentials: {password: 'file:none'}}]}",
         "cannot be read"),
        ("events: {consumers: [{name: a, from: 'amqp://x', queue: q}, {name: a, from: 'amqp://x', queue: q}]}",
         "more than once"),
        ("events: {consumers: [{name: a, from: 'mqtt://x', topic: t, ordered: false}]}", "in their order"),
        ("events: {sinks: [{name: a, to: 'ws://x', mode: binary}]}", "no binary mode"),
        ("events: {sinks: [{name: a, too: 'ws://x'}]}", "did you mean 'to'"),
        ("events: {sinks: [{name: a, to: 'https://x', timeout: PT2M}]}", "timeout: it must be at most"),
    ],
}  # fmt: skip
"""The same, with a part of what is said."""


def mistakes(of: dict[Reading, list[tuple[str, str]]]) -> pytest.MarkDecorator:
    rows = [(read, *mistake) for read, each in of.items() for mistake in each]
    return pytest.mark.parametrize(("read", "text", "message"), rows)


def refusal(read: Reading, file: Path) -> str:
    with pytest.raises(UsageError) as refused:
        read({}, file=file)
    return str(refused.value)


@mistakes(SAID_IN_FULL)
def test_a_mistake_in_the_file_is_told_by_its_place(tmp_path: Path, read: Reading, text: str, message: str) -> None:
    path = written(tmp_path, text)
    assert refusal(read, path) == f"{path}: {message}"


@mistakes(SAID)
def test_a_mistake_is_told(tmp_path: Path, read: Reading, text: str, message: str) -> None:
    assert message in refusal(read, written(tmp_path, text))
