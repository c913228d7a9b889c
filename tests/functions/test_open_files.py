"""What a call says where the process may open no more files and connections."""

import resource
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.files import can_open_more
from swf_temporal.events.sinks import Sinks
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.settings.calls import Options, Settings
from swf_temporal.settings.events import SinkSettings
from tests.failing import fault_of
from tests.functions.conftest import Calling, Service, http_call
from tests.functions.rpc.users_service import PROTOS


@contextmanager
def none_left() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1, hard))
    try:
        assert not can_open_more()
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_a_connection_that_needs_a_file(calling: Calling, host: str, service: "Service") -> None:
    """To an address, or to a name that cannot be looked up; when there are files again, the call succeeds."""
    service.answers_with("GET", "/a", 1)
    call = http_call("GET", service.url.replace("127.0.0.1", host) + "/a")
    functions = calling()
    await fault_of(functions.call(http_call("GET", "http://127.0.0.1:1/")))  # what is needed is imported
    with none_left():
        fault = await fault_of(functions.call(call), "TooManyOpenFiles", retryable=True)
    assert await functions.call(call) == 1
    assert fault.message.startswith("too many open files: raise the limit of this process (ulimit -n")


@pytest.mark.parametrize(("kind", "operation"), [
    ("rest", "file#check"), ("rpc", "file#Stock#Check"), ("asyncapi", "file#a"), ("custom", "one"),
])  # fmt: skip
async def test_a_file_that_cannot_be_opened(kind: str, operation: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("[")
    call = Call(Function(name="ask", type=kind, operation=operation), base=str(tmp_path))
    settings = Settings(calls=Options(base_url="http://127.0.0.1:1"))
    async with aclosing(Functions({"one": lambda: int(file.read_text())}, settings)) as functions:
        usual = await fault_of(functions.call(call))
        with none_left():
            fault = await fault_of(functions.call(call), "TooManyOpenFiles", retryable=True)
    assert usual.code != fault.code


async def test_a_sink_that_needs_a_connection() -> None:
    sink = SinkSettings(name="a", url="http://127.0.0.1:1/")
    async with aclosing(Sinks([sink], Settings())) as sinks:
        await sinks.deliver(CloudEvent("1", "test", "made"))
        with none_left():
            (outcome,) = await sinks.deliver(CloudEvent("2", "test", "made"))
    assert outcome.fault is not None
    assert outcome.fault.code == "TooManyOpenFiles"


async def test_a_channel_that_cannot_be_made(calling: Calling) -> None:
    urls = {"first": "grpc://127.0.0.1:1", "next": "grpc://127.0.0.1:2"}
    settings = Settings(functions={name: Options(base_url=url) for name, url in urls.items()})
    first, next_ = (
        Call(Function(name=name, type="rpc", operation="users.proto#UserService#AddUser"), {}, base=str(PROTOS))
        for name in urls
    )
    functions = calling(settings=settings)
    usual = await fault_of(functions.call(first))
    with none_left():
        fault = await fault_of(functions.call(next_))
    assert (usual.code, fault.code) == ("UNAVAILABLE", "TooManyOpenFiles")
