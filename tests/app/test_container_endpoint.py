"""Where functions in containers reach their worker."""

import socket
from collections.abc import Mapping

import pytest

from swf_temporal.base.errors import UsageError
from swf_temporal.functions.containers.running_calls import RunningCalls
from swf_temporal.runtime.variables import Variable, VariableRef
from swf_temporal.sdk.working import container_endpoint
from swf_temporal.settings.values import Address


class Nothing:
    async def read_variable(self, of: VariableRef) -> Variable | None:  # noqa: ARG002 - the port's
        return None

    async def write_variables(self, values: Mapping[VariableRef, Variable | None], write_id: str) -> None:
        """Forget them."""


@pytest.mark.parametrize("host", ["127.0.0.1", "no.such.host.invalid"])
async def test_an_address_that_cannot_be_had_is_told(host: str) -> None:
    """The worker does not start, and says which setting to change."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = Address(host, taken.getsockname()[1])
        with pytest.raises(UsageError, match=f"nothing can listen at {address}") as refused:
            async with container_endpoint(address, RunningCalls(), Nothing()):
                pass
    assert "containerEndpoint" in (refused.value.hint or "")
    assert "(" not in str(refused.value).partition("\n")[0], "it has no value of Python"


def test_an_address_is_told_as_it_is_written() -> None:
    assert [str(Address("::1", 80)), str(Address("localhost", 80))] == ["[::1]:80", "localhost:80"]
