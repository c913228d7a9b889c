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
from tests.temporal.test_gateway import working

_CHROMIUM, _DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = [
    pytest.mark.temporal,
    pytest.mark.skipif(not (_CHROMIUM and _DRIVER), reason="chromium and chromium-driver of Debian are not installed"),
]


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
        moving = (StaleElementReferenceException, NoSuchElementException)
        WebDriverWait(self._driver, 20, ignored_exceptions=moving).until(lambda _: what(), failure)

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
            browser.get(f"{base}/console")
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
