"""Locks of mailboxes: who looks whether there is room for an event sends it before another looks."""

from asyncio import Lock
from weakref import WeakValueDictionary


class MailboxLocks:
    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, Lock] = WeakValueDictionary()

    def of(self, mailbox: str) -> Lock:
        """Return the lock of *mailbox*, the same for as long as anybody holds it or waits for it."""
        return self._locks.setdefault(mailbox, Lock())
