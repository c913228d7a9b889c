"""How do servers of tests listen? In a thread of their own, until the test is done with them."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import BaseServer


@contextmanager
def listening(server: BaseServer) -> Iterator[None]:
    """Let *server* answer until the block ends, and then close it."""
    # So short that no test waits for its server to notice that it is over.
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
