"""Runs instances of every language, and prints what OpenTelemetry's collector gets: `python -m tests.collector`."""

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from swf_temporal import Client, Worker
from swf_temporal.settings.calls import read_settings
from swf_temporal.temporal.server import local_server
from swf_temporal.temporal.tracing import flush
from tests.collector.collecting import COLLECTOR, WITHOUT, collecting, trees_of
from tests.collector.traced import CONFIG, FILES, STARTED, Service
from tests.listening import listening

_QUEUE = "traced"


async def _run(folder: Path, service: Service) -> None:
    for name, text in FILES.items():
        (folder / name).write_text(text.replace("PORT", str(service.server_port)))
    config = folder / "swf.yaml"
    config.write_text(CONFIG.replace("PORT", str(service.server_port)))
    settings = read_settings({"SWF_ALLOW_HOSTS": "127.0.0.1"}, file=config)
    definitions = [folder / name for name in FILES]
    async with local_server() as server:
        client = Client.of(server)
        async with Worker(client, definitions=definitions, call_settings=settings, task_queue=_QUEUE):
            for one in STARTED.values():
                await (await client.start(one, {}, task_queue=_QUEUE)).result()


def main() -> int:
    if COLLECTOR is None:
        sys.stderr.write(f"{WITHOUT}\n")
        return 1
    service = Service()
    with tempfile.TemporaryDirectory() as name, listening(service), collecting(Path(name)) as collector:
        os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = collector.url
        definitions = Path(name, "definitions")
        definitions.mkdir()
        asyncio.run(_run(definitions, service))
        flush()
        for tree in trees_of(collector.spans).values():
            sys.stdout.write(f"{tree.drawn()}\n\n")
    return 0


sys.exit(main())
