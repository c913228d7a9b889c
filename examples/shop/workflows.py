"""The hand-written workflow and activity, in a separate module, which the SDK imports again in its sandbox."""

from datetime import timedelta

from temporalio import activity, workflow


@activity.defn
async def pack(item: str) -> str:
    """Put an item into a parcel."""
    return f"a parcel with a {item}"


@workflow.defn
class Shipment:
    """Packs and sends, written by hand; the definition runs it as it calls a function."""

    @workflow.run
    async def run(self, order: dict[str, str]) -> str:
        """Return what was sent."""
        limit = timedelta(minutes=1)
        parcel: str = await workflow.execute_activity(pack, order["item"], start_to_close_timeout=limit)
        return f"{parcel} for {order['to']}"
