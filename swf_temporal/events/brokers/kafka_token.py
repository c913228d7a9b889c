"""The token provider for aiokafka.

This module is imported when a token is first used: aiokafka is an extra.
"""

from aiokafka.abc import AbstractTokenProvider


class KafkaToken(AbstractTokenProvider):  # type: ignore[misc]  # the library has no types
    """Provides a token that is known in advance."""

    def __init__(self, token: str) -> None:
        self._token = token

    async def token(self) -> str:
        return self._token
