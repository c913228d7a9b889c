"""The model of the arguments of calls and processes."""

from typing import Literal

from pydantic import Field

from swf_temporal.languages.dsl.model.node import Duration, Node, Number, Template, Text, Truth
from swf_temporal.languages.dsl.model.parts import Authentication, ContainerLifetime, Endpoint, ExternalResource


class HttpArguments(Node):
    """The arguments of `call: http`."""

    method: Text
    endpoint: Endpoint
    headers: Template = None
    body: Template = None
    query: Template = None
    output: Literal["raw", "content", "response"] | None = None
    redirect: Truth | None = None


class OpenApiArguments(Node):
    """The arguments of `call: openapi`."""

    document: ExternalResource
    operation_id: Text = Field(alias="operationId")
    parameters: Template = None
    authentication: Authentication | None = None
    output: Literal["raw", "content", "response"] | None = None
    redirect: Truth | None = None


class GrpcService(Node):
    """The service of `call: grpc`."""

    name: Text
    host: Text
    port: Number | None = None
    authentication: Authentication | None = None


class GrpcArguments(Node):
    """The arguments of `call: grpc`."""

    proto: ExternalResource
    service: GrpcService
    method: Text
    arguments: Template = None
    authentication: Authentication | None = None


class AsyncApiServer(Node):
    """The server of a document that is used."""

    name: Text
    variables: Template = None


class AsyncApiMessage(Node):
    """A message to publish."""

    payload: Template = None
    headers: Template = None


class McpHttp(Node):
    """A server of MCP that is reached by HTTP."""

    endpoint: Endpoint
    headers: Template = None


class McpStdio(Node):
    """A server of MCP that is a process."""

    command: Text
    arguments: tuple[Text, ...] = ()
    environment: Template = None


class McpTransport(Node):
    """How a server of MCP is reached."""

    http: McpHttp | None = None
    stdio: McpStdio | None = None
    options: Template = None


class McpClient(Node):
    """The client, as an MCP server knows it."""

    name: Text
    version: Text
    description: Text | None = None


class McpArguments(Node):
    """The arguments of `call: mcp`."""

    protocol_version: Text | None = Field(default=None, alias="protocolVersion")
    method: Literal[
        "tools/list", "tools/call", "prompts/list", "prompts/get", "resources/list", "resources/read",
        "resources/templates/list",
    ]  # fmt: skip
    parameters: Template = None
    timeout: Duration | None = None
    transport: McpTransport
    client: McpClient | None = None


class A2AArguments(Node):
    """The arguments of `call: a2a`."""

    agent_card: ExternalResource | None = Field(default=None, alias="agentCard")
    server: Endpoint | None = None
    method: Literal[
        "message/send", "message/stream", "tasks/get", "tasks/list", "tasks/cancel", "tasks/resubscribe",
        "tasks/pushNotificationConfig/set", "tasks/pushNotificationConfig/get", "tasks/pushNotificationConfig/list",
        "tasks/pushNotificationConfig/delete", "agent/getAuthenticatedExtendedCard",
    ]  # fmt: skip
    parameters: Template = None


class Container(Node):
    """A container to run."""

    image: Text
    name: Text | None = None
    command: Text | None = None
    ports: Template = None
    volumes: Template = None
    environment: Template = None
    stdin: Text | None = None
    arguments: tuple[Text, ...] = ()
    lifetime: ContainerLifetime | None = None
    pull_policy: Literal["ifNotPresent", "always", "never"] | None = Field(default=None, alias="pullPolicy")


class Script(Node):
    """A script to run."""

    language: Text
    code: Text | None = None
    source: ExternalResource | None = None
    stdin: Text | None = None
    arguments: Template = None
    environment: Template = None


class Shell(Node):
    """A shell command to run."""

    command: Text
    stdin: Text | None = None
    arguments: Template = None
    environment: Template = None
