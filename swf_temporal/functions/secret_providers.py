"""Secrets that a program of the user's own looks up, such as in a vault."""

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Protocol, runtime_checkable

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed

MAX_AGE: Final = 60.0
"""Seconds for which a secret is not looked up again."""
MAX_LOOKING_UP: Final = 10.0
"""Seconds in which a provider has to answer: all calls with the secret wait for it, each for up to a day otherwise."""


@runtime_checkable
class SecretProvider(Protocol):
    """Looks up secrets by their names, for the calls of a worker. What it returns is kept for a minute."""

    async def secret(self, name: str) -> JSON:
        """Return the secret that definitions call *name*; None if there is none, and the environment's is taken.

        What it raises fails the attempt at the call with the code `SecretsUnavailable`, and so does an answer that
        takes more than 10 seconds; it is looked up again with the next. Its message is not told: it might hold a
        secret.
        """


@dataclass(slots=True)
class _Kept:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    value: JSON = None
    until: float = 0.0


class ProvidedSecrets:
    """The secrets of a provider, each looked up once in a while, however many calls need it."""

    def __init__(self, provider: SecretProvider) -> None:
        self._provider = provider
        self._kept: dict[str, _Kept] = {}

    async def of(self, names: Iterable[str]) -> dict[str, JSON]:
        """Return those of *names* that the provider has. Raises CallFailed if it cannot tell at the moment."""
        found = {name: await self._secret(name) for name in names}
        return {name: value for name, value in found.items() if value is not None}

    async def _secret(self, name: str) -> JSON:
        kept = self._kept.setdefault(name, _Kept())
        async with kept.lock:
            if kept.until <= time.monotonic():
                try:
                    async with asyncio.timeout(MAX_LOOKING_UP):
                        kept.value = await self._provider.secret(name)
                except Exception as error:
                    kind = type(error).__name__
                    message = f"the secret {name!r} cannot be looked up at the moment: {kind}"
                    raise CallFailed(message, code="SecretsUnavailable", cause=kind) from error
                kept.until = time.monotonic() + MAX_AGE
            return kept.value
