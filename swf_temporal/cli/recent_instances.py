"""The instances that a command saw last, kept for completing words on the command line.

Asking a server takes longer than a person who has pressed a key wants to wait. So commands that see instances write
down their ids, and completing a word reads them. What is written down is a help and nothing more: where it cannot be
written or read, nothing is said.
"""

import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from swf_temporal.base.strict_json import read_json, write_json

_MAX_INSTANCES = 200
"""Of how many instances the ids are kept."""
_SERVER = ("TEMPORAL_ADDRESS", "TEMPORAL_NAMESPACE", "TEMPORAL_PROFILE", "TEMPORAL_CONFIG_FILE")


@dataclass(frozen=True, slots=True)
class Remembered:
    """The ids of a server's instances that completion offers."""

    instances: Mapping[str, str]
    """For the id of each the id of its definition, the latest first."""
    age: float
    """Seconds since that was looked at."""


def remember(
    found: Iterable[tuple[str, str]], address: str | None, namespace: str | None, *, all_of_them: bool = False
) -> None:
    """Keep the ids of instances and of their definitions, which were *found* on a server.

    Where they are *all_of_them*, at least the latest, what was known before is forgotten.
    """
    known = {} if all_of_them else dict(recall(address, namespace).instances)
    fresh = dict(found)
    kept = dict([*fresh.items(), *((key, value) for key, value in known.items() if key not in fresh)][:_MAX_INSTANCES])
    file = _file(address, namespace)
    beside = file.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside.write_text(write_json({"instances": kept, "looked": time.time() if all_of_them else 0}))
        beside.replace(file)


def recall(address: str | None, namespace: str | None) -> Remembered:
    """Return what is known of a server's instances."""
    try:
        record: dict[str, Any] = read_json(_file(address, namespace).read_text())
        return Remembered(dict(record["instances"]), time.time() - record["looked"])
    except (OSError, ValueError, KeyError, TypeError):
        return Remembered({}, float("inf"))


def _file(address: str | None, namespace: str | None) -> Path:
    """Return where it is kept: for each way of naming a server a file of its own."""
    named = [address, namespace, *map(os.environ.get, _SERVER)]
    name = sha256(write_json(named).encode()).hexdigest()[:24]
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")  # noqa: PTH111, PTH118 - never fails
    return Path(cache, "swf-temporal", "instances", f"{name}.json")
