"""Graphs, timelines and steps in a real browser: in light and dark colours, and on a phone."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

from tests.temporal.conftest import Bench, named
from tests.temporal.test_console_browser import chromium, pytestmark, see  # noqa: F401 - the marks of all in a browser
from tests.temporal.test_console_steps import ORDER, refuse
from tests.temporal.test_gateway import working
from tests.temporal.test_rerunning import ended

LOOKS = ["light", "dark", "phone"]
FORTY = "events: [{name: Go, type: go, source: people}, {name: On, type: on, source: people}]\nstates:\n" + "".join(
    f"- {{name: State {number}, type: event, onEvents: [{{eventRefs: [{event}]}}], transition: State {number + 1}}}\n"
    if (event := {25: "Go", 26: "On"}.get(number))
    else f"- {{name: State {number}, type: inject, data: {{}}, "
    + ("end: true}\n" if number == 39 else f"transition: State {number + 1}}}\n")
    for number in range(40)
)
_SEEN = """
const found = arguments[0].querySelector(`g[data-path="${arguments[1]}"] > .frame`);
const [node, frame] = [found.getBoundingClientRect(), arguments[0].getBoundingClientRect()];
return Math.min(node.bottom, frame.bottom) > Math.max(node.top, frame.top)
  && Math.min(node.right, frame.right) > Math.max(node.left, frame.left);
"""


@pytest.fixture(params=LOOKS)
def look(request: pytest.FixtureRequest) -> Iterator[webdriver.Chrome]:
    yield from chromium(str(request.param))


class Viewer:
    """The graph on the page of an instance."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver
        self.until(lambda: driver.find_elements(By.CSS_SELECTOR, ".viewer svg"))
        self.frame = driver.find_element(By.CSS_SELECTOR, ".viewer .picture")

    def until(self, holds: Callable[[], Any]) -> None:
        WebDriverWait(self.driver, 30).until(lambda _: holds())

    def press(self, label: str) -> None:
        button = self.driver.find_element(By.XPATH, f"//div[@class='zoom']/button[normalize-space()='{label}']")
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
        button.click()

    @property
    def width(self) -> float:
        return float(
            self.driver.execute_script("return arguments[0].querySelector('svg').getAttribute('width')", self.frame)
        )

    @property
    def place(self) -> list[float]:
        script = (
            "const f = arguments[0]; return [f.scrollLeft, f.scrollTop, window.scrollX, window.scrollY].map(Math.round)"
        )
        return list(self.driver.execute_script(script, self.frame))

    def shows(self, path: str) -> bool:
        return bool(self.driver.execute_script(_SEEN, self.frame, path))

    def fits(self) -> bool:
        script = (
            "const f = arguments[0]; return f.scrollWidth <= f.clientWidth + 1 && f.scrollHeight <= f.clientHeight + 1"
        )
        return bool(self.driver.execute_script(script, self.frame))


def _no_complaint(driver: webdriver.Chrome) -> None:
    log = driver.get_log("browser")  # type: ignore[no-untyped-call]  # of selenium
    assert [one for one in log if one["source"] != "network"] == []
    assert driver.execute_script("return document.documentElement.scrollWidth <= window.innerWidth"), driver.current_url


async def test_forty_states(bench: Bench, look: webdriver.Chrome) -> None:
    """A large graph opens where it is; an update keeps its zoom and its place, and the page's; it can be fitted."""
    forty = named(FORTY)
    async with working(bench, forty, console=True) as (client, worker):
        handle = await worker.start_awaiting("Go", {})

        def open_it() -> tuple[Viewer, list[float], float]:
            look.get(f"{client.base_url}/console/instances/{handle.id}")
            viewer = Viewer(look)
            assert viewer.shows("State 25")
            assert not viewer.shows("State 0")
            viewer.press("+")
            viewer.press("Where it is")
            assert viewer.shows("State 25")
            look.execute_script("arguments[0].scrollIntoView({block: 'start'})", viewer.frame)
            return viewer, viewer.place, viewer.width

        viewer, place, width = await asyncio.to_thread(open_it)
        await worker.deliver(handle, "Go", {})
        await worker.awaiting(handle, "On")

        def watch() -> None:
            viewer.until(lambda: viewer.frame.find_elements(By.CSS_SELECTOR, "g[data-path='State 26'].waiting"))
            assert viewer.place[:2] == place[:2]
            assert (viewer.place[3] > 0, viewer.width) == (place[3] > 0, width)
            viewer.press("Where it is")
            assert viewer.shows("State 26")
            viewer.press("Fit")
            assert viewer.fits()
            _no_complaint(look)

        await asyncio.to_thread(watch)
        await handle.terminate()


async def test_from_the_graph_to_a_failed_call(bench: Bench, look: webdriver.Chrome) -> None:
    """Nodes, bars and entries are opened by a click or the keyboard; the page of a step suits every screen."""
    order = named(ORDER)
    functions = {"charge": {"ok": True}, "reserve": refuse}
    async with working(bench, order, functions=functions, console=True) as (client, worker):
        handle = await worker.start({"id": 42, "items": [1]})
        assert await ended(handle) is None
        page = f"{client.base_url}/console/instances/{handle.id}"

        def expect(text: str) -> None:
            see(look, text)
            _no_complaint(look)

        def visit() -> None:
            look.get(page)
            viewer = Viewer(look)
            viewer.press("Where it is")
            node = viewer.frame.find_element(By.CSS_SELECTOR, "g[data-path='Both/stock'] > a.open > rect")
            look.execute_script("arguments[0].scrollIntoView({block: 'center'})", node)
            node.click()
            expect("no stock")
            look.find_element(By.PARTIAL_LINK_TEXT, "take").click()
            expect("item <7> is not there")
            expect("Data when it failed")
            look.get(page)
            viewer = Viewer(look)
            bar = look.find_element(By.XPATH, "//*[local-name()='a'][contains(@aria-label, 'stock › take')]")
            bar.send_keys(Keys.ENTER)
            expect("Answer of the service")
            look.get(page)
            Viewer(look)  # after which nothing moves
            look.find_element(By.XPATH, "//ol[@class='trace']//a[normalize-space()='action failed']").click()
            expect("Answer of the service")

        await asyncio.to_thread(visit)
