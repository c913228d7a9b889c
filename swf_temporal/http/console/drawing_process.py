"""The program of the process that draws large instances: it answers one order after the other, until its input ends."""

import asyncio
import os
import pickle
import sys

from swf_temporal.base.errors import UsageError
from swf_temporal.http.console.drawing import LENGTH, Order
from swf_temporal.languages.known import import_everything

_LOWER_PRIORITY = 4
"""By how much others go first."""


def _answer(order: Order) -> object:
    try:
        return asyncio.run(order.carried_out())
    except UsageError as error:
        return error.message, error.hint


def main() -> None:
    """Answer until the input ends."""
    os.nice(_LOWER_PRIORITY)
    import_everything()
    orders, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no answer
    while length := orders.read(LENGTH.size):
        answer = pickle.dumps(_answer(pickle.loads(orders.read(*LENGTH.unpack(length)))))  # noqa: S301 - our parent's
        answers.write(LENGTH.pack(len(answer)) + answer)
        answers.flush()


if __name__ == "__main__":
    main()
