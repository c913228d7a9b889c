"""The credentials that an operator configures for calls and brokers: results must not reveal them."""

import binascii
import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import unquote

_NAMES: Final = re.compile("auth|cookie|credential|key|password|secret|session|signature|token", re.IGNORECASE)
"""A pattern of names of headers that hold credentials."""

_PASSWORD: Final = re.compile(r"(?<=://)([^:@/\s]*):\S*@|(?<=[?&])(password=)[^&\s]*")


def in_headers(headers: Mapping[str, str]) -> Iterator[str]:
    """Yield the credentials in *headers*: whole values, and the part after a scheme such as `Bearer`."""
    for name, value in headers.items():
        if _NAMES.search(name) and value.strip():
            scheme, _, rest = value.strip().partition(" ")
            yield value.strip()
            if rest.strip():
                yield rest.strip()
            if scheme.lower() == "basic":
                username, _, password = _decoded(rest).partition(":")
                yield from of_login(username, password)


def of_login(username: str | None, password: str | None) -> Iterator[str]:
    """Yield the secrets of a login: its password, and name and password as HTTP sends them."""
    if password:
        yield password
        yield b64encode(f"{username or ''}:{password}".encode()).decode()


def in_url(url: str) -> Iterator[str]:
    """Yield the secrets of the login in *url*, if there is one."""
    login, at, _ = url.partition("://")[2].partition("/")[0].rpartition("@")
    if at:
        username, _, password = login.partition(":")
        yield from of_login(unquote(username), unquote(password))


def without_password(text: str) -> str:
    """Return *text* with the passwords of URLs replaced by three dots."""
    return _PASSWORD.sub(lambda found: f"{found[2]}…" if found[2] else f"{found[1]}:…@", text)


def _decoded(text: str) -> str:
    try:
        return b64decode(text.strip()).decode()
    except (binascii.Error, ValueError):
        return ""
