"""`python -m tests.leaks`: looks for leaks of secrets on a real server, and prints what it found."""

import asyncio
import sys
import tempfile
from pathlib import Path

from swf_temporal.temporal.server import local_server
from tests.leaks.corpus import ENCODINGS, LEAKS
from tests.leaks.credentials import find_credentials
from tests.leaks.finding import find
from tests.leaks.in_examples import NAMES, find_in_examples
from tests.leaks.places import PLACED, find_in_places
from tests.sampling import configure


async def main() -> int:
    configure(0, is_whole=True)
    async with local_server() as server:
        found = await find(server, LEAKS)
        everywhere = await find_in_places(server, PLACED)
        with tempfile.TemporaryDirectory() as folder:
            examples = await find_in_examples(server, Path(folder), NAMES)
        with tempfile.TemporaryDirectory() as folder:
            credentials = await find_credentials(server, Path(folder))
        found = [*found, *everywhere, *examples, *credentials]
    for one in found:
        if one.leaked:
            sys.stdout.write(f"leaked: {one.leak.name}, in {', '.join(one.leaked)}\n")
        if one.altered:
            sys.stdout.write(f"altered: {one.leak.name}\n")
    leaked, altered = sum(bool(one.leaked) for one in found), sum(one.altered for one in found)
    sys.stdout.write(
        f"{len(found)} ways, {len(everywhere)} of them in all places, {len(examples)} in examples and "
        f"{len(credentials)} of authentication and of arguments, each in {len(ENCODINGS)} spellings: "
        f"{leaked} leaked, {altered} altered business data\n"
    )
    return int(leaked + altered > 0)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
