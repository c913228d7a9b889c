"""The console's page that retries an instance: it shows what is done again, and does it once, for those who may."""

import html

from swf_temporal.settings.http import Operation, Tenant
from tests.temporal.conftest import Bench
from tests.temporal.test_console import page, post, until
from tests.temporal.test_gateway_reruns import failed


async def test_it_is_shown_and_done_once(bench: Bench) -> None:
    """The form of a page that was shown before the instance failed once more is refused."""
    async with failed(bench, console=True) as (client, _, calls, handle):
        path = f"/console/instances/{handle.id}"
        shown = await page(client, path)
        plan = html.unescape(await page(client, f"{path}/retry"))
        calls.broken = {"last"}
        begun = await post(client, f"{path}/retry", plan, run=_run(plan))
        await until(client, path, '<span class="status failed">')
        stale = await post(client, f"{path}/retry", plan, run=_run(plan))
        calls.broken.clear()
        plan = await page(client, f"{path}/retry")
        await post(client, f"{path}/retry", plan, run=_run(plan))
        ended = await until(client, path, '<span class="status completed">')
        late = await client.get(f"{path}/retry")
    assert f'action="{path}/retry"' in shown
    assert "It continues in <strong>Last</strong>, where it failed" in plan
    assert "<td>calls last</td><td>Last/last#1</td><td>failed</td>" in plan
    assert (begun.status_code, begun.headers["location"]) == (303, f"{path}?done=retry")
    assert (stale.status_code, "it has been retried meanwhile, and failed again" in stale.text.lower()) == (422, True)
    assert calls.made == ["first", "last", "last", "last"]
    assert "Retry…" not in ended
    assert _input(ended) == _input(shown) != ""
    assert (late.status_code, "is completed, and has not failed" in late.text) == (422, True)


def _input(shown: str) -> str:
    return shown.partition("Input")[2].partition("</section>")[0]


def _run(shown: str) -> str:
    return shown.partition('name="run" value="')[2].partition('"')[0]


async def test_who_may_not_is_offered_nothing(bench: Bench) -> None:
    """A key without that operation has no button, and its form is refused."""
    key = "an-ender-key-0123456789"
    tenants = {"ender": Tenant(workflows=("*",), operations=frozenset({Operation.READ, Operation.END}), keys=(key,))}
    async with failed(bench, console=True, tenants=tenants) as (client, _, calls, handle):
        path = f"/console/instances/{handle.id}"
        await client.post("/console/login", data={"key": key})
        shown = await page(client, path)
        asked = await client.get(f"{path}/retry")
        sent = await post(client, f"{path}/retry", shown, run="x")
    assert "Retry…" not in shown
    assert [one.status_code for one in (asked, sent)] == [403, 403]
    assert calls.made == ["first", "last"]
