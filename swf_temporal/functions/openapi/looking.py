"""What does an OpenAPI document that is a file say of a function? To ask that takes no client."""

from typing import NamedTuple

from swf_temporal.functions.call import Call
from swf_temporal.functions.documents.documents import Document, Documents, document_and_operation
from swf_temporal.functions.documents.local_documents import only_here
from swf_temporal.functions.openapi.operations import Operation, find_operation


class Described(NamedTuple):
    """An operation, and the document that it stands in."""

    document: Document
    operation: Operation


async def look(documents: Documents, call: Call) -> Described:
    """Return what the document of a function, which is a file, says of it. Nothing is fetched.

    Raises CallFailed, or NotLocalError if the document leads to one on the web.
    """
    name, operation_id = document_and_operation(call, "rest")
    document = await documents.load(name, call.base)
    find = only_here(lambda: find_operation(document, operation_id))
    return Described(document, await documents.reading(document, find, base=call.base))
