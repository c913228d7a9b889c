"""The faults that a workflow sees when a gRPC server answers with an error."""

import base64
from collections.abc import Iterable
from typing import Any

from swf_temporal.data import JSON
from swf_temporal.errors import CallFailed
from swf_temporal.functions.call import permanent_failure

_TOO_LARGE = "CLIENT: Received message larger than max"


def rpc_failure(error: Any, what: str) -> CallFailed:
    """Return the fault that a `grpc.aio.AioRpcError` is to a workflow: the code is the status' name, or its number."""
    status, details = error.code(), error.details() or ""
    if _TOO_LARGE in details:
        return permanent_failure("AnswerTooLarge", f"{what}: the answer is too large: {details}")
    number, _ = status.value
    body: JSON = {"code": number, "message": details, "metadata": _readable(error.trailing_metadata() or ())}
    text = f"{what} answered {status.name}" + (f": {details}" if details else "")
    return CallFailed(text, code=status.name, status=number, body=body, cause=type(error).__name__)


def _readable(metadata: Iterable[tuple[str, str | bytes]]) -> dict[str, JSON]:
    """Return metadata as JSON; values of bytes, whose names end in `-bin`, are written in base64."""
    return {key: base64.b64encode(value).decode() if isinstance(value, bytes) else value for key, value in metadata}
