"""All can use every page of the console and the gateway: axe-core finds nothing, in light, dark and on a phone."""

import asyncio
import re
from collections import Counter
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

from swf_temporal.base.data import JSON
from swf_temporal.http.console.application import PAGES
from swf_temporal.settings.http import Operation, Tenant
from tests.temporal.conftest import Bench, named
from tests.temporal.test_console import APPROVAL, KEY, ONLY_WAITS, PEOPLE, UNDONE
from tests.temporal.test_console_browser import browser, pytestmark, see
from tests.temporal.test_gateway import working

__all__ = ["browser", "pytestmark"]

_AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
_COLORS = ["color-contrast", "link-in-text-block"]
_MODES = {
    "light": ("light", 1280, 1000, None),
    "dark": ("dark", 1280, 1000, _COLORS),
    "phone": ("light", 390, 844, None),
}
"""The color scheme, the size of the window, and the rules that depend on the mode, if not all do."""
_FILES = {"/console/definitions/{id}/source", "/console/instances/{id}/stream", "/console/lists/stream"}
"""What is no page."""
_MOST = 2
"""The number of pages of each kind that are looked at."""


class Inspector:
    """Looks at all pages that links lead to, and notes what is wrong with them."""

    def __init__(self, driver: webdriver.Chrome, base: str) -> None:
        self._driver = driver
        self._base = base
        self._seen = set[str]()
        self.kinds = Counter[str]()
        self.wrong = list[str]()

    def set_mode(self, name: str) -> None:
        scheme, width, height, _ = _MODES[name]
        do = self._driver.execute_cdp_cmd
        do("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        do("Emulation.setDeviceMetricsOverride", size)

    def crawl(self, *paths: str) -> None:
        found = list(paths)
        for path in found:  # which grows
            kind = _kind_of(path)
            is_enough = self.kinds[kind] >= _MOST and path not in paths
            if path in self._seen or kind in _FILES or is_enough:
                continue
            self._seen.add(path)
            self.kinds[kind] += 1
            self._driver.get(self._base + path)
            if self._driver.find_elements(By.ID, "pictures"):
                self.wait_for("#drawn")
            self.look(path)
            links = [one.get_attribute("href") or "" for one in self._driver.find_elements(By.CSS_SELECTOR, "a[href]")]
            own = [link.partition("#")[0] for link in links if link.startswith(f"{self._base}/console")]
            found += [link.removeprefix(self._base) for link in own]

    def wait_for(self, selector: str) -> None:
        """Wait until a script has made that element."""
        WebDriverWait(self._driver, 30).until(lambda one: one.find_elements(By.CSS_SELECTOR, selector), selector)

    def look(self, what: str, *, but: str = "#nothing") -> None:
        """Note what axe finds on the page that is shown, *but* for one part of it, in all modes."""
        self._driver.execute_script(_AXE)
        for mode in _MODES:
            self.set_mode(mode)
            rules = _MODES[mode][3]
            options = {"resultTypes": ["violations"], **({"runOnly": rules} if rules else {})}
            run = "axe.run({exclude: [[arguments[1]]]}, arguments[0]).then(arguments[2])"
            found = self._driver.execute_async_script(run, options, but)
            for one in found["violations"]:
                places = [f"{node['target']} {node['html'][:100]} {_why(node)}" for node in one["nodes"][:3]]
                self.wrong.append(f"{what} ({mode}): {one['id']}: {one['help']}\n    " + "\n    ".join(places))
            wide = self._driver.execute_script("return document.documentElement.scrollWidth - window.innerWidth")
            if wide > 0:
                self.wrong.append(f"{what} ({mode}): the page is {wide} pixels wider than the window")
        self.set_mode("light")


def _why(node: Any) -> str:
    said = [one["message"] for one in (*node["any"], *node["all"], *node["none"])]
    return said[0][:200] if said else ""


def _kind_of(path: str) -> str:
    """Return the route of a page."""
    place = urlsplit(path).path
    for method, route in PAGES:
        if method == "GET" and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", route), place):
            return route
    return place


_BROKEN = """
functions: [{name: f, type: expression, operation: 'error("no")'}]
states: [{name: A, type: operation, actions: [{functionRef: f}], end: true}]
"""


@pytest.mark.timeout(900)
async def test_everybody_can_use_every_page(bench: Bench, browser: webdriver.Chrome) -> None:
    """Also what is refused, what asks first, and forms with errors; all that links lead to is looked at."""
    approval, people, other, broken = (named(one) for one in (APPROVAL, PEOPLE, ONLY_WAITS, _BROKEN))
    undone = named(UNDONE.replace("OTHER", other.id))
    tenants = {"shop": Tenant(workflows=("*",), operations=frozenset(Operation), keys=(KEY,))}
    definitions = (undone, approval, people, other, broken)
    async with working(bench, *definitions, console=True, tenants=tenants) as (client, _):
        base, headers = str(client.base_url).rstrip("/"), {"X-API-Key": KEY}
        ids = {}
        for one, data in ((undone, {}), (people, {"boss": "eve"}), (broken, {})):
            started = await client.post(f"/workflows/{one.id}", json=data, headers=headers)
            ids[one.id] = started.json()["id"]
        listed: list[JSON] = []
        async with asyncio.timeout(60):
            while len(listed) < len(ids) + 2:  # with two sub-workflows
                listed = (await client.get("/instances", params={"limit": 100}, headers=headers)).json()["instances"]
                listed = [one for one in listed if any(str(id_) in str(one) for id_ in ids.values())]
                await asyncio.sleep(0.1)
        failed, task = f"/console/instances/{ids[broken.id]}", f"/console/tasks/{ids[people.id]}?event=Decided"

        def visit() -> None:
            inspector = Inspector(browser, base)
            browser.get(f"{base}/console")
            inspector.look("login")
            browser.find_element(By.NAME, "key").send_keys("wrong\n")
            inspector.look("login, refused")
            browser.find_element(By.NAME, "key").send_keys(KEY + "\n")
            see(browser, "By definition")
            browser.get(base + task)
            for field, text in (("/limit", "1e99999"), ("/notes/0", "x")):
                browser.find_element(By.NAME, field).send_keys(text)
            browser.find_element(By.XPATH, "//button[.='Send Decided']").click()
            see(browser, "This number is too large.")
            inspector.look("a task, refused")
            inspector.crawl(
                *("/console/definitions", failed, f"{failed}/retry", f"{failed}/pictures", task, "/console/nothing"),
                *("/console/overview", "/console/instances?status=nothing"),
                *("/console/changes/retry?all=1", "/console/changes/terminate?all=1"),
            )
            browser.get(f"{base}/docs")
            inspector.wait_for("#key:not([hidden])")
            inspector.look("the documentation, without a key")
            browser.find_element(By.ID, "token").send_keys(KEY + "\n")
            inspector.wait_for(".swagger-ui .opblock")
            inspector.look("the documentation", but=".swagger-ui")  # what that library makes is its own
            assert inspector.wrong == [], "\n" + "\n".join(inspector.wrong)
            assert {route for method, route in PAGES if method == "GET"} - _FILES - inspector.kinds.keys() == set()

        await asyncio.to_thread(visit)


async def test_what_ends_an_instance_is_done_by_the_keyboard(bench: Bench, browser: webdriver.Chrome) -> None:
    """The first key leads past the navigation; Enter in the reason writes a line, and on the button it acts."""
    people = named(PEOPLE)
    async with working(bench, people, console=True) as (client, worker):
        handle = await worker.start({"boss": "eve"})
        await worker.awaiting(handle, "Decided")
        base = str(client.base_url).rstrip("/")

        def press(*keys: str) -> str:
            webdriver.ActionChains(browser).send_keys(*keys).perform()
            focused = browser.switch_to.active_element
            return focused.get_attribute("id") or focused.text

        def visit() -> None:
            browser.get(f"{base}/console/instances/{handle.id}/terminate")
            assert press(Keys.TAB) == "To the content"
            press(Keys.ENTER)
            reached = list[str]()
            while "reason" not in reached:
                assert len(reached) < 20, reached
                reached.append(press(Keys.TAB))
            press("too", Keys.ENTER, "late")
            assert browser.current_url.partition("#")[0].endswith("/terminate")
            assert press(Keys.TAB) == "Terminate the instance"
            press(Keys.ENTER)
            see(browser, "The instance was terminated.")
            see(browser, "too late")

        await asyncio.to_thread(visit)
