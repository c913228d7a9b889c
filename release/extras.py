"""What each extra of the package has to bring, tried by statements that fail without it."""

SHOWN = {
    "amqp": "import aio_pika, aiormq.exceptions",
    "asyncapi": "import aio_pika, aiokafka, aiomqtt, nats, websockets",
    "codec-server": "import swf_temporal.http.codec_server.application, swf_temporal.sdk.asgi_server",
    "containers": "import swf_temporal.functions.containers.endpoint, swf_temporal.sdk.asgi_server",
    "drawing": "import pygraphviz, resvg_py; pygraphviz.AGraph('digraph {a -> b}').layout('dot')",
    "encryption": "import swf_temporal.temporal.payloads.codec",
    "gateway": "import swf_temporal.http.gateway.application, swf_temporal.sdk.asgi_server, httptools, jwt",
    "grpc": "import grpc.aio, grpc_tools.protoc, grpc_reflection.v1alpha.reflection_pb2, google.api.annotations_pb2",
    "js": "import swf_temporal.expressions.js_process",
    "kafka": "import swf_temporal.events.brokers.kafka_token, aiokafka",
    "local": "from swf_temporal.temporal.server import find_program; assert find_program()",
    "lsp": "import swf_temporal.editing",
    "mqtt": "import swf_temporal.events.brokers.mqtt_session",
    "nats": "import nats.js.errors",
    "otel": "import opentelemetry.exporter.otlp.proto.http.trace_exporter",
    "pytest": "import swf_temporal.cli.pytest_plugin",
    "sql": "import swf_temporal.sdk.stores, psycopg",
    "storage": "import fsspec.core",
    "upgrade": "import ruamel.yaml",
    "websocket": "import websockets.asyncio.client",
}
"""A statement for each extra that users install."""

FOR_DEVELOPERS = {"dev", "docs", "examples", "package"}
