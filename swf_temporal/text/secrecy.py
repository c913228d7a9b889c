"""Recognizing secrets by their names or values."""

import re
from itertools import pairwise
from typing import Final

_BETWEEN_WORDS: Final = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")
_SECRET: Final = re.compile(
    r"\w*(?:password|passwd|passphrase|pwd|secret|token|credential|api_?key|access_?key|private_?key|webhook)s?|"
    r"authorization|bearer|cert|certificate|cookie|hmac|jwt|otp|p12|pass|passcode|pem|pfx|pin|private|salt|seed|session|"
    r"signature|signing|keystore|truststore",
)
_CREDENTIAL: Final = re.compile(
    r"://[^/\s@]+@|(?:password|passwd|pwd|secret|token|key)\s*[=:]|\b(?:bearer|basic)\s|-----BEGIN|"
    r"(?<![A-Za-z0-9])(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{20,}",
    re.IGNORECASE,
)
"""Matches a value that is or contains a credential, such as a long run of letters and digits."""


def is_secret(name: str) -> bool:
    """Return True if the property *name* is a secret, judging by its words."""
    words = [one.lower() for one in _BETWEEN_WORDS.split(name)]
    pairs = (f"{one}_{other}" for one, other in pairwise(words))
    return any(_SECRET.fullmatch(one) for one in (*words, *pairs))


def has_credential(value: str) -> bool:
    """Return True if *value* is or contains a credential."""
    return _CREDENTIAL.search(value) is not None
