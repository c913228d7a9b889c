"""A server that answers."""

from unittest.mock import Mock

from swf_temporal.temporal.connected_server import Server


def test_links_lead_to_instances_whatever_their_ids_have_in_them() -> None:
    server = Server(Mock(namespace="default"), "http://127.0.0.1:8233")
    assert server.link("/a/b.yaml-1") == "http://127.0.0.1:8233/namespaces/default/workflows/%2Fa%2Fb.yaml-1"
    assert server.link("one", "run") == "http://127.0.0.1:8233/namespaces/default/workflows/one/run/history"
