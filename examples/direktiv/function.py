"""Charges customers: by card up to 100, by invoice whatever it is. `swf serve-function` serves it."""

from typing import Any


class RefusedError(Exception):
    """The card is not good for that much. Workflows catch it by its code."""

    code = "charge.refused"


def main(payment: dict[str, Any]) -> dict[str, Any]:
    """Return the receipt."""
    if payment["method"] == "card" and payment["amount"] > 100:  # noqa: PLR2004 - what this card is good for
        raise RefusedError(f"the card is not good for {payment['amount']}")
    return {"receipt": "R-1", **payment}
