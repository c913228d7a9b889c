"""Inspection of functions in an OpenAPI document that is a file, without an HTTP client."""

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed
from swf_temporal.base.function_types import environment_name
from swf_temporal.functions.call import Call
from swf_temporal.functions.documents.documents import Documents
from swf_temporal.functions.documents.local_documents import only_local
from swf_temporal.functions.openapi.operations import find_operation
from swf_temporal.functions.openapi.servers import server_url
from swf_temporal.functions.openapi.type import FORM
from swf_temporal.functions.port import Described
from swf_temporal.settings.calls import Settings


async def look(documents: Documents, call: Call) -> Described:
    """Return the description of a function from its document, which is a file. Nothing is fetched.

    Raises CallFailed, or NotLocalError if the document refers to one on the web.
    """
    name, operation_id = FORM.of(call.function)
    document = await documents.load(name, call.base)
    find = only_local(lambda: find_operation(document, operation_id))
    operation = await documents.reading(document, find, base=call.base)
    address: dict[str, JSON] = {"method": operation.method, "path": operation.path}
    try:
        # Only the document's server: the settings that apply are those of the worker that makes the call.
        address["server"] = server_url(Settings(), call.callee, document, operation)
    except CallFailed:  # it has no server: the worker's settings must
        address["serverFrom"] = [f"SWF_BASE_URL_{environment_name(call.function.name)}", "SWF_BASE_URL"]
    return Described(address, tuple(tuple(schemes) for schemes in operation.security or ()))
