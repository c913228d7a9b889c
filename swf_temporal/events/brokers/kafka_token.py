"""Tokens as aiokafka takes them.

This module is imported when a token is first used: aiokafka is an extra.
"""

from aiokafka.abc import AbstractTokenProvider


class KafkaToken(AbstractTokenProvider):  # type: ignore[misc]  # the library has no types
    """A token that is known already."""

    def __init__(self, token: str) -> None:
        self._token = token

    async def token(self) -> str:
        return self._token
