"""Correlation keys: what the events of one instance have in common, and the ids that follow from that."""

from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Final, TypeAlias

from swf_temporal.base.cloud_event import CloudEvent
from swf_temporal.base.strict_json import write_json
from swf_temporal.runtime.ids import DIGITS

CorrelationKey: TypeAlias = Mapping[str, str]
"""The values of the context attributes that correlate events, by the names of the attributes in lower case."""

MAILBOX_PREFIX: Final = "swf-events:"
"""The beginning of the ids of mailboxes."""
_MAX_CACHED: Final = 1024
"""The number of keys whose digests are remembered: each is asked for several times while an event is routed."""


def instance_id(definition_id: str, key: CorrelationKey) -> str:
    """Return the id of the instance of a definition to which all events with *key* belong."""
    return f"{definition_id}:{digest_of(key)}"


def single_id(definition_id: str, event: CloudEvent) -> str:
    """Return the id of the instance that *event* alone starts, which is the same however often the event comes."""
    return f"{definition_id}:{_digest((event.source, event.id))}"


def mailbox_id(definition_id: str, key: CorrelationKey) -> str:
    """Return the id of the workflow that takes the events of a definition with *key* in."""
    return f"{MAILBOX_PREFIX}{instance_id(definition_id, key)}"


def definition_of_mailbox(mailbox: str) -> str:
    """Return the id of the definition whose events a mailbox takes in."""
    return mailbox.removeprefix(MAILBOX_PREFIX).rpartition(":")[0]


def digest_of(key: CorrelationKey) -> str:
    """Return a short text that two keys share exactly if they are equal."""
    return _digest(tuple(sorted(key.items())))


@lru_cache(maxsize=_MAX_CACHED)
def _digest(value: tuple[object, ...]) -> str:
    return sha256(write_json(value).encode()).hexdigest()[:DIGITS]
