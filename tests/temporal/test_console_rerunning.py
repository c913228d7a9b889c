"""Reruns by the console: what can be chosen, what will be repeated, changed data, and who may."""

import asyncio
import html
import re
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from swf_temporal.languages.loading import load
from swf_temporal.settings.http import Operation, Tenant
from tests.temporal.conftest import Bench, Running, named
from tests.temporal.test_console import page, post, until
from tests.temporal.test_console_browser import Person
from tests.temporal.test_gateway import working
from tests.temporal.test_gateway_reruns import failed
from tests.temporal.test_rerunning import Calls, ended

CHARGE = """
functions: [{name: reserve, type: custom, operation: reserve}, {name: charge, type: custom, operation: charge}]
states:
- {name: Reserve, type: operation, actions: [{functionRef: reserve, actionDataFilter: {toStateData: .reserved}}],
   transition: Charge}
- {name: Charge, type: operation, transition: End,
   actions: [{functionRef: {refName: charge, arguments: {amount: .amount}}, actionDataFilter: {toStateData: .charged}}]}
- {name: End, type: inject, data: {over: true}, end: true}
"""
KEY, OTHER, READER = "a-key-of-the-shop-0001", "a-key-of-the-bank-0002", "a-key-that-reads-0003"


def seen(shown: str) -> str:
    return shown.partition('name="seen" value="')[2].partition('"')[0]


async def send(client: httpx.AsyncClient, path: str, shown: str, **fields: str) -> httpx.Response:
    """Send the form of a plan that was *shown*."""
    return await post(client, f"{path}/rerun", shown, **{"seen": seen(shown), "action": "", **fields})


async def test_from_a_state(bench: Bench) -> None:
    """The states that it has entered are offered; the plan of one says what is repeated, and it is done once."""
    async with failed(bench, console=True) as (client, _, calls, handle):
        path = f"/console/instances/{handle.id}"
        shown = await page(client, path)
        offered = await page(client, f"{path}/rerun")
        plan = html.unescape(await page(client, f"{path}/rerun?from=First"))
        made = list(calls.made)
        never = await client.get(f"{path}/rerun?from=Frist")
        begun = await send(client, path, plan, begin="true", **{"from": "First"})
        await until(client, path, '<span class="status completed">')
        stale = await send(client, path, plan, begin="true", **{"from": "First"})
        again = await page(client, path)
    assert f'href="{path}/rerun"' in shown
    assert re.findall(r"rerun\?from=(\w+)\"", offered) == ["Last", "Wait", "First"]
    assert f"{path}/rerun?from=First&amp;action=first" in offered
    assert "Done again: <strong>First, Wait, Last</strong>." in plan
    assert "<td>calls first</td><td>First/first#1</td><td>completed</td>" in plan
    assert "<td>calls last</td><td>Last/last#1</td><td>failed</td>" in plan
    assert "1 event has been received since" in plan
    assert made == ["first", "last"]
    assert (never.status_code, "did you mean" in html.unescape(never.text).lower()) == (422, True)
    assert (begun.status_code, begun.headers["location"]) == (303, f"{path}?done=rerun")
    assert (stale.status_code, "has continued meanwhile" in stale.text) == (409, True)
    assert seen(stale.text) not in ("", seen(plan))
    assert calls.made == ["first", "last", "first", "last"]
    assert "run again from First" in again
    assert "Rerun…" in again


async def test_changed_data(bench: Bench) -> None:
    """What is wrong with the data is said beside them, and changes are shown before they are made."""
    async with failed(bench, console=True) as (client, _, calls, handle):
        path = f"/console/instances/{handle.id}"
        plan = await page(client, f"{path}/rerun?from=Last")
        retrying = await page(client, f"{path}/retry")
        wrong = [
            await send(client, path, plan, begin="true", data=text, **{"from": "Last"})
            for text in ("{", "[1]", "</textarea><script>")
        ]
        changed = await send(client, path, plan, data='{"n": 7, "<b>": 1}', **{"from": "Last"})
        made = list(calls.made)
        done = await send(
            client, path, changed.text, begin="true", drop="true", data='{"n": 7}', **{"from": "Last"}
        )  # fmt: skip
        output = await bench.client.get_workflow_handle(handle.id).result()
        acted = await client.get(f"{path}/rerun?from=Last&action=last")
        both = await post(
            client, f"{path}/rerun", acted.text, seen=seen(acted.text), action="last", data="{}", **{"from": "Last"}
        )
    assert f"{path}/rerun?from=Last" in retrying
    assert [one.status_code for one in wrong] == [422] * 3
    assert "this is not JSON" in wrong[0].text
    assert "this is not an object" in wrong[1].text
    assert "</textarea><script>" not in wrong[2].text
    assert '"n": 7' in html.unescape(changed.text)
    assert "<b>" not in changed.text
    assert made == ["first", "last"]
    assert done.status_code == 303
    assert output == {"first": 1, "n": 7, "last": 2}
    assert 'name="data"' not in acted.text
    assert (both.status_code, "cannot be changed" in both.text) == (422, True)


DSL = """
document: {dsl: '1.0.0', namespace: default, name: NAME, version: '1.0.0'}
do:
- first: {set: {n: 1}}
- second: {listen: {to: {one: {with: {type: go}}}}}
"""


