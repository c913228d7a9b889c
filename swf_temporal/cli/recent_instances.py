"""A cache of the instances that commands saw last, for completion on the command line.

Querying a server takes longer than a person who has pressed a key wants to wait. So commands that see instances store
their ids, and completion reads them. The cache is only a convenience: errors in writing or reading it are ignored.
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
"""The maximum number of instances that are stored."""
_SERVER = ("TEMPORAL_ADDRESS", "TEMPORAL_NAMESPACE", "TEMPORAL_PROFILE", "TEMPORAL_CONFIG_FILE")


@dataclass(frozen=True, slots=True)
class Remembered:
    """The ids of a server's instances that completion offers."""

    instances: Mapping[str, str]
    """The id of each instance's definition, by the instance's id, the latest first."""
    age: float
    """Seconds since the instances were listed."""


def remember(
    found: Iterable[tuple[str, str]], address: str | None, namespace: str | None, *, all_of_them: bool = False
) -> None:
    """Store the ids of instances and of their definitions, which were *found* on a server.

    If they are *all_of_them*, or at least all of the latest, instances stored before are dropped.
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
    """Return the stored instances of a server."""
    try:
        record: dict[str, Any] = read_json(_file(address, namespace).read_text())
        return Remembered(dict(record["instances"]), time.time() - record["looked"])
    except (OSError, ValueError, KeyError, TypeError):
        return Remembered({}, float("inf"))


def _file(address: str | None, namespace: str | None) -> Path:
    """Return the path of the cache file, one for each way of naming a server."""
    named = [address, namespace, *map(os.environ.get, _SERVER)]
    name = sha256(write_json(named).encode()).hexdigest()[:24]
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")  # noqa: PTH111, PTH118 - never fails
    return Path(cache, "swf-temporal", "instances", f"{name}.json")
