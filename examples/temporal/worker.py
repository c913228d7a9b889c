"""A worker of the payments team: plain activities of the Temporal SDK, which know nothing of definitions."""

import asyncio
import logging
import os
from dataclasses import dataclass

from temporalio import activity
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

PRICES = {"pen": 2, "book": 15}


@dataclass
class Cart:
    """An order of a customer."""

    items: list[str]


@dataclass
class Bill:
    """Who owes how much."""

    customer: str
    price: int


@activity.defn(name="PriceOf")
async def price_of(cart: Cart) -> int:
    """Add up a cart."""
    return sum(PRICES[item] for item in cart.items)


@activity.defn(name="ChargeCard")
async def charge_card(card: str, price: int) -> str:
    """Charge a card, if the bank answers and the card is good."""
    if activity.info().attempt == 1:
        raise ApplicationError("the bank did not answer", type="BankAway")
    if card.startswith("0000"):
        raise ApplicationError(f"the card has no {price} left", type="CardDeclined", non_retryable=True)
    return f"charged {price}"


@activity.defn(name="SendInvoice")
async def send_invoice(bill: Bill) -> dict[str, str | int]:
    """Write an invoice."""
    return {"to": bill.customer, "price": bill.price, "number": "I-1"}


async def main() -> None:
    """Work until stopped."""
    client = await Client.connect(os.environ["TEMPORAL_ADDRESS"])
    async with Worker(client, task_queue="payments", activities=[price_of, charge_card, send_invoice]):
        print("works on the task queue 'payments'", flush=True)  # noqa: T201 - the program that started it reads this
        await asyncio.Event().wait()


if __name__ == "__main__":
    # The SDK logs every failed attempt with its traceback; here they are part of the story.
    logging.getLogger("temporalio").setLevel(logging.CRITICAL)
    asyncio.run(main())
