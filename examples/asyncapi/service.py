"""Taxi companies that are spoken with over WebSocket. The night owls are asleep."""

import asyncio
import json

from websockets.asyncio.server import ServerConnection, serve


async def talk(connection: ServerConnection) -> None:
    """Answer orders at `/companies/…/orders`, and tell at `/rides/…/arrivals` that the taxi is there."""
    _, kind, name, _ = connection.request.path.split("/") if connection.request else ("", "", "", "")
    if kind == "rides":
        await connection.send(json.dumps({"plate": "UL-TX 12"}))
        return
    async for text in connection:
        order = json.loads(text)
        if name != "night-owls":
            await connection.send(json.dumps({"id": f"{name}-1", "minutes": len(order["from"]) // 2}))


async def main() -> None:
    """Serve until stopped."""
    async with serve(talk, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        print(f"ws://127.0.0.1:{port}", flush=True)  # noqa: T201 - the program that started it reads this
        await server.wait_closed()


if __name__ == "__main__":
    asyncio.run(main())
