"""The mailboxes that are known to run, so that a client only signals them."""

from collections import OrderedDict


class Mailboxes:
    """The mailboxes to which a client has sent events lately; each runs for a day at least.

    A signal costs the server and the client less than a signal that starts the mailbox if it does not run.
    """

    def __init__(self, most: int = 10_000) -> None:
        self._most = most
        self._known: OrderedDict[str, None] = OrderedDict()

    def __contains__(self, mailbox: str) -> bool:
        """Tell whether *mailbox* has probably been begun."""
        return mailbox in self._known

    def add(self, mailbox: str) -> None:
        self._known[mailbox] = None
        self._known.move_to_end(mailbox)
        if len(self._known) > self._most:
            self._known.popitem(last=False)

    def discard(self, mailbox: str) -> None:
        """Forget *mailbox*, which has ended."""
        self._known.pop(mailbox, None)
