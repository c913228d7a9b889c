"""The options with which an instance was started, for the next one, which a mailbox begins in its place."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, TypedDict

from temporalio import workflow
from temporalio.api.common.v1 import RetryPolicy as RetryPolicyMessage
from temporalio.common import (
    Priority,
    RetryPolicy,
    SearchAttributeIndexedValueType,
    SearchAttributeKey,
    SearchAttributePair,
    TypedSearchAttributes,
)

from swf_temporal.data import JSON
from swf_temporal.temporal.search_attributes import OF_ALL

_KINDS: Final[Mapping[str, Callable[[str], SearchAttributeKey[Any]]]] = {
    "TEXT": SearchAttributeKey.for_text,
    "KEYWORD": SearchAttributeKey.for_keyword,
    "INT": SearchAttributeKey.for_int,
    "DOUBLE": SearchAttributeKey.for_float,
    "BOOL": SearchAttributeKey.for_bool,
    "DATETIME": SearchAttributeKey.for_datetime,
    "KEYWORD_LIST": SearchAttributeKey.for_keyword_list,
}
_RESERVED: Final = ("Temporal", "BuildId")
"""The beginnings of the names of search attributes that the server, or the SDK, sets itself."""


class RetryRecord(TypedDict):
    """A retry policy of the engine."""

    initial: float
    """Seconds, as the next but one."""
    backoff: float
    longest: float | None
    attempts: int
    never: list[str]


class PriorityRecord(TypedDict):
    key: int | None
    fairness: str | None
    weight: float | None


class AttributeRecord(TypedDict):
    """A search attribute."""

    kind: str
    """One of the engine's index types."""
    value: JSON
    """A time in ISO 8601."""


class OptionsRecord(TypedDict, total=False):
    """What the engine was told of an instance; what it was not told is missing."""

    runTimeout: float
    """Seconds."""
    retry: RetryRecord
    priority: PriorityRecord
    memo: dict[str, JSON]
    attributes: dict[str, AttributeRecord]


def options_of_this() -> OptionsRecord:
    """Return the options of the execution that asks."""
    info, found = workflow.info(), OptionsRecord()
    if info.run_timeout:
        found["runTimeout"] = info.run_timeout.total_seconds()
    if info.retry_policy is not None:
        found["retry"] = _retry_record(info.retry_policy)
    if info.priority != Priority():
        found["priority"] = {
            "key": info.priority.priority_key,
            "fairness": info.priority.fairness_key,
            "weight": info.priority.fairness_weight,
        }
    if memo := workflow.memo():
        found["memo"] = dict(memo)
    attributes = {
        one.key.name: AttributeRecord(kind=one.key.indexed_value_type.name, value=_written(one.value))
        for one in info.typed_search_attributes
        if not one.key.name.startswith(_RESERVED) and one.key not in OF_ALL  # each instance sets these itself
    }
    if attributes:
        found["attributes"] = attributes
    return found


def start_options(record: OptionsRecord) -> dict[str, Any]:
    """Return the same as arguments for the start of a child.

    Raises ValueError, TypeError or OverflowError for what no execution can have been started with.
    """
    found: dict[str, Any] = {}
    if "runTimeout" in record:
        found["run_timeout"] = timedelta(seconds=record["runTimeout"])
    if "retry" in record:
        found["retry_policy"] = _retry_policy(record["retry"])
    if "priority" in record:
        priority = record["priority"]
        found["priority"] = Priority(priority["key"], priority["fairness"], priority["weight"])
    if "memo" in record:
        found["memo"] = record["memo"]
    if "attributes" in record:
        pairs = [_pair(name, one) for name, one in record["attributes"].items() if one["kind"] in _KINDS]
        found["search_attributes"] = TypedSearchAttributes(pairs)
    return found


def _retry_record(policy: RetryPolicy) -> RetryRecord:
    longest = policy.maximum_interval
    return {
        "initial": policy.initial_interval.total_seconds(),
        "backoff": policy.backoff_coefficient,
        "longest": None if longest is None else longest.total_seconds(),
        "attempts": policy.maximum_attempts,
        "never": list(policy.non_retryable_error_types or ()),
    }


def _retry_policy(record: RetryRecord) -> RetryPolicy:
    longest = record["longest"]
    policy = RetryPolicy(
        initial_interval=timedelta(seconds=record["initial"]),
        backoff_coefficient=record["backoff"],
        maximum_interval=None if longest is None else timedelta(seconds=longest),
        maximum_attempts=record["attempts"],
        non_retryable_error_types=record["never"] or None,
    )
    policy.apply_to_proto(RetryPolicyMessage())  # which checks it
    return policy


def _written(value: Any) -> JSON:
    if isinstance(value, datetime):
        return value.isoformat()
    return value if isinstance(value, str | bool | int | float) else list(value)


def _pair(name: str, record: AttributeRecord) -> SearchAttributePair[Any]:
    key, value = _KINDS[record["kind"]](name), record["value"]
    if key.indexed_value_type is SearchAttributeIndexedValueType.DATETIME:
        return SearchAttributePair(key, datetime.fromisoformat(str(value)))
    return SearchAttributePair(key, value)
