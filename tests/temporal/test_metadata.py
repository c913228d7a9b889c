"""What an instance tells people about itself is where they look: the query `status`, and the details in the UI."""

from swf_temporal.languages.loading import load
from swf_temporal.temporal.client import result, send_event
from swf_temporal.temporal.continuing import MAX_METADATA
from tests.temporal.conftest import Bench

DEFINITION = """
id: metadata-shown
states:
- id: wait
  type: consumeEvent
  metadata: {step: 1, for: jq(.customer)}
  event: {type: paid}
  transition: end
- {id: end, type: noop, metadata: jq(.long), transform: {done: true}}
"""


async def test_metadata_are_shown(bench: Bench) -> None:
    """While the instance waits, and when it has ended; where they are long, the UI shows their beginning."""
    async with bench.worker(load(DEFINITION)) as running:
        handle = await running.start({"customer": "Ada", "long": "x" * 2 * MAX_METADATA})
        await running.awaiting(handle, "paid")
        assert (await handle.query("status"))["metadata"] == {"step": 1, "for": "Ada"}
        details = (await handle.query("__temporal_workflow_metadata")).current_details
        assert "waiting for paid" in details
        assert '"for": "Ada"' in details
        await send_event(bench.client, handle.id, {"type": "paid", "source": "bank", "id": "1"})
        assert await result(handle) == {"done": True}
        assert (await handle.query("status"))["metadata"] == "x" * 2 * MAX_METADATA
        details = (await handle.query("__temporal_workflow_metadata")).current_details
        assert 0 < details.count("x") <= MAX_METADATA
