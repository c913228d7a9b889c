"""The start options of an instance, for the next one, which a mailbox starts in its place."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, ClassVar, Final

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

from swf_temporal.base.data import JSON
from swf_temporal.base.records import Record
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
"""The prefixes of search attributes that the server, or the SDK, sets itself."""


@dataclass(frozen=True, slots=True)
class RetryRecord(Record):
    """A retry policy of the engine."""

    initial: timedelta
    backoff: float
    longest: timedelta | None
    attempts: int
    never: Sequence[str]


@dataclass(frozen=True, slots=True)
class PriorityRecord(Record):
    key: int | None
    fairness: str | None
    weight: float | None


@dataclass(frozen=True, slots=True)
class AttributeRecord(Record):
    """A search attribute."""

    kind: str
    """One of the engine's index types."""
    value: JSON
    """The value; a time is written in ISO 8601."""


@dataclass(frozen=True, slots=True)
class OptionsRecord(Record):
    """The engine's options of an instance; None is an option that was not set."""

    CAMEL_CASE: ClassVar[bool] = True

    run_timeout: timedelta | None = None
    retry: RetryRecord | None = None
    priority: PriorityRecord | None = None
    memo: Mapping[str, JSON] = field(default_factory=dict)
    attributes: dict[str, AttributeRecord] = field(default_factory=dict)

    def check(self) -> None:
        """Raise ValueError for options that no execution can have been started with."""
        try:
            start_options(self)
        except (ValueError, TypeError, OverflowError) as error:
            raise ValueError(str(error)) from None


def options_of_this() -> OptionsRecord:
    """Return the options of the current execution."""
    info = workflow.info()
    priority, retry = info.priority, info.retry_policy
    return OptionsRecord(
        run_timeout=info.run_timeout or None,
        retry=None if retry is None else _retry_record(retry),
        priority=None
        if priority == Priority()
        else PriorityRecord(priority.priority_key, priority.fairness_key, priority.fairness_weight),
        memo=workflow.memo(),
        attributes={
            one.key.name: AttributeRecord(one.key.indexed_value_type.name, _written(one.value))
            for one in info.typed_search_attributes
            if not one.key.name.startswith(_RESERVED) and one.key not in OF_ALL  # each instance sets these itself
        },
    )


def start_options(record: OptionsRecord) -> dict[str, Any]:
    """Return *record* as arguments for the start of a child.

    Raises ValueError, TypeError or OverflowError for options that no execution can have been started with.
    """
    found: dict[str, Any] = {}
    if record.run_timeout is not None:
        found["run_timeout"] = record.run_timeout
    if record.retry is not None:
        found["retry_policy"] = _retry_policy(record.retry)
    if record.priority is not None:
        found["priority"] = Priority(record.priority.key, record.priority.fairness, record.priority.weight)
    if record.memo:
        found["memo"] = record.memo
    if record.attributes:
        pairs = [_pair(name, one) for name, one in record.attributes.items() if one.kind in _KINDS]
        found["search_attributes"] = TypedSearchAttributes(pairs)
    return found


def _retry_record(policy: RetryPolicy) -> RetryRecord:
    return RetryRecord(
        policy.initial_interval,
        policy.backoff_coefficient,
        policy.maximum_interval,
        policy.maximum_attempts,
        policy.non_retryable_error_types or (),
    )


def _retry_policy(record: RetryRecord) -> RetryPolicy:
    policy = RetryPolicy(
        initial_interval=record.initial,
        backoff_coefficient=record.backoff,
        maximum_interval=record.longest,
        maximum_attempts=record.attempts,
        non_retryable_error_types=record.never or None,
    )
    policy.apply_to_proto(RetryPolicyMessage())  # which checks it
    return policy


def _written(value: Any) -> JSON:
    if isinstance(value, datetime):
        return value.isoformat()
    return value if isinstance(value, str | bool | int | float) else list(value)


def _pair(name: str, record: AttributeRecord) -> SearchAttributePair[Any]:
    key, value = _KINDS[record.kind](name), record.value
    if key.indexed_value_type is SearchAttributeIndexedValueType.DATETIME:
        return SearchAttributePair(key, datetime.fromisoformat(str(value)))
    return SearchAttributePair(key, value)
