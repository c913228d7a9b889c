"""Makes the pictures of the page about the console: `python -m tests.docs.screenshots`.

It serves the example of orders and a small approval, starts instances of them, and looks at the console with Chromium.
"""

import asyncio
import shutil
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.expected_conditions import presence_of_element_located
from selenium.webdriver.support.wait import WebDriverWait

from swf_temporal.base.data import JSON
from swf_temporal.http.gateway.serving import gateway
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import load
from swf_temporal.languages.port import Definition
from swf_temporal.operations.client import Client
from swf_temporal.sdk.worker import Worker
from swf_temporal.settings.http import GatewaySettings
from swf_temporal.settings.values import Address
from swf_temporal.settings.worker import WorkerSettings
from swf_temporal.temporal.search_attributes import needed_by, set_up
from swf_temporal.temporal.server import local_server
from swf_temporal.temporal.start_options import BUSINESS_KEY

IMAGES = Path(__file__).parents[2] / "docs" / "images"
DEFINITION = """\
id: approval
name: Approval of purchases
version: '1.0'
specVersion: '0.8'
description: Asks a person whether something may be bought.
dataInputSchema:
  schema:
    type: object
    required: [item, quantity]
    properties:
      item: {type: string, description: What is to be bought}
      quantity: {type: integer, minimum: 1, default: 1}
      kind: {enum: [hardware, software, service]}
events:
- name: Approved
  type: approved
  source: people
  metadata: {dataSchema: {type: object, required: [by], properties: {by: {type: string}, note: {type: string}}}}
- {name: Denied, type: denied, source: people}
functions: [{name: note, type: expression, operation: '.noted = true'}]
states:
- {name: Prepare, type: operation, actions: [{functionRef: note}], transition: Decide}
- name: Decide
  type: switch
  eventConditions:
  - {eventRef: Approved, transition: Buy, eventDataFilter: {toStateData: .approval}}
  - {eventRef: Denied, transition: Tell}
  defaultCondition: {transition: Tell}
  timeouts: {eventTimeout: P2D}
- {name: Buy, type: inject, data: {bought: true}, end: true}
- {name: Tell, type: inject, data: {bought: false}, end: true}
"""


PAYMENTS = """\
id: payments
name: Payments
version: '1.0'
specVersion: '0.8'
functions:
- {name: reserve, type: expression, operation: '.reserved = true'}
- {name: charge, type: expression, operation: 'if .amount > 500 then error("the card was declined") else . end'}
states:
- {name: Reserve, type: operation, actions: [{functionRef: reserve}], transition: Charge}
- {name: Charge, type: operation, actions: [{functionRef: charge}], end: true}
"""


async def main() -> None:
    definition, payments = load(DEFINITION), load(PAYMENTS)
    async with local_server() as server:
        await set_up(server.client, needed_by([definition, payments]))
        client = Client.of(server)
        async with Worker(client, definitions=[definition, payments], settings=WorkerSettings(search_attributes=True)):
            settings = GatewaySettings(address=Address("127.0.0.1", 0)).replace(console=True)
            async with gateway(settings, Catalogue([definition, payments]), {None: client}, "") as url:
                await _begin(client, definition, payments)
                await asyncio.to_thread(_look, f"{url}/console")


async def _begin(client: Client, definition: Definition, payments: Definition) -> None:
    """Begin instances, and wait until lists have them as they are to be seen."""
    for number, item in enumerate(("keyboard", "screen", "desk", "lamp", "mouse")):
        memo: dict[str, JSON] = {BUSINESS_KEY: f"A-{17 + number}"}
        await client.start(definition, {"item": item, "quantity": 2}, workflow_id=f"buy-{item}", memo=memo)
    for number in range(9):
        await client.start(payments, {"amount": 120 * number}, workflow_id=f"payment-{number}")
    async with asyncio.timeout(60):
        for wanted in ("SwfWaitsFor IS NOT NULL", "CloseTime IS NOT NULL"):
            while (await client.temporal.count_workflows(wanted)).count < 5:
                await asyncio.sleep(0.2)
    await asyncio.sleep(2)


def _look(base: str) -> None:
    IMAGES.mkdir(exist_ok=True)
    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver") or ""))
    try:
        for name, path, height, shown in (
            ("definition", "definitions/approval", 900, ".picture svg"),
            ("instance", "instances/buy-mouse", 1700, ".picture svg"),
            ("overview", "overview?period=hour", 860, ".charts svg"),
            ("instances", "instances", 1050, "#choose-all:not([hidden])"),
            ("many", "changes/retry?all=1&error=ExpressionFailed", 760, ".ask button"),
        ):
            driver.set_window_size(1100, height)
            driver.get(f"{base}/{path}")
            WebDriverWait(driver, 20).until(presence_of_element_located((By.CSS_SELECTOR, shown)))
            driver.save_screenshot(str(IMAGES / f"console-{name}.png"))
    finally:
        driver.quit()


if __name__ == "__main__":
    asyncio.run(main())
