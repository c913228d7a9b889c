"""Functions that the configuration of a worker has another operation for, called on a real server."""

import os
from pathlib import Path

from swf_temporal.functions.calling import Calls
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import load
from swf_temporal.migration.migrate import migrate, write
from swf_temporal.settings.calls import Options, Settings
from swf_temporal.temporal.worker import make_worker
from swf_temporal.text.fetching.resources import in_mode, reading_mode
from tests.temporal.conftest import Bench, Running, Scripted, events_of

DEFINITION = """
id: served
start: Call
functions:
  - {name: greet, type: custom, operation: 'service:java:org.acme.Greeter::sayHello'}
  - {name: price, type: custom, operation: 'knative:services.v1.serving.knative.dev/shop/prices?path=/price'}
states:
  - name: Call
    type: operation
    actions:
      - {functionRef: {refName: greet, arguments: {name: .name}}, actionDataFilter: {toStateData: .greeting}}
      - {functionRef: {refName: price, arguments: {item: tea}}, actionDataFilter: {toStateData: .price}}
    end: true
"""


async def test_the_worker_decides_what_serves_a_function(bench: Bench, tmp_path: Path) -> None:
    """In the mode of SonataFlow and once migrated; the definition that the history has says what it said."""
    (tmp_path / "served.sw.yaml").write_text(DEFINITION)
    write(migrate(tmp_path), tmp_path / "written")
    operations = {"greet": "shop.greet", "price": "prices"}
    settings = Settings(functions={name: Options(operation=operation) for name, operation in operations.items()})
    for place, mode in (("", "sonataflow"), ("written", None)):
        calls = Calls(
            {"shop.greet": lambda name: f"Hello, {name}!", "prices": lambda item: {"of": item}}, settings=settings
        )
        definition = load(tmp_path / place / "served.sw.yaml", resources=in_mode(reading_mode(mode)))
        queue = f"served-{os.getpid()}-{next(Bench.numbers)}"
        worker = make_worker(bench.client, Catalogue([definition]), calls, Scripted({}), task_queue=queue)
        async with worker:
            handle = await Running(bench, [definition], Scripted({}), queue, worker).start({"name": "Ada"})
            assert await handle.result() == {"name": "Ada", "greeting": "Hello, Ada!", "price": {"of": "tea"}}
            history = str(await events_of(handle))
        await calls.aclose()
        assert "prices.shop.svc.cluster.local" in history
        assert "shop.greet" not in history
