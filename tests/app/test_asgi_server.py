"""The server of the gateway, of the codec server, and of functions."""

import socket

import pytest

from swf_temporal.app import asgi_server
from swf_temporal.app.settings import Address


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_answers_are_sent_at_once(host: str) -> None:
    """A packet does not wait until the one before is acknowledged."""
    with asgi_server._listening(Address(host, 0), "") as listening:
        with socket.create_connection(listening.getsockname()[:2]):
            accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
