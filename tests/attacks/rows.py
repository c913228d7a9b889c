"""What crowds of clients do to gateways and to a served function, while others are answered."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Final, NamedTuple

from tests.attacks.crowds import CROWDS, IN_CHUNKS, LARGE, Crowd, crowding, form, of_client
from tests.attacks.others import Others, until_at_rest
from tests.attacks.places import COOKIE, KEY, Attacked, gateway_with_rate, large_instance, open_gateway, served_function

_FEW: Final = 1024
"""The number of files that a process may have open by default on many systems."""
_MANY: Final = 20_000
_PAGE: Final = "/console/instances/{instance}"
_FORM: Final = "/console/definitions/form"


class Row(NamedTuple):
    name: str
    place: Callable[[str, int | None], AbstractAsyncContextManager[Attacked]]
    crowd: Crowd
    number: int
    files: int = _FEW
    mebibytes: int = 300
    """By how much the memory may grow."""


def _get(path: str, header: str = COOKIE, *, reads: bool = True) -> Crowd:
    return of_client("GET", path, header, reads=reads)


ROWS: Final = (
    *(Row(name, open_gateway, crowd, 600) for name, crowd in CROWDS.items()),
    *(Row(f"{name}, many files", open_gateway, crowd, 4300, _MANY) for name, crowd in CROWDS.items()),
    Row("half events of 17,000 bytes", open_gateway, replace(CROWDS["half events"], body=17_000), 4300, _MANY),
    Row("half events in chunks", open_gateway, IN_CHUNKS, 4300, _MANY),
    Row("bodies", open_gateway, LARGE, 60),
    Row("bodies of a client with a key", large_instance, replace(LARGE, headers=(*LARGE.headers, KEY)), 60),
    Row("uploads", large_instance, form(f"{_FORM}/start", COOKIE), 600),
    Row("waits", large_instance, _get("/instances/{instance}/result?wait=60", KEY), 600),
    Row("wrong keys", gateway_with_rate, Crowd("GET /workflows", ("x-api-key: wrong",), again=True), 20),
    Row("streams", large_instance, _get(f"{_PAGE}/stream"), 600),
    Row("drawings", large_instance, _get(f"{_PAGE}/pictures"), 40),
    Row("pages of a large instance", large_instance, _get(_PAGE), 350),
    Row("data of a large instance", large_instance, _get("/turning/{instance}", KEY), 350),
    Row("data of large instances", large_instance, _get("/turning", KEY), 350),
    Row("forms", large_instance, _get(_FORM), 40),
    Row("pages that are not read", large_instance, _get(_FORM, reads=False), 300),
    *(
        Row(f"a function: {name}", served_function, replace(crowd, line=crowd.line.replace("/livez", "/")), 600)
        for name, crowd in CROWDS.items()
    ),
    Row("a function: bodies", served_function, replace(LARGE, line="POST /"), 200, mebibytes=400),
)
"""All of them; those of clients with a key ask again after five seconds, as a rate would have them."""


async def others_beside(row: Row, attacked: Attacked, seconds: float) -> Others:
    """Return what others see while the crowd of *row* does to *attacked* what it does, for so long."""
    await until_at_rest(attacked.target.pid)  # else this crowd adds to the one before
    others = Others(attacked.target, attacked.path, attacked.header)
    crowd = replace(row.crowd, line=row.crowd.line.format(instance=attacked.instance))
    async with others.asking(), crowding(attacked.target.host, attacked.target.port, row.number, crowd):
        await asyncio.sleep(seconds)
    return others
