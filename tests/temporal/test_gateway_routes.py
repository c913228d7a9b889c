"""Every route of a gateway, as its code has them, asked by everyone who may not, and by one who may only read."""

import asyncio
import re

import httpx

from swf_temporal.settings.http import Operation, Tenant
from tests.docs.routes import EVERYTHING, FOR_ALL_TENANTS, PUBLIC, permission, routes
from tests.temporal.conftest import Bench, named
from tests.temporal.test_gateway import WAITING, working

KEYS = {"own": "a-key-of-the-owner-01", "bare": "a-key-of-nothing-0001", "reader": "a-key-of-a-reader-001",
        "other": "a-key-of-another-0001"}  # fmt: skip


async def test_every_route_asks_who_it_is_and_what_they_may(bench: Bench) -> None:
    mine, foreign = named(WAITING), named(WAITING)
    everything, nothing = frozenset(Operation), frozenset[Operation]()
    tenants = {
        name: Tenant(workflows=(foreign.id if name == "other" else mine.id,), keys=(key,), operations=operations)
        for (name, key), operations in zip(
            KEYS.items(), (everything, nothing, frozenset({Operation.READ}), everything), strict=True
        )
    }
    async with working(bench, mine, foreign, tenants=tenants, **EVERYTHING) as (client, _):
        begun = await client.post(f"/workflows/{mine.id}", headers={"X-API-Key": KEYS["own"]}, json={})
        instance = begun.headers["location"].rpartition("/")[2]
        cookies = {key: await _logged_in(client, key) for key in KEYS.values()}
        client.cookies.clear()

        async def faults_of(method: str, path: str) -> list[str]:
            of_definition = path.startswith(("/workflows", "/{id}", "/console/definitions"))
            asked, absent = (
                path.format(id=one if of_definition else other, instance=other, action="cancel")
                for one, other in ((mine.id, instance), ("absent", "absent"))
            )
            wrong = []
            for name in ("nobody", "bare", "reader"):
                key = KEYS.get(name, "")
                answer = await _asked(client, method, asked, key, cookies.get(key, ""))
                if not _is_right(name, method, path, answer):
                    wrong.append(f"{name}: {method} {path}: {answer.status_code} {answer.text[:90]}")
            key = KEYS["other"]
            told, nothing_there = [await _asked(client, method, one, key, cookies[key]) for one in (asked, absent)]
            if "{id}" not in path:
                if mine.id in told.text:
                    wrong.append(f"another tenant is shown by {method} {path}: {told.text[:90]}")
            elif _essence(told, instance, mine.id) != _essence(nothing_there):
                wrong.append(f"another tenant learns by {method} {path}: {told.status_code} {told.text[:90]}")
            return wrong

        asked = [(method, path) for method, path in await routes(**EVERYTHING) if path not in PUBLIC]
        wrong = [one for each in await asyncio.gather(*(faults_of(*one) for one in asked)) for one in each]
        for path in PUBLIC:
            answer = await client.get(re.sub(r"{.*}", "swagger-ui.css", path))
            if mine.id in answer.text or answer.status_code == 401:
                wrong.append(f"everybody is told by {path}: {answer.status_code} {answer.text[:90]}")
    assert not wrong, "\n".join(wrong)


_FORM = "application/x-www-form-urlencoded"


async def _logged_in(client: httpx.AsyncClient, key: str) -> str:
    answer = await client.post("/console/login", data={"key": key})
    return answer.headers["set-cookie"].partition(";")[0]


async def _asked(client: httpx.AsyncClient, method: str, path: str, key: str, cookie: str) -> httpx.Response:
    headers, body = {"Content-Type": "application/json"} | ({"X-API-Key": key} if key else {}), b"{}"
    if path.startswith("/console") and key:
        headers, body = {"Cookie": cookie, "Content-Type": _FORM}, b"csrf=wrong"
    if path.endswith("/events") or path == "/events":
        headers["Content-Type"] = "application/cloudevents+json"
        body = b'{"specversion": "1.0", "id": "1", "source": "s", "type": "t"}'
    content = body if method in ("POST", "PATCH") else None
    async with client.stream(method, path, params={"from": "Begin"}, headers=headers, content=content) as answer:
        if "event-stream" in answer.headers.get("content-type", ""):  # which ends with the instance
            return httpx.Response(answer.status_code, headers=answer.headers, text=await anext(answer.aiter_text()))
        await answer.aread()
        return answer


def _essence(answer: httpx.Response, *ids: str) -> tuple[int, str]:
    """Return *answer* without the *ids* that were asked for, and the tokens of forms."""
    text = answer.text
    for one in ids:
        text = text.replace(one, "absent")
    return answer.status_code, re.sub("[0-9a-f]{64}", "", text)


def _is_right(name: str, method: str, path: str, answer: httpx.Response) -> bool:
    """Return True if *answer* is what nobody, or a key for nothing or for reading, may get."""
    status, is_page = answer.status_code, path.startswith("/console")
    if name == "nobody":
        return status == 303 and "/console/login" in answer.headers["location"] if is_page else status == 401
    if path in FOR_ALL_TENANTS:
        return True
    is_permitted = name == "reader" and permission(method, path) is Operation.READ
    return is_permitted == (status not in (401, 403))
