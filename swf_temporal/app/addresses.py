"""Where does each function of a workflow lead: to which service, method and path?

Only documents on this machine are read, and nothing is fetched.
"""

import asyncio
from collections.abc import Iterable
from typing import Any, TypeAlias

from google.protobuf.descriptor import MethodDescriptor

from swf_temporal.calls import Function
from swf_temporal.errors import CallFailed
from swf_temporal.functions.call import Call
from swf_temporal.functions.calling import Found, Functions
from swf_temporal.functions.custom.script import is_script
from swf_temporal.functions.openapi.looking import Described
from swf_temporal.functions.openapi.servers import server_url
from swf_temporal.functions.operator.settings import Settings, environment_name
from swf_temporal.functions.plain.plain import target
from swf_temporal.runtime.external_activities import parse_activity

Facts: TypeAlias = dict[str, Any]

_BY_DOCUMENT = ("rest", "openapi")


def addresses_of(folder: str | None, functions: Iterable[Function]) -> dict[str, Facts]:
    """Return for each of *functions* what its operation says and, if its document lies here, where that leads.

    Documents are found relative to *folder*.
    """
    return asyncio.run(_addresses(folder, functions))


async def _addresses(folder: str | None, functions: Iterable[Function]) -> dict[str, Facts]:
    performing = Functions()
    return {one.name: await _address(one, folder, performing) for one in functions}


async def _address(function: Function, folder: str | None, functions: Functions) -> Facts:
    operation = function.operation
    is_plain = isinstance(operation, dict) or (isinstance(operation, str) and operation.startswith("rest:"))
    terms = parse_activity(function)
    if terms is not None:
        return _set(activity=terms.activity, taskQueue=terms.task_queue)
    if function.type == "custom" and is_script(operation):
        return {"script": True}
    facts = _named(function) if not is_plain else {}
    try:
        if function.type == "http" or (is_plain and function.type in (*_BY_DOCUMENT, "custom")):
            method, url = target(Call(function))
            return {"method": method, "url": url}
        found = await functions.prepare(function, folder)
    except CallFailed as fault:
        return facts | {"problem": " ".join(fault.message.split())}
    return facts if found is None else facts | _leads(function, found)


def _named(function: Function) -> Facts:
    """Return the document and the operation that *function* names, if it names them so."""
    if function.type not in (*_BY_DOCUMENT, "asyncapi") or not isinstance(function.operation, str):
        return {}
    name, _, operation_id = (part.strip() for part in function.operation.rpartition("#"))
    return _set(document=name, operationId=operation_id)


def _leads(function: Function, found: Found) -> Facts:
    if isinstance(found, MethodDescriptor):
        return {"procedure": f"{found.containing_service.full_name}/{found.name}"}
    if not isinstance(found, Described):
        return {"sendsTo" if found.sends else "receivesFrom": found.place.address}
    document, operation = found
    facts = {"method": operation.method, "path": operation.path}
    try:
        return facts | {"server": server_url(Settings(), function.name, document, operation)}
    except CallFailed:  # the document names none: the worker's settings must
        return facts | {"serverFrom": [f"SWF_BASE_URL_{environment_name(function.name)}", "SWF_BASE_URL"]}


def _set(**facts: str | None) -> Facts:
    """Return those of *facts* that say something."""
    return {name: value for name, value in facts.items() if value}
