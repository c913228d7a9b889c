"""Where does each function of a workflow lead: to which service, method and path?

Only documents beside the definition are read, and nothing is fetched.
"""

import asyncio
from pathlib import Path

from swf_temporal.cli.describing.stated import Facts, stated
from swf_temporal.errors import CallFailed
from swf_temporal.functions.call import Call
from swf_temporal.functions.documents import Documents, is_web, locate
from swf_temporal.functions.http import Http
from swf_temporal.functions.operations import find_operation
from swf_temporal.functions.plain_http import target
from swf_temporal.functions.servers import server_url
from swf_temporal.functions.settings import Settings, environment_name
from swf_temporal.model.definitions import Function
from swf_temporal.model.workflow import Workflow

_BY_DOCUMENT = ("rest", "openapi")


def addresses_of(workflow: Workflow) -> dict[str, Facts]:
    """Return for each function what its operation says and, if its document lies here, where that leads."""
    return asyncio.run(_addresses(workflow))


async def _addresses(workflow: Workflow) -> dict[str, Facts]:
    settings, folder = Settings(), str(Path(workflow.source.name).parent)
    documents = Documents(Http(settings), settings.document_lifetime)
    return {one.name: await _address(one, folder, documents, settings) for one in workflow.functions}


async def _address(function: Function, folder: str, documents: Documents, settings: Settings) -> Facts:
    operation = function.operation
    is_plain = isinstance(operation, dict) or (isinstance(operation, str) and operation.startswith("rest:"))
    try:
        if function.type == "http" or (is_plain and function.type in (*_BY_DOCUMENT, "custom")):
            method, url = target(Call(function))
            return {"method": method, "url": url}
        if function.type in _BY_DOCUMENT and isinstance(operation, str):
            return await _in_document(function, operation, folder, documents, settings)
    except CallFailed as fault:
        return {"problem": fault.message}
    return {}


async def _in_document(
    function: Function, operation: str, folder: str, documents: Documents, settings: Settings
) -> Facts:
    name, _, operation_id = (part.strip() for part in operation.rpartition("#"))
    facts = stated(document=name, operation_id=operation_id)
    if is_web(locate(name, folder)):
        return facts
    try:
        document = await documents.load(name, folder)
        found = find_operation(document, operation_id)
    except CallFailed as fault:
        return facts | {"problem": fault.message}
    facts |= {"method": found.method, "path": found.path}
    try:
        return facts | {"server": server_url(settings, function.name, document, found)}
    except CallFailed:  # the document names none: the worker's settings must
        return facts | {"serverFrom": [f"SWF_BASE_URL_{environment_name(function.name)}", "SWF_BASE_URL"]}
