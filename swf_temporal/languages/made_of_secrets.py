"""Values that a definition derived from secrets in arguments: a signature, a login in base64, a part of a key.

Theory of operation. Such arguments are evaluated once more, with other texts in the place of the secrets. Whatever
comes out otherwise was made of them. The result of an expression that fails on the others is compared with the data
that it was given.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import WorkflowFault
from swf_temporal.base.strict_json import write_json
from swf_temporal.languages.performing import filled
from swf_temporal.runtime.host import FunctionCall

MIN_LENGTH: Final = 8
"""The least length of what is told from data, in characters."""

_BETWEEN: Final = re.compile(r"""[\s,;:&?="'<>()\[\]{}|]+""")
"""What stands between the words of a text."""


def made_of_secrets(call: FunctionCall, secrets: Mapping[str, JSON], arguments: JSON) -> tuple[str, ...]:
    """Return the words in *arguments*, with which *call* was filled, that would be others with other *secrets*."""
    given = call.secret_template
    if given is None or not secrets:
        return ()
    try:
        otherwise: JSON = filled(call, {name: _other(value) for name, value in secrets.items()})
    except WorkflowFault:
        otherwise = [given.data, list(given.variables.values()), given.template]
    same = set(_words(otherwise))
    return tuple(dict.fromkeys(word for word in _words(arguments) if word not in same))


def _other(secret: JSON) -> JSON:
    """Return something of the same form as *secret*, with other letters, digits and numbers."""
    if isinstance(secret, bool) or secret is None:
        return secret
    if isinstance(secret, int | float):
        return secret + 1
    if isinstance(secret, str):
        return "".join(map(_next, secret))
    if isinstance(secret, list):
        return [_other(item) for item in secret]
    return {key: _other(item) for key, item in secret.items()}


def _next(char: str) -> str:
    for first, last in ("09", "az", "AZ"):
        if first <= char <= last:
            return first if char == last else chr(ord(char) + 1)
    return char


def _words(value: JSON) -> Iterator[str]:
    """Yield the texts in *value* and the words in them, as far as they are long enough."""
    if isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _words(item)
        if isinstance(value, dict):
            yield from _words(list(value))
        return
    text = value if isinstance(value, str) else write_json(value)
    words = _BETWEEN.split(text)
    yield from (word for word in words if len(word) >= MIN_LENGTH)
