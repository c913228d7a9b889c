"""The settings of a worker, from options, variables and the configuration file."""

from datetime import timedelta
from pathlib import Path

import pytest

from swf_temporal import __version__
from swf_temporal.base.errors import UsageError
from swf_temporal.settings.calls import read_settings
from swf_temporal.settings.values import Address, LogFormat, LogLevel
from swf_temporal.settings.worker import Deployment, Versioning, WorkerSettings

FILE = """\
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


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "swf.yaml"
    path.write_text(FILE)
    return path


def test_without_a_word_there_are_defaults() -> None:
    assert WorkerSettings.read({}) == WorkerSettings()


def test_settings_of_a_file(file: Path) -> None:
    """They have the forms of the page; the environment may name the file, and the calls have their part of it."""
    wanted = WorkerSettings(
        task_queue="orders", known_definitions_only=True, max_activities=50, grace_period=timedelta(minutes=1),
        health_port=8080, container_endpoint=Address("127.0.0.1", 8889), log_format=LogFormat.JSON,
        variables="postgresql://swf@db.internal/shop", build_id="17",
        versioning_of={"reports": Versioning.AUTO_UPGRADE},
    )  # fmt: skip
    assert WorkerSettings.read({}, file=file) == wanted
    assert WorkerSettings.read({"SWF_CONFIG": str(file)}) == wanted
    assert read_settings({}, file=file).calls.timeout == timedelta(seconds=5)


def test_the_nearest_word_wins(file: Path) -> None:
    """A variable wins over the file, and an option over both; what is empty, and None, says nothing."""
    env = {
        "SWF_TASK_QUEUE": "stock", "SWF_KNOWN_DEFINITIONS_ONLY": "0", "SWF_MAX_ACTIVITIES": "",
        "SWF_LOG_LEVEL": "debug", "SWF_GRACE_PERIOD": "5",
    }  # fmt: skip
    settings = WorkerSettings.read(env, file=file, arguments={"task_queue": "shop", "log_level": None})
    assert settings.task_queue == "shop"
    assert settings.known_definitions_only is False
    assert settings.max_activities == 50
    assert settings.log_level is LogLevel.DEBUG
    assert settings.grace_period == timedelta(seconds=5)


@pytest.mark.parametrize(("text", "message"), [
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
])  # fmt: skip
def test_a_mistake_in_the_file_is_told_by_its_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "swf.yaml"
    path.write_text(text)
    with pytest.raises(UsageError) as refused:
        WorkerSettings.read({}, file=path)
    assert str(refused.value) == f"{path}: {message}"


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
