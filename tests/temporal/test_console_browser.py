"""The console in a real browser: a form with a wrong and a right value, a page that moves, and an event sent."""

import asyncio
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

from tests.temporal.conftest import Bench, named
from tests.temporal.test_console import APPROVAL
from tests.temporal.test_console_lists import ON, approval, decline, with_attributes
from tests.temporal.test_gateway import served, working

_CHROMIUM, _DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
needs_browser = pytest.mark.skipif(
    not (_CHROMIUM and _DRIVER), reason="chromium and chromium-driver of Debian are not installed"
)
pytestmark = [pytest.mark.temporal, needs_browser]
MOVING = (StaleElementReferenceException, NoSuchElementException)  # a page replaces what has changed while one looks


def chromium(look: str = "light") -> Iterator[webdriver.Chrome]:
    """Yield a browser in `light` or `dark` colours, or on a `phone`."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(_CHROMIUM)
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,1000"):
        options.add_argument(argument)
    if look == "phone":
        options.add_experimental_option(
            "mobileEmulation", {"deviceMetrics": {"width": 390, "height": 844, "pixelRatio": 2}}
        )
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(str(_DRIVER)))
    try:
        if look == "dark":
            dark = {"name": "prefers-color-scheme", "value": "dark"}
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [dark]})
        yield driver
    finally:
        driver.quit()


def see(driver: webdriver.Chrome, text: str) -> None:
    """Wait until the page says *text*; it may still be the page before this one, which goes while it is read."""
    waiting = WebDriverWait(driver, 30, ignored_exceptions=MOVING)
    waiting.until(lambda one: text in one.find_element(By.TAG_NAME, "main").text, text)


@pytest.fixture
def browser() -> Iterator[webdriver.Chrome]:
    yield from chromium()


class Person:
    def __init__(self, driver: webdriver.Chrome) -> None:
        self._driver = driver

    def see(self, text: str) -> None:
        self._do(lambda: text in self._driver.find_element(By.TAG_NAME, "main").text, f"{text!r} is not seen")

    def write(self, name: str, text: str) -> None:
        def write() -> bool:
            field = self._driver.find_element(By.NAME, name)
            field.clear()
            field.send_keys(text)
            return True

        self._do(write, f"there is no field {name}")

    def press(self, label: str) -> None:
        def press() -> bool:
            self._driver.find_element(By.XPATH, f"//button[normalize-space()='{label}']").click()
            return True

        self._do(press, f"there is no button {label}")

    def _do(self, what: Callable[[], bool], failure: str) -> None:
        WebDriverWait(self._driver, 20, ignored_exceptions=MOVING).until(lambda _: what(), failure)

    def run_script(self, text: str) -> Any:
        return self._driver.execute_script(text)


async def test_a_person_starts_an_instance_and_answers_it(bench: Bench, browser: webdriver.Chrome) -> None:
    """The page of the instance moves by itself; nothing is blocked by its policy, and no script of a name runs."""
    approval = named(APPROVAL)
    hostile = named("""
id: 'ID-<img src=x onerror=document.title=1>'
version: '1.0'
specVersion: '0.8'
states: [{name: '<img src=x onerror="document.title=1">', type: inject, data: {}, end: true}]
""")
    async with working(bench, approval, hostile, console=True) as (client, _):
        base = str(client.base_url).rstrip("/")

        instances: list[str] = []

        def visit() -> None:
            person = Person(browser)
            browser.get(f"{base}/console/definitions")
            person.see("<img src=x")
            assert browser.find_elements(By.XPATH, "//main//img") == []
            browser.find_element(By.LINK_TEXT, approval.id).click()
            person.write("/item", "mouse")
            person.write("/quantity", "0")
            person.press("Start")
            person.see("less than the minimum of 1")
            person.write("/quantity", "2\n")
            assert "/definitions/" in browser.current_url
            person.press("Start")
            person.see("Send Approved")
            instances.append(browser.current_url.rpartition("/")[2])
            person.write("/by", "x")
            person.press("Send Approved")
            person.see("too short")
            assert "/console/tasks/" in browser.current_url
            browser.get(f"{base}/console/instances/{instances[0]}")
            person.run_script("window.isTheSame = true")
            WebDriverWait(browser, 20).until(lambda one: one.find_elements(By.CSS_SELECTOR, "#pictures svg"))

        await asyncio.to_thread(visit)
        answered = await client.post(f"/tasks/{instances[0]}", params={"event": "Approved"}, json={"by": "the boss"})
        assert answered.status_code < 300, answered.text

        def watch() -> None:
            person = Person(browser)
            person.see("completed")
            person.see('"by": "the boss"')
            assert person.run_script("return window.isTheSame")
            log = browser.get_log("browser")  # type: ignore[no-untyped-call]  # of selenium
            assert [one for one in log if one["source"] != "network"] == []
            assert browser.title != "1"

        await asyncio.to_thread(watch)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 400)])
async def test_a_list_keeps_the_selection_while_it_changes(browser: webdriver.Chrome, scheme: str, width: int) -> None:
    """Times are local; a selection is retried with three clicks, and nothing is wider than the window."""
    cards = {"is_open": False}
    definition = approval("watched")

    def pay(data: Any) -> Any:
        return 1 if cards["is_open"] else decline(data)

    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": "Asia/Kolkata"})
    browser.set_window_size(width, 1000)
    async with (
        with_attributes() as bench,
        bench.worker(definition, interceptors=[ON], pay=pay) as running,
        served(bench, [definition], running.queue, console=True) as client,
    ):
        base = str(client.base_url).rstrip("/")
        first, second = [
            await running.start_awaiting("Approved", {}, workflow_id=f"watched-{number}") for number in range(2)
        ]
        event = {"specversion": "1.0", "id": "1", "type": "approved", "source": "people"}

        def choose() -> None:
            person = Person(browser)
            browser.get(f"{base}/console/instances")
            person.see("waits for Approved for")
            browser.find_element(By.CSS_SELECTOR, f"input[value='{first.id}']").click()
            person.see("watched-1")

        await asyncio.to_thread(choose)
        await bench.handle(first).signal("event", event)

        def go_on() -> None:
            person = Person(browser)
            person.see("Declined")
            box = browser.find_element(By.CSS_SELECTOR, f"input[value='{first.id}']")
            assert box.is_selected()
            assert "1 selected" in browser.find_element(By.CLASS_NAME, "toolbar").text
            times = browser.find_elements(By.CSS_SELECTOR, "time.moment")
            assert "ago" in times[1].text or "now" in times[1].text or "for" in times[0].text
            assert " UTC, here " in str(times[0].get_attribute("title"))
            wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
            assert person.run_script(wide) <= 0
            cards["is_open"] = True
            person.press("Retry…")
            person.see("Retry 1 instance?")
            person.press("Retry 1 instance")
            person.see("1 of 1 instance retried")
            browser.get(f"{base}/console/overview")
            person.see("By definition")
            assert person.run_script(wide) <= 0
            log = browser.get_log("browser")  # type: ignore[no-untyped-call]  # of selenium
            assert [one for one in log if one["source"] != "network"] == []

        await asyncio.to_thread(go_on)
        await second.terminate()
