"""The two functions that `refund.sw.yaml` calls: one blocks, and one is asynchronous."""

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from pydantic import BaseModel

from swf_temporal import Registry

registry = Registry()


class Order(BaseModel):
    """An order, as the workflow's data has it."""

    id: str
    paid: Decimal
    delivered: date


@dataclass
class Refund:
    """How much is paid back, and until when."""

    order: str
    amount: Decimal
    until: date


class WrongChecksumError(ValueError):
    """The account number was mistyped."""


@registry.custom("checkIban")
def check_iban(iban: str) -> dict[str, Any]:
    """Return the parts of an international account number (ISO 13616)."""
    compact = iban.replace(" ", "").upper()
    digits = "".join(str(int(char, 36)) for char in compact[4:] + compact[:4])
    if int(digits) % 97 != 1:
        raise WrongChecksumError(f"{compact[:4]}… is not an account number: its checksum is wrong")
    return {"country": compact[:2], "iban": compact}


@registry.custom("refundOf")
async def refund_of(order: Order, on: date) -> Refund:
    """Pay back everything within two weeks, and half of it later."""
    late = on > order.delivered + timedelta(weeks=2)
    return Refund(order.id, order.paid / 2 if late else order.paid, on + timedelta(days=7))
