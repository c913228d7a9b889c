"""The questions of operators, answered in a real browser with as many clicks as `docs/console.md` says."""

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.languages.loading import load
from swf_temporal.operations import schedules
from swf_temporal.operations.client import Client
from swf_temporal.temporal.schedules import schedule_id
from tests.temporal.building import inject, subflow
from tests.temporal.conftest import define, listed
from tests.temporal.test_console_browser import MOVING, chromium, needs_browser
from tests.temporal.test_console_lists import ON, approval, approve, begin, with_attributes
from tests.temporal.test_gateway import served

pytestmark = [pytest.mark.temporal, needs_browser]

PAGE = Path(__file__).parents[2] / "docs" / "console.md"


class Operator:
    """Looks for answers from the overview, and counts what is clicked and written."""

    def __init__(self, driver: webdriver.Chrome, base: str) -> None:
        self.driver, self._base = driver, base
        self.clicks = 0

    def begin(self) -> None:
        self.driver.get(f"{self._base}/console/overview?period=hour")
        self.clicks = 0

    def follow(self, text: str, within: str = "") -> None:
        """Click the link of *text*; *within* is the XPath of what has it."""
        self._click(f"{within}//a[normalize-space()='{text}']")

    def press(self, label: str) -> None:
        self._click(f"//button[normalize-space()='{label}']")

    def choose(self, label: str) -> None:
        self._click(f"//label[normalize-space()='{label}']/input")

    def write(self, label: str, text: str) -> None:
        """Write *text* in place of what is in the field."""

        def write(field: Any) -> None:
            field.clear()
            field.send_keys(text)

        self._do(f"//label[normalize-space()='{label}']/following-sibling::input", write)

    def sees(self, *texts: str) -> None:
        for text in texts:
            self._wait().until(
                lambda driver: text in driver.find_element(By.TAG_NAME, "main").text,  # noqa: B023 - it is called at once
                f"{text!r} is not seen on {self.driver.current_url}",
            )

    def _click(self, xpath: str) -> None:
        self._do(xpath, lambda one: one.click())

    def _do(self, xpath: str, act: Callable[[Any], object]) -> None:
        def done(driver: webdriver.Chrome) -> bool:
            act(driver.find_element(By.XPATH, xpath))
            return True

        self._wait().until(done, f"{xpath} is not on {self.driver.current_url}")
        self.clicks += 1

    def _wait(self) -> WebDriverWait[webdriver.Chrome]:
        return WebDriverWait(self.driver, 20, ignored_exceptions=MOVING)


def failed(one: Operator) -> None:
    one.follow("2 failed")
    one.sees("asked-0", "asked-1", "Declined")


def why(one: Operator) -> None:
    failed(one)
    one.follow("asked-0")
    one.sees("the card was declined")
    one.follow("Open the failed call")
    one.sees("Answer of the service", "limit of 100 reached")


def retried(one: Operator) -> None:
    one.driver.back()
    one.follow("Retry…")
    one.press("Continue in Pay")
    one.sees("completed")


def retried_all(one: Operator) -> None:
    one.follow("2 failed")  # an execution of what has been retried stays one that failed
    one.follow("Declined")
    one.write("Ended since", "2h")
    one.press("Show")
    one.choose("or all that match")
    one.press("Retry…")
    one.sees("Retry 1 instance?")
    one.press("Retry 1 instance")
    one.sees("1 of 1 instance retried")


def waiting(one: Operator) -> None:
    one.follow("Instances", "//header")
    one.follow("Approved")
    one.write("Waits or is there longer than", "1s")
    one.press("Show")
    one.sees("waits for Approved for", "asked-2", "asked-3")


def cancelled(one: Operator) -> None:
    one.choose("or all that match")
    one.press("Cancel…")
    one.sees("Cancel 2 instances?")
    one.press("Cancel 2 instances")
    one.sees("2 of 2 instances")


def who(one: Operator) -> None:
    found(one, "asked-2", "asked-2")
    one.follow("asked-2")
    one.sees("cancellation requested", "unauthenticated@")


def found(one: Operator, search: str = "key-asked-3", name: str = "asked-3") -> None:
    one.follow("Instances", "//header")
    one.write("Search", search)
    one.press("Show")
    one.sees(name)


