"""How functions are called by the container contract of Direktiv."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from swf_temporal.base.calls import Function
from swf_temporal.base.errors import StoreUnavailable
from swf_temporal.functions.calling import Call, Functions
from swf_temporal.functions.containers.containers import Containers
from swf_temporal.runtime.host import CallFile, CallFolder
from swf_temporal.runtime.variables import Variable, VariableRef
from swf_temporal.settings.calls import Options, Settings
from swf_temporal.settings.forms import SharedFolder
from tests.failing import fault_of
from tests.functions.conftest import Calling, Service


def call_of(arguments: Any = None, image: str = "direktiv/request:latest") -> Call:
    operation = {"type": "knative-workflow", "image": image}
    return Call(Function("request", "direktiv", operation), arguments, idempotency_key="shop/1/pay/request#1")


async def test_a_call_is_one_request(service: Service, functions: Functions) -> None:
    """The input is the body; the id is one that a URL can have, and the same for every attempt."""
    service.answers_with("POST", "/", {"done": True})
    assert await functions.call(call_of({"n": 1})) == {"done": True}
    assert await functions.call(call_of({"n": 1})) == {"done": True}
    first, second = service.requests
    assert first.body == {"n": 1}
    assert first.headers["direktiv-actionid"] == second.headers["direktiv-actionid"]
    assert first.headers["direktiv-actionid"].isalnum()


@pytest.mark.parametrize(("content", "result"), [(b"\xff\x00", "/wA="), (b"", ""), (b"[1]", [1])])
async def test_what_is_no_json_is_base64(service: Service, functions: Functions, content: bytes, result: Any) -> None:
    service.answers_with("POST", "/", content, content_type="application/octet-stream")
    assert await functions.call(call_of()) == result


async def test_the_status_alone_is_no_error(service: Service, functions: Functions) -> None:
    service.answers_with("POST", "/", {"found": False}, status=404)
    assert await functions.call(call_of()) == {"found": False}


@pytest.mark.parametrize("status", [200, 500])
async def test_a_header_tells_of_an_error(service: Service, functions: Functions, status: int) -> None:
    """An error has a code of the function's own, whatever the status is."""
    headers = {"Direktiv-ErrorCode": "pay.refused", "Direktiv-ErrorMessage": "no money"}
    service.answers_with("POST", "/", {"ignored": True}, status=status, headers=headers)
    fault = await fault_of(functions.call(call_of()))
    assert (fault.code, fault.message) == ("pay.refused", "no money")


async def test_a_message_alone_is_an_internal_error(service: Service, functions: Functions) -> None:
    service.answers_with("POST", "/", {}, headers={"Direktiv-ErrorMessage": "broken"})
    fault = await fault_of(functions.call(call_of()), "direktiv.internal.error", retryable=False)
    assert fault.message == "broken"


@pytest.mark.parametrize("name", ["request", "direktiv/request:latest", "direktiv/request"])
async def test_where_it_stands_is_configured(calling: Calling, service: Service, name: str) -> None:
    """By the function's id, by its image, and by the image without a tag."""
    service.answers_with("POST", "/", 1)
    where = {name: Options(base_url=service.url)}
    settings = Settings(functions=where) if name == "request" else Settings(services=where)
    assert await calling(settings=settings).call(call_of()) == 1


@pytest.mark.parametrize("ending", ["", ":v1", "@sha256:0a1b", ":v1@sha256:0a1b"])
async def test_a_registry_may_have_a_port(calling: Calling, service: Service, ending: str) -> None:
    service.answers_with("POST", "/", 1)
    functions = calling(settings=Settings(services={"hub:5000/request": Options(base_url=service.url)}))
    assert await functions.call(call_of(image=f"hub:5000/request{ending}")) == 1


async def test_it_is_configured_by_its_image(calling: Calling, service: Service) -> None:
    service.hangs("POST", "/")
    service.answers_with("DELETE", "/")
    hasty = Options(timeout=timedelta(seconds=0.2))
    functions = calling(settings=Settings(calls=Options(base_url=service.url), services={"DIREKTIV_REQUEST": hasty}))
    await fault_of(functions.call(call_of()), "Timeout")
    assert [one.method for one in service.requests] == ["POST", "DELETE"]


async def test_variables_that_cannot_be_reached_are_no_error_of_the_function(
    calling: Calling, service: Service, tmp_path: Path
) -> None:
    """It is not called, and the attempt is made again by whoever asked for it."""

    class Away:
        async def read_variable(self, of: VariableRef) -> Variable | None:
            raise StoreUnavailable(of.key)

        async def write_variables(self, values: Mapping[VariableRef, Variable | None], write_id: str) -> None:  # noqa: ARG002 - the port's
            raise StoreUnavailable(write_id)

    shared = Options(shared_folder=SharedFolder(str(tmp_path), "/mnt/shared"))
    settings = Settings(calls=shared.replace(base_url=service.url))
    functions = calling(settings=settings, replaced={"direktiv": lambda services: Containers(services, Away())})
    of = VariableRef("namespace", "", "k")
    with pytest.raises(StoreUnavailable):
        await functions.call(replace(call_of(), folder=CallFolder((CallFile(of, "k"),), {"namespace": ""})))
    assert service.requests == []


async def test_without_configuration_it_says_what_is_missing() -> None:
    await fault_of(Functions().call(call_of()), "NoServer", 'functions: {"request": {baseUrl: …}}')


async def test_a_call_that_is_not_wanted_is_ended(service: Service, functions: Functions) -> None:
    service.hangs("POST", "/")
    service.answers_with("DELETE", "/")
    task = asyncio.get_running_loop().create_task(functions.call(call_of()))
    await asyncio.to_thread(service.asked.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [one.method for one in service.requests] == ["POST", "DELETE"]
    assert len({one.headers["direktiv-actionid"] for one in service.requests}) == 1
