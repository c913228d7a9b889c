"""The search attributes that the run of an instance sets.

Theory of operation. Whether they are set is decided when an instance begins, by the worker's setting, and recorded by a
marker; without it, the history is what it would be without the setting. An execution that continues the run has the
attributes, and the decision, from the previous one. Only changes are set, and once per stretch without waiting: of
several states passed at once, the last. What it waits for is looked up then, too, in the run.
"""

import asyncio
import math
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from temporalio import workflow
from temporalio.common import SearchAttributeKey
from temporalio.exceptions import ApplicationError

from swf_temporal.base.data import JSON, as_text
from swf_temporal.base.errors import WorkflowFault
from swf_temporal.languages.port import Definition
from swf_temporal.runtime.host import TraceEntry, TraceKind
from swf_temporal.runtime.run import Run
from swf_temporal.temporal import start_options, summaries
from swf_temporal.temporal.instance_log import fault_in
from swf_temporal.temporal.instance_part import Ending, Instance, Part, operator_options
from swf_temporal.temporal.markers import is_recorded
from swf_temporal.temporal.search_attributes import (
    BUSINESS_KEY,
    ERROR_CODE,
    ERROR_NAME,
    LOOK,
    SINCE,
    STATE,
    VERSION,
    WAITS_FOR,
    keyword,
    keyword_in_list,
)

if TYPE_CHECKING:
    from swf_temporal.temporal.host import TemporalHost

_MARKER: Final = "swf-search-attributes"
_ATTEMPT: Final = timedelta(seconds=10)
"""The time limit of one request for the registered attributes."""
_MAX_INT: Final = 2**63
_MAX_WAITS: Final = 20
"""The number of events that are listed: a run may wait for thousands at once."""
_OF_WAITS: Final = (TraceKind.EVENT_AWAITED, TraceKind.EVENT_TAKEN, TraceKind.EVENT_TIMED_OUT)
_KEYS: Final[dict[str, Any]] = {
    "Keyword": SearchAttributeKey.for_keyword,
    "Int": SearchAttributeKey.for_int,
    "Double": SearchAttributeKey.for_float,
    "Bool": SearchAttributeKey.for_bool,
    "Datetime": SearchAttributeKey.for_datetime,
}


class OwnAttributes(Part):
    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        self._loop = asyncio.get_running_loop()
        self._is_on = False
        self._changes: dict[SearchAttributeKey[Any], Any] = {}
        """The values to set; None removes an attribute."""
        self._has_moved = False
        """Whether it has entered a state, or has begun or ceased to wait for events, since they were last set."""
        self._is_due = False
        """Whether they are about to be set."""

    @property
    def notes(self) -> bool:
        """Whether this execution sets them."""
        return self._is_on

    def begin(self, definition: Definition, host: "TemporalHost") -> None:  # noqa: ARG002 - as the others
        """Determine whether this execution sets them."""
        has_state = workflow.info().typed_search_attributes.get(STATE) is not None
        self._is_on = has_state or is_recorded(_MARKER, wanted=operator_options().search_attributes)

    async def prepare(self, definition: Definition, run: Run) -> None:
        """Set the attributes that are known before the first step of *run*."""
        if not self._is_on:
            return
        if not run.is_new:
            self._set(STATE, run.execution.state)
        elif definition.search_attributes:
            for key, value in (await _named(definition, run)).items():
                self._set(key, value)
        self._set(VERSION, definition.version)
        self._set(BUSINESS_KEY, _business_key())
        for key in (ERROR_NAME, ERROR_CODE):
            self._set(key, None)  # left by an earlier run, which this one continues or retries

    def note(self, entry: TraceEntry) -> None:
        """Set the state that the run is in, outside of branches and iterations, and what it waits for."""
        if entry.enters_state:
            self._set(STATE, entry.state)
            self._set(SINCE, entry.at)
        elif entry.kind not in _OF_WAITS:
            return
        self._has_moved = True
        self._schedule()

    async def end(self, ending: Ending) -> None:
        """Set the error with which the execution ends, and any pending changes."""
        if self._is_on and isinstance(ending.failure, ApplicationError):
            fault = fault_in(ending.failure)
            self._set(ERROR_NAME, fault.name)
            self._set(ERROR_CODE, fault.code)
        if self._is_on and ending.how != "continued":
            self._set(WAITS_FOR, None)
        self._upsert()

    def _set(self, key: SearchAttributeKey[Any], value: Any) -> None:
        self._schedule()
        self._changes[key] = keyword(value) if isinstance(value, str) else value

    def _schedule(self) -> None:
        if not self._is_due:
            self._is_due = True
            self._loop.call_soon(self._upsert)

    def _upsert(self) -> None:
        self._is_due = False
        known = workflow.info().typed_search_attributes
        if self._has_moved and self.instance.run is not None:
            waits = _waits_of(self.instance.run)
            if self._changes.setdefault(WAITS_FOR, waits) != known.get(WAITS_FOR):
                self._changes.setdefault(SINCE, workflow.now())
        changes, self._changes, self._has_moved = self._changes, {}, False
        updates = [
            key.value_unset() if value is None else key.value_set(value)
            for key, value in changes.items()
            if known.get(key) != value
        ]
        if updates:
            workflow.upsert_search_attributes(updates)


def _waits_of(run: Run) -> list[str] | None:
    """Return the names of the events that *run* waits for; None if it waits for none."""
    names = sorted({keyword_in_list(name) for wait in run.awaited.values() for name in wait.events})
    return names[:_MAX_WAITS] or None


def _business_key() -> str | None:
    try:
        found = workflow.memo_value(start_options.BUSINESS_KEY, None)
    except (RuntimeError, ValueError, TypeError):  # written by another client, in another form
        return None
    return found if isinstance(found, str) else None


async def _named(definition: Definition, run: Run) -> dict[SearchAttributeKey[Any], Any]:
    """Return the attributes that *definition* names and the namespace has."""
    types = dict(definition.search_attributes)
    names: list[str] = await workflow.execute_local_activity(
        LOOK,
        args=[types],
        result_type=list[str],
        start_to_close_timeout=_ATTEMPT,
        summary=summaries.LOOKING_FOR_ATTRIBUTES,
    )
    values = await run.execution.search_attributes()
    found: dict[SearchAttributeKey[Any], Any] = {}
    for name, kind in types.items():
        if name not in names:
            workflow.logger.warning("the search attribute %r is not registered as %s", name, kind)
            continue
        value = values.get(name)
        try:
            found[_KEYS[kind](name)] = None if value is None else _value(kind, value)
        except (ValueError, OverflowError):
            why = f"{value.name} where it is evaluated" if isinstance(value, WorkflowFault) else f"it is not {kind}"
            workflow.logger.warning("the search attribute %r is left out: %s", name, why)
            found[_KEYS[kind](name)] = None
    return found


def _value(kind: str, value: JSON | WorkflowFault) -> Any:
    """Return *value* as an attribute of the type *kind*. Raises ValueError or OverflowError if it has another."""
    if kind == "Keyword" and isinstance(value, str | int | float):
        return as_text(value)
    if kind == "Bool" and isinstance(value, bool):
        return value
    if kind == "Datetime" and isinstance(value, str):
        moment = datetime.fromisoformat(value)
        # In UTC, since a server would refuse an offset with seconds, and with it the workflow task, for ever.
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).astimezone(UTC)
    if isinstance(value, int | float) and not isinstance(value, bool):
        if kind == "Double" and math.isfinite(number := float(value)):
            return number
        if kind == "Int" and value == int(value) and -_MAX_INT <= value < _MAX_INT:
            return int(value)
    raise ValueError(kind)