def failing(one: Operator) -> None:
    row = one.driver.find_element(By.XPATH, "//section[h2='By definition']//tr[td[1]='asked']").text
    assert row == "asked 4 2 0 0 2 0 0"  # started, running, paused, completed, failed, cancelled and terminated


def scheduled(one: Operator) -> None:
    cells = one.driver.find_elements(By.XPATH, "//section[h2='Schedules']//tr[td[1]='yearly']/td")
    following = cells[1].find_element(By.TAG_NAME, "time").get_attribute("datetime")
    assert "-01-01T00:00:00" in str(following)
    assert cells[2].text == "never"


def subflows(one: Operator) -> None:
    one.driver.get(one.driver.current_url.partition("/overview")[0] + "/instances/parent")
    one.follow("Sub-workflows")
    one.sees("completed", "child")


# With whether it is asked from the overview, or goes on from the answer before.
QUESTIONS: tuple[tuple[str, Callable[[Operator], None], bool], ...] = (
    ("What failed in the last day?", failed, True),
    ("Is one definition failing more than others?", failing, True),
    ("Did the schedule run, and when will it again?", scheduled, True),
    ("Which wait for approval longer than a day?", waiting, True),
    ("Cancel these", cancelled, False),
    ("Who cancelled this?", who, True),
    ("Where is the order with the business key A-17?", found, True),
    ("What became of the sub-workflows of this one?", subflows, True),
    ("Why did this one fail, and with which answer?", why, True),
    ("How can it go on?", retried, False),
)


def told() -> Mapping[str, int]:
    """Return the clicks of each question as the page has them."""
    section = PAGE.read_text().partition("### Questions of operators")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([A-Z][^|]+) \| [^|]+ \| (\d+)[^|]* \|", section, re.MULTILINE)
    return {question: int(number) for question, number in rows}


@pytest.fixture
def browser() -> Iterator[webdriver.Chrome]:
    yield from chromium()


async def test_questions_take_the_clicks_that_the_page_says(browser: webdriver.Chrome) -> None:
    """What failed, why, who waits, who cancelled it, and what to do about it: from the overview."""
    definition, parent = approval("asked"), define(subflow("Begin", "child"), id="parent")
    child = define(inject("Only"), id="child")
    yearly = load(
        "id: yearly\nversion: '1.0'\nspecVersion: '0.8'\n"
        "start: {stateName: A, schedule: {cron: {expression: '0 0 1 1 *'}}}\n"
        "states: [{name: A, type: inject, data: {}, end: true}]"
    )
    known, cards = [definition, parent, child, yearly], {"are_taken": False}

    def pay(_: JSON) -> JSON:
        if cards["are_taken"]:
            return 1
        raise CallFailed(
            "the card was declined", name="Declined", code="402", status=402, body={"reason": "limit of 100 reached"}
        )

    async with (
        with_attributes() as bench,
        bench.worker(*known, interceptors=[ON], pay=pay) as running,
        served(bench, known, running.queue, console=True) as client,
    ):
        instances = await begin(running, "asked", 4)
        await approve(bench, *instances[:2])
        await (await running.start({}, workflow_id="parent", definition=1)).result()
        await schedules.apply(Client(bench.client), yearly, [], data={}, task_queue=running.queue, paused=False)
        for query, number in (("SwfErrorName = 'Declined'", 2), ("SwfWaitsFor = 'Approved'", 2)):
            await listed(bench.client, query, number)
        await listed(bench.client, "ParentWorkflowId = 'parent' AND ExecutionStatus = 'Completed'", 1)
        operator, counted = Operator(browser, str(client.base_url).rstrip("/")), {}

        def ask(question: str, answer: Callable[[Operator], None], *, anew: bool) -> None:
            if anew:
                operator.begin()
            before = operator.clicks
            answer(operator)
            counted[question] = operator.clicks - before

        for question, answer, anew in QUESTIONS:
            await asyncio.to_thread(ask, question, answer, anew=anew)
            cards["are_taken"] = question == "Why did this one fail, and with which answer?"
        await listed(bench.client, "SwfErrorName = 'Declined' AND ExecutionStatus = 'Failed'", 1)
        await asyncio.to_thread(ask, "Retry all that failed with this error since noon", retried_all, anew=True)
        await bench.client.get_schedule_handle(schedule_id("yearly")).delete()
    assert counted == told()
