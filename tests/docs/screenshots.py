"""Makes the pictures of the page about the console: `python -m tests.docs.screenshots`.

It serves the example of orders and a small approval, starts instances of them, and looks at the console with Chromium.
"""

import asyncio
import shutil
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

from swf_temporal.http.gateway.serving import gateway
from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.loading import load
from swf_temporal.operations.client import Client
from swf_temporal.sdk.worker import Worker
from swf_temporal.settings.http import GatewaySettings
from swf_temporal.settings.values import Address
from swf_temporal.temporal.server import local_server

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


async def main() -> None:
    definition = load(DEFINITION)
    async with local_server() as server:
        client = Client.of(server)
        async with Worker(client, definitions=[definition]):
            settings = GatewaySettings(address=Address("127.0.0.1", 0)).replace(console=True)
            async with gateway(settings, Catalogue([definition]), {None: client}, "") as url:
                await client.start(definition, {"item": "mouse", "quantity": 2}, workflow_id="buy-mouse")
                await asyncio.to_thread(_look, f"{url}/console")


def _look(base: str) -> None:
    IMAGES.mkdir(exist_ok=True)
    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver") or ""))
    try:
        for name, path, height in (
            ("definition", "definitions/approval", 900),
            ("instance", "instances/buy-mouse", 1700),
        ):
            driver.set_window_size(1100, height)
            driver.get(f"{base}/{path}")
            WebDriverWait(driver, 20).until(lambda one: one.find_elements(By.CSS_SELECTOR, ".picture svg"))
            driver.save_screenshot(str(IMAGES / f"console-{name}.png"))
    finally:
        driver.quit()


if __name__ == "__main__":
    asyncio.run(main())
