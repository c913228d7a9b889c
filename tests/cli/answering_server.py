"""A server that speaks the protocol of Temporal and gives what answers a test says, with no engine behind."""

import importlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

_SERVICE = "temporal.api.workflowservice.v1.WorkflowService"
grpc: Any = importlib.import_module("grpc")


@contextmanager
def answering_server(answers: Mapping[str, Callable[[bytes, Any], bytes]], credentials: Any = None) -> Iterator[str]:
    """Serve *answers*, by the names of the methods, for as long as the context lasts; yield the address.

    With *credentials* it is by TLS.
    """
    handlers = {name: grpc.unary_unary_rpc_method_handler(answer) for name, answer in answers.items()}
    server = grpc.server(ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(_SERVICE, handlers),))
    anywhere = "127.0.0.1:0"
    port = server.add_secure_port(anywhere, credentials) if credentials else server.add_insecure_port(anywhere)
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(0).wait()
