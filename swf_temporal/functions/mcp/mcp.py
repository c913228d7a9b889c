"""Calls methods of MCP servers: tools, prompts and resources."""

import asyncio
import shlex
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Final

from swf_temporal import __version__
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.functions.auth.auth import with_tokens
from swf_temporal.functions.call import Call
from swf_temporal.functions.documents.servers import service_url
from swf_temporal.functions.json_rpc import METHOD_NOT_FOUND, request, result_of
from swf_temporal.functions.mcp.transports import INITIALIZE, Transport, over_http, over_stdio
from swf_temporal.functions.named_arguments import NamedArguments
from swf_temporal.functions.port import Performer, Services
from swf_temporal.functions.processes.running import checked_environment, limits_for, runner_off

DEFAULT_VERSION: Final = "2025-06-18"
_ARGUMENTS: Final = ("protocolVersion", "method", "parameters", "timeout", "transport", "client")


class Mcp(Performer):
    """Sends a request to an MCP server, in its own session."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def perform(self, call: Call) -> JSON:
        """Return the result of the method. Raises CallFailed, with the code RpcError for an error of the server."""
        references = call.function.auth_ref
        names = [references.invocation if references else None]
        return await with_tokens(names, call, self._services.tokens, self._perform)

    async def _perform(self, call: Call) -> JSON:
        arguments = NamedArguments.of(call, _ARGUMENTS)
        method, parameters = arguments.text("method"), arguments.object("parameters")
        limit = self._limit(call, arguments)
        try:
            async with asyncio.timeout(limit), self._connected(call, arguments, limit) as transport:
                await _initialize(transport, arguments)
                return await _answer(transport, request(method, parameters, number=2), f"the method {method!r}")
        except TimeoutError:
            message = f"function '{call.function.name}': the MCP server did not answer within {limit:g} s"
            raise CallFailed(message, code="Timeout") from None

    def _limit(self, call: Call, arguments: NamedArguments) -> float:
        """Return the seconds that the whole call may take. A request over HTTP also has the operator's timeout."""
        if arguments.has("timeout"):
            return arguments.number("timeout")
        return limits_for(self._services.settings, call).timeout.total_seconds()

    def _connected(self, call: Call, arguments: NamedArguments, limit: float) -> AbstractAsyncContextManager[Transport]:
        transport = arguments.inner("transport", ("http", "stdio", "options"))
        what = f"the MCP server of function '{call.function.name}'"
        if transport.has("http"):
            http = transport.inner("http", ("endpoint", "headers"))
            endpoint = service_url(self._services.settings, call.callee, http.text("endpoint"))
            timeout = limit if arguments.has("timeout") else None
            return over_http(self._services.http, call, what, endpoint, http.pairs("headers"), timeout)
        stdio = transport.inner("stdio", ("command", "arguments", "environment"))
        command = [stdio.text("command"), *stdio.words("arguments")]
        runners = self._services.settings.runners
        if not any(_begins(command, allowed) for allowed in runners.mcp):
            shown = shlex.join(command)
            raise runner_off(call, f"starts the MCP server {shown!r}", f"""'runners: {{mcp: ["{shown}"]}}'""")
        return over_stdio(what, command, checked_environment(stdio.pairs("environment")), runners.max_output_bytes)


def _begins(command: list[str], allowed: str) -> bool:
    """Return whether *command* is *allowed*, or has more arguments."""
    words = shlex.split(allowed)
    return bool(words) and command[: len(words)] == words


async def _initialize(transport: Transport, arguments: NamedArguments) -> None:
    client = arguments.object("client") or {"name": "swf-temporal", "version": __version__}
    version = arguments.optional_text("protocolVersion") or DEFAULT_VERSION
    parameters: dict[str, JSON] = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
    answer = await _answer(transport, request(INITIALIZE, parameters, number=1), f"'{INITIALIZE}'")
    agreed = answer.get("protocolVersion") if isinstance(answer, dict) else None
    transport.use_version(agreed if isinstance(agreed, str) else version)
    await transport.send(request("notifications/initialized"))


async def _answer(transport: Transport, sent: dict[str, JSON], what: str) -> JSON:
    """Return the result of the request *sent*. Requests of the server are answered meanwhile."""
    async with aclosing(transport.ask(sent)) as messages:
        async for message in messages:
            if "method" not in message and message.get("id") == sent["id"]:
                return result_of(message, what)
            if "method" in message and message.get("id") is not None:
                await transport.send(_reply(message))
    raise CallFailed(f"{what} was not answered by the MCP server", code="ConnectionLost")


def _reply(message: dict[str, JSON]) -> dict[str, JSON]:
    """Return the answer to a request of the server: this client only answers that it is alive."""
    reply: dict[str, JSON] = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] == "ping":
        return {**reply, "result": {}}
    return {**reply, "error": {"code": METHOD_NOT_FOUND, "message": "this client does not offer that"}}
