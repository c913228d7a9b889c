"""Which mailboxes a client need not begin again."""

from collections import OrderedDict


class Mailboxes:
    """The mailboxes that a client has sent events to, the latest: they run for a day at least.

    One that runs is signalled, which costs the server and the client less than to begin it unless it runs.
    """

    def __init__(self, most: int = 10_000) -> None:
        self._most = most
        self._known: OrderedDict[str, None] = OrderedDict()

    def __contains__(self, mailbox: str) -> bool:
        """Tell whether *mailbox* has probably been begun."""
        return mailbox in self._known

    def add(self, mailbox: str) -> None:
        """Remember that *mailbox* runs."""
        self._known[mailbox] = None
        self._known.move_to_end(mailbox)
        if len(self._known) > self._most:
            self._known.popitem(last=False)

    def discard(self, mailbox: str) -> None:
        """Forget *mailbox*, which has ended."""
        self._known.pop(mailbox, None)