async def test_a_task_of_dsl(bench: Bench) -> None:
    """DSL 1.0 has tasks, and its instances are said to have entered these."""
    name = f"console-rerun-{next(Bench.numbers)}"
    definition = load(DSL.replace("NAME", name))
    async with working(bench, definition, console=True) as (client, worker):
        handle = await worker.start({})
        path = f"/console/instances/{handle.id}"
        await until(client, path, "Waiting for")
        offered = await page(client, f"{path}/rerun")
        never = html.unescape((await client.get(f"{path}/rerun?from=frist")).text)
        first = re.search(r"rerun\?from=([^\"&]*first[^\"&]*)\"", offered)
        assert first is not None
        plan = await page(client, f"{path}/rerun?from={first[1]}")
        await handle.terminate()
    assert "Run again from which task?" in offered
    assert "has never entered a task 'frist'" in never
    assert "Its current run is terminated." in plan


async def test_tenants(bench: Bench) -> None:
    """Another tenant finds nothing; a key that may rerun and not read sees the plan without the data."""
    keys = {"mine": KEY, "other": OTHER, "reader": READER}
    only = {"mine": frozenset({Operation.RERUN}), "reader": frozenset({Operation.READ})}
    tenants = {
        name: Tenant(
            workflows=("else" if name == "other" else "gone-on",), keys=(key,),
            operations=only.get(name, frozenset(Operation)),
        )
        for name, key in keys.items()
    }  # fmt: skip
    async with failed(bench, console=True, tenants=tenants) as (client, _, calls, handle):
        path, told = f"/console/instances/{handle.id}", {}
        for name, key in keys.items():
            await client.post("/console/login", data={"key": key})
            told[name] = [await client.get(f"{path}/rerun{query}") for query in ("", "?from=Last")]
    assert [one.status_code for one in told["other"]] == [404, 404]
    assert [one.status_code for one in told["reader"]] == [403, 403]
    assert [one.status_code for one in told["mine"]] == [200, 200]
    assert "Data with which it begins" not in told["mine"][1].text
    assert calls.made == ["first", "last"]


_CHROMIUM, _DRIVER = shutil.which("chromium"), shutil.which("chromedriver")


@pytest.fixture(params=["light", "dark", "phone"])
def browser(request: pytest.FixtureRequest) -> Iterator[webdriver.Chrome]:
    if not (_CHROMIUM and _DRIVER):
        pytest.skip("chromium and chromium-driver of Debian are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = _CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,1000"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(_DRIVER))
    scheme = "dark" if request.param == "dark" else "light"
    features = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", features)
    if request.param == "phone":
        metrics = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        yield driver
    finally:
        driver.quit()


@asynccontextmanager
async def charged(bench: Bench) -> AsyncIterator[tuple[httpx.AsyncClient, Running, Calls]]:
    calls = Calls("charge")
    async with working(
        bench, named(CHARGE), functions=calls.functions("reserve", "charge"), console=True
    ) as (client, worker):  # fmt: skip
        yield client, worker, calls


@pytest.mark.temporal
async def test_in_a_browser(bench: Bench, browser: webdriver.Chrome) -> None:
    """A person retries an instance that fails again, changes its data, and runs its failed state again with them."""
    async with charged(bench) as (client, worker, calls):
        handle = await worker.start({"amount": 1})
        await ended(handle)
        address = f"{str(client.base_url).rstrip('/')}/console/instances/{handle.id}"

        def retry() -> None:
            person = Person(browser)
            browser.get(address)
            person.see("failed")
            browser.find_element(By.LINK_TEXT, "Retry…").click()
            person.see("It continues in Charge, where it failed")
            person.see("calls charge")
            _fits(browser)
            browser.find_element(By.LINK_TEXT, "begin Charge again").click()
            person.see("Run again from Charge?")
            person.see('"amount": 1')
            person.write("data", "{")
            person.press("Show the data with these changes")
            person.see("this is not JSON")
            person.write("data", '{"amount": 12}')
            person.press("Show the data with these changes")
            person.see('"amount": 12')
            _fits(browser)
            calls.broken.clear()
            person.press("Run again from Charge")
            person.see("The instance runs again.")
            person.see("completed")
            person.see("run again from Charge")
            _fits(browser)
            log = browser.get_log("browser")  # type: ignore[no-untyped-call]  # of selenium
            assert [one for one in log if one["source"] != "network"] == []

        await asyncio.to_thread(retry)
        output = await bench.client.get_workflow_handle(handle.id).result()
    assert output["amount"] == 12
    assert calls.made == ["reserve", "charge", "charge"]


def _fits(browser: webdriver.Chrome) -> None:
    """Assert that the page is no wider than the window, and that its text is told from its background."""
    wide: Any = browser.execute_script("return document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 0
    texts = [one.text for one in browser.find_elements(By.XPATH, "//main//button") if one.is_displayed()]
    assert all(texts)
    style = "const s = getComputedStyle(document.querySelector('main h1')); return s.color"
    ground = "return getComputedStyle(document.body).backgroundColor"
    assert browser.execute_script(style) != browser.execute_script(ground)
