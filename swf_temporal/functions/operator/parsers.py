"""Parsers of what an operator writes: URLs, timeouts, rates. Each raises ValueError, saying what it wants."""

import json
import re
from datetime import timedelta

import httpx

from swf_temporal.durations import parse_duration
from swf_temporal.functions.operator.options import Rate, SharedFolder

_SCHEMES = frozenset({
    "http", "https", "grpc", "grpcs", "ws", "wss", "mqtt", "mqtts", "secure-mqtt", "amqp", "amqps", "nats", "nats+tls",
    "kafka", "kafka-secure",
})  # fmt: skip
_RATE = re.compile(r"(?P<calls>\d+(?:\.\d+)?)\s*/\s*(?:(?P<number>\d*)\s*(?P<unit>s|m|h))")
_UNITS = {"s": 1, "m": 60, "h": 3600}
_SIZE = re.compile(r"(?P<number>\d+)\s*(?P<unit>b|[kmg]i?b)?")
_BYTES = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}
_YES, _NO = frozenset({"true", "yes", "on", "1"}), frozenset({"false", "no", "off", "0"})


def as_url(text: object) -> str:
    """Read where a service is."""
    wanted = "it must be a URL such as https://orders.example.com/api or grpc://orders:50051"
    try:
        url = httpx.URL(str(text).strip())
    except httpx.InvalidURL as error:
        raise ValueError(f"{wanted}; {error}") from None
    if url.scheme not in _SCHEMES or not url.host:
        raise ValueError(wanted)
    return str(text).strip()


def as_proxy(text: object) -> str:
    """Read where a proxy is; an empty text is for none."""
    if not str(text).strip():
        return ""
    try:
        url = httpx.URL(str(text).strip())
    except httpx.InvalidURL:
        url = httpx.URL()
    if url.scheme not in {"http", "https"} or not url.host:
        raise ValueError("it must be a URL such as http://proxy.example.com:3128")
    return str(text).strip()


def as_timeout(value: object) -> timedelta:
    """Read a length of time: a number of seconds, or ISO 8601."""
    text = str(value).strip()
    try:
        length = parse_duration(text) if text.upper().startswith("P") else timedelta(seconds=float(text))
    except (ValueError, OverflowError):
        length = timedelta(0)
    if length <= timedelta(0):
        raise ValueError("it must be a number of seconds, or a duration such as PT30S")
    return length


def as_rate(value: object) -> Rate:
    """Read how often: `100/s`, `30/m`, `5/10s`."""
    match = _RATE.fullmatch(str(value).strip())
    calls = float(match["calls"]) if match else 0.0
    seconds = int(match["number"] or 1) * _UNITS[match["unit"]] if match else 0
    if not calls or not seconds:
        raise ValueError("it must be a number of calls in a time, such as 100/s, 30/m or 5/10s")
    return Rate(calls, float(seconds))


def as_shared_folder(value: object) -> SharedFolder:
    """Read a folder by its path: that of the worker, and, where a container sees it elsewhere, a colon and its own."""
    worker, colon, container = str(value).strip().partition(":")
    found = SharedFolder(worker, container if colon else worker)
    if not found.worker.startswith("/") or not found.container.startswith("/"):
        raise ValueError("it must be an absolute path, or two such as /srv/functions:/mnt/shared, the worker's first")
    return found


def as_count(value: object) -> int:
    """Read a number that is at least one."""
    text = str(value).strip()
    if not text.isdecimal() or int(text) == 0:
        raise ValueError("it must be a whole number, at least 1")
    return int(text)


def as_size(value: object) -> int:
    """Read a number of bytes, with a unit or without: `65536`, `128KiB`, `2 MB`."""
    match = _SIZE.fullmatch(str(value).strip().lower())
    size = int(match["number"]) * _BYTES[match["unit"] or "b"] if match else 0
    if not size:
        raise ValueError("it must be a size such as 128KiB or 256MiB")
    return size


def as_switch(value: object) -> bool:
    """Read whether something is so."""
    text = str(value).strip().lower()
    if text not in _YES | _NO:
        raise ValueError("it must be true or false")
    return text in _YES


def as_headers(text: object) -> dict[str, str]:
    """Read headers: an object in JSON, or `Name: value` in each line."""
    if isinstance(text, dict):
        given = text
    elif str(text).lstrip().startswith("{"):
        try:
            given = json.loads(str(text))
        except ValueError as error:
            raise ValueError(f"it is not an object in JSON: {error}") from None
    else:
        lines = [line.partition(":") for line in str(text).splitlines() if line.strip()]
        if not all(colon for _, colon, _ in lines):
            raise ValueError("it must be lines such as 'X-Team: orders', or an object in JSON")
        given = {name.strip(): value.strip() for name, _, value in lines}
    for name, value in given.items():
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
            raise ValueError(f"{name!r} cannot be the name of a header")
        if not isinstance(value, str | int) or not str(value).isprintable():
            raise ValueError(f"the header '{name}' must be a text of one line")
    return {name: str(value) for name, value in given.items()}


def as_names(text: object) -> tuple[str, ...]:
    """Read a list: an array, or a text with commas."""
    items = text if isinstance(text, list) else str(text).split(",")
    return tuple(str(item).strip() for item in items if str(item).strip())
