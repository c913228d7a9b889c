"""The process that follows large instances: it answers one request after the other, until its input ends."""

import asyncio
import os
import pickle
import sys

from swf_temporal.base.errors import UsageError
from swf_temporal.http.console.drawing import LENGTH, Answer, Order
from swf_temporal.languages.known import import_everything

_LOWER_PRIORITY = 4
"""The niceness added, so that other processes go first."""


def _answer(order: Order) -> object:
    try:
        return Answer(asyncio.run(order.carried_out()))
    except UsageError as error:
        return error.message, error.hint


def main() -> None:
    """Answer requests until the input ends."""
    os.nice(_LOWER_PRIORITY)
    import_everything()
    orders, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # keeps what libraries print out of the answers
    while length := orders.read(LENGTH.size):
        answer = pickle.dumps(_answer(pickle.loads(orders.read(*LENGTH.unpack(length)))))  # noqa: S301 - our parent's
        answers.write(LENGTH.pack(len(answer)) + answer)
        answers.flush()


if __name__ == "__main__":
    main()
