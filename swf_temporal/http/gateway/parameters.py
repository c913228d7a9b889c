"""The parameters of requests besides their bodies, as OpenAPI describes them, and as they are read."""

import re
from typing import Any, Final, TypeAlias

from swf_temporal.operations.listing import STATUSES
from swf_temporal.runtime.ids import FREE_ID_PATTERN, why_reserved

Parameter: TypeAlias = dict[str, Any]

_KEY: Final = "^[!-~]{1,200}$"
"""The ids of instances, and keys of requests, that clients choose."""
_FREE_KEY: Final = f"^(?={FREE_ID_PATTERN}$)[!-~]{{1,200}}$"
"""Ids of new instances: those that are given here have a form of their own."""


def _parameter(
    name: str, description: str | None = None, where: str = "query", *, required: bool = False, **schema: Any
) -> Parameter:
    about = {} if description is None else {"description": description}
    needed = {"required": True} if required or where == "path" else {}
    return {"name": name, "in": where, "schema": {"type": "string"} | schema, **about, **needed}


DEFINITION_ID: Final = _parameter("id", "The id of a definition", "path", minLength=1)
INSTANCE_ID: Final = _parameter("id", "The id of an instance", "path", minLength=1)
INSTANCE: Final = _parameter("instance", "The id of an instance", "path", minLength=1)

VERSION: Final = _parameter("version", "The version of the definition. The default is the latest.")
_NEW_ID: Final = "The id of the new instance. Not one of a form that is reserved. By default one is generated."
NEW_ID: Final = _parameter("id", _NEW_ID, pattern=_FREE_KEY)
_ONCE: Final = "All requests with the same key start one instance."
IDEMPOTENCY_KEY: Final = _parameter("Idempotency-Key", _ONCE, "header", pattern=_KEY)
_WAIT: Final = "How many seconds to wait for the result. The header `Prefer: wait=SECONDS` has the same effect."
WAIT: Final = _parameter("wait", _WAIT, type="integer", minimum=0, maximum=999_999_999, example=10)
_FIRST_WAIT: Final = "How many seconds to wait at most. By default as long as the gateway lets requests wait."
FIRST_WAIT: Final = WAIT | {"description": _FIRST_WAIT}
_BUSINESS_KEY: Final = "By what the client knows the instance. Several may have the same."
BUSINESS_KEY: Final = _parameter("businessKey", _BUSINESS_KEY, minLength=1)
_START: Final = (VERSION, NEW_ID, IDEMPOTENCY_KEY, BUSINESS_KEY)
START_OPTIONS: Final = (*_START, WAIT)
SYNCHRONOUS_START_OPTIONS: Final = (*_START, FIRST_WAIT)

DEFINITION: Final = _parameter("definition", "Those of this definition.")
STATUS: Final = _parameter("status", enum=list(STATUSES))
MAX_INSTANCES: Final = _parameter("limit", type="integer", minimum=1, maximum=100, default=20)
_FOUND_BY: Final = "Those with this {}, by a search attribute."
INSTANCE_FACTS: Final = (
    _parameter("version", _FOUND_BY.format("version"), minLength=1),
    _parameter("state", _FOUND_BY.format("state"), minLength=1),
    _parameter("businessKey", _FOUND_BY.format("business key"), minLength=1),
    _parameter("errorCode", _FOUND_BY.format("error code"), minLength=1),
)
INSTANCE_FILTERS: Final = (DEFINITION, STATUS, *INSTANCE_FACTS, MAX_INSTANCES)
MAX_ACTIVE: Final = _parameter("limit", type="integer", minimum=1, maximum=200, default=200)
MAX_TASKS: Final = _parameter("limit", type="integer", minimum=1, maximum=200, default=100)
TASK_FILTERS: Final = (DEFINITION, MAX_TASKS)
_EVENT: Final = "The name of the event in the definition, if the instance waits for several."
EVENT: Final = _parameter("event", _EVENT, minLength=1)

DRY_RUN: Final = _parameter("dryRun", "Whether to tell only what would be done.", type="boolean", default=False)
_DROP: Final = "Whether not to give it the events again that have come since."
DROP_EVENTS: Final = _parameter("dropEvents", _DROP, type="boolean", default=False)
RETRY_OPTIONS: Final = (DRY_RUN, DROP_EVENTS)
FROM: Final = _parameter("from", "The state from which it goes on.", required=True, minLength=1)
ACTION: Final = _parameter("action", "The action of that state from which it goes on.", minLength=1)
RERUN_OPTIONS: Final = (FROM, ACTION, *RETRY_OPTIONS)


def what_is_wrong(parameter: Parameter, text: str) -> str | None:
    """Return what *parameter* has to be, if it cannot be *text*."""
    schema = parameter["schema"]
    if schema["type"] == "boolean":
        return None if text in ("true", "false") else "it is true or false"
    if "enum" in schema:
        return None if text in schema["enum"] else f"it is one of {', '.join(schema['enum'])}"
    if "pattern" in schema:
        if re.fullmatch(schema["pattern"], text):
            return None
        is_free = schema["pattern"] == _KEY or not (why := why_reserved(text))
        return "it has 1 to 200 ASCII characters, without spaces" if is_free else f"it cannot be chosen: it {why}"
    if schema["type"] == "integer":
        least, most = schema["minimum"], schema["maximum"]
        fits = re.fullmatch(r"\d{1,9}", text, re.ASCII) and least <= int(text) <= most
        return None if fits else f"it is a whole number from {least} to {most}"
    return "it is not empty" if len(text) < schema.get("minLength", 0) else None
