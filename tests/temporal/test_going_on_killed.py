"""A worker is killed in the midst of a call; the instances that fail by that are retried, all by one command."""

import asyncio
import json
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

import pytest
from temporalio.client import WorkflowFailureError

from swf_temporal.temporal.server import local_server
from tests.cli.conftest import COMMAND, Place
from tests.temporal.conftest import Bench, killed, start_worker, until

INSTANCES = ("killed-1", "killed-2")


class Shop:
    """A service that reserves and charges. It answers no charge until it is told to."""

    def __init__(self) -> None:
        self.keys: dict[str, list[str]] = defaultdict(list)
        """By path, the idempotency keys of the requests that came."""
        self.answers = Event()


@contextmanager
def served(shop: Shop) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            path = self.path.removeprefix("/")
            shop.keys[path].append(self.headers["Idempotency-Key"])
            if path == "charge":
                shop.answers.wait(60)
            body = json.dumps({path: True}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        shop.answers.set()
        server.shutdown()
        thread.join()
        server.server_close()


DEFINITION = """
id: shop
specVersion: "0.8"
functions:
- {name: reserve, type: http, operation: "rest:POST:URL/reserve", metadata: {local: true}}
- {name: charge, type: http, operation: "rest:POST:URL/charge"}
states:
- {name: Reserve, type: operation, actions: [{functionRef: reserve}], transition: Charge}
- name: Charge
  type: operation
  actions: [{functionRef: charge}]
  timeouts: {actionExecTimeout: PT4S}
  end: true
"""


async def asked(shop: Shop, path: str, number: int) -> None:
    await until(lambda: len(shop.keys[path]) >= number)


@pytest.mark.temporal
async def test_what_a_killed_worker_had_begun_is_made_again_with_its_key(tmp_path: Path) -> None:
    """Of each of many instances; what was complete is not made again."""
    shop, place = Shop(), Place(tmp_path)
    async with local_server() as server:
        address = server.client.service_client.config.target_host
        with served(shop) as url:
            place.write("shop.sw.yaml", DEFINITION.replace("URL", url))
            place.write("functions.py", "def unused(): ...\n")
            functions = ("--functions", str(tmp_path / "functions.py"))
            env = {"SWF_ALLOW_HOSTS": "127.0.0.1", "HEARTBEAT": "3"}
            start = partial(start_worker, Bench(server), tmp_path, "swf", *functions, **env)
            worker = start()
            try:
                for instance in INSTANCES:
                    await server.client.start_workflow("shop", {}, id=instance, task_queue="swf")
                await asked(shop, "charge", 2)
                killed(worker)
                worker = start()
                for instance in INSTANCES:
                    with pytest.raises(WorkflowFailureError):
                        await server.client.get_workflow_handle(instance).result()
                shop.answers.set()
                words = ["retry", "--query", "WorkflowId STARTS_WITH 'killed-'", "--yes", "--address", address]
                process = await asyncio.to_thread(
                    subprocess.run, [*COMMAND, *words], env=place.env, capture_output=True, text=True, check=False
                )
                outputs = [await server.client.get_workflow_handle(instance).result() for instance in INSTANCES]
            finally:
                killed(worker)
    assert (process.returncode, "2 instances continue" in process.stderr) == (0, True), process.stderr
    assert outputs == [{"reserve": True, "charge": True}] * 2
    assert len(set(shop.keys["reserve"])) == len(shop.keys["reserve"]) == 2
    assert sorted(shop.keys["charge"]) == sorted([*set(shop.keys["charge"])] * 2)
    assert len(shop.keys["charge"]) == 4
