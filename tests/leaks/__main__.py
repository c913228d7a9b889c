"""`python -m tests.leaks`: looks for leaks of secrets on a real server, and prints what it found."""

import asyncio
import sys

from swf_temporal.temporal.server import local_server
from tests.leaks.corpus import LEAKS
from tests.leaks.finding import find


async def main() -> int:
    """Run the whole corpus. Return 1 if a secret leaked, or business data came back otherwise."""
    async with local_server() as server:
        found = await find(server, LEAKS)
    for one in found:
        if one.leaked:
            sys.stdout.write(f"leaked: {one.leak.name}, in {', '.join(one.leaked)}\n")
        if one.altered:
            sys.stdout.write(f"altered: {one.leak.name}\n")
    leaked, altered = sum(bool(one.leaked) for one in found), sum(one.altered for one in found)
    sys.stdout.write(f"{len(found)} ways: {leaked} leaked, {altered} altered business data\n")
    return int(leaked + altered > 0)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
