"""How is RabbitMQ started? On one node of its own, which takes no port and no folder that others may want."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from subprocess import Popen

from tests.brokers.servers import HOST, Server, free_ports, program, running

_RABBITMQ = """
listeners.tcp.1 = {host}:{port}
listeners.ssl.1 = {host}:{secure_port}
ssl_options.cacertfile = {certificates}/ca.pem
ssl_options.certfile = {certificates}/server.pem
ssl_options.keyfile = {certificates}/server.pem
max_message_size = 100000
load_definitions = {folder}/users.json
"""
_RABBITS = {
    "vhosts": [{"name": "/"}, {"name": "other"}],
    "users": [
        {"name": "guest", "password": "guest", "tags": "administrator"},
        {"name": "ada", "password": "lovelace", "tags": ""},
    ],
    "permissions": [
        *({"user": "guest", "vhost": host, "configure": ".*", "write": ".*", "read": ".*"} for host in ("/", "other")),
        {"user": "ada", "vhost": "/", "configure": "hers.*", "write": "hers.*|amq\\.default", "read": "hers.*"},
    ],
}


@contextmanager
def prepared(
    folder: Path, certificates: Path
) -> Iterator[tuple[Server, Callable[[], AbstractContextManager[Popen[bytes]]]]]:
    """Prepare RabbitMQ on a port, and with TLS on another; also return what runs it there, as often as it is called.

    It knows guest, and ada, who may use what begins with `hers`.
    """
    broker = program("rabbitmq-server", "rabbitmq-server")
    port, secure_port, between_nodes, names = free_ports(4)
    (folder / "plugins").write_text("[].\n")
    (folder / "users.json").write_text(json.dumps(_RABBITS))
    (folder / "rabbitmq.conf").write_text(
        _RABBITMQ.format(host=HOST, port=port, secure_port=secure_port, folder=folder, certificates=certificates)
    )
    env = {
        "HOME": str(folder),
        "RABBITMQ_NODENAME": "swf-tests@localhost",
        "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq.conf"),
        "RABBITMQ_CONF_ENV_FILE": str(folder / "none"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
        "RABBITMQ_PLUGINS_EXPAND_DIR": str(folder / "expanded"),
        "RABBITMQ_MNESIA_BASE": str(folder / "data"),
        "RABBITMQ_LOG_BASE": str(folder),
        "RABBITMQ_LOGS": "-",
        "RUNNING_UNDER_SYSTEMD": "true",  # the script becomes the server, which can be stopped as a process
        "RABBITMQ_DIST_PORT": str(between_nodes),
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1} +S 1:1",
        "ERL_EPMD_PORT": str(names),
        "ERL_EPMD_ADDRESS": HOST,
    }
    # The server would start this one, which finds nodes by their names, and never stop it.
    naming = [program("epmd", "erlang-base"), "-port", str(names), "-address", HOST]
    serving = partial(running, [broker], [port, secure_port], folder / "log", env)
    with running(naming, [names], folder / "names.log", env):
        yield Server(port, secure_port), serving
