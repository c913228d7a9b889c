"""The error codes that definitions catch, and the faults with these codes."""

from collections.abc import Mapping
from typing import Final

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import ExpressionFailed, FatalFault, SubflowFailed, WorkflowFault
from swf_temporal.expressions import structured
from swf_temporal.expressions.structured import StructuredJq
from swf_temporal.runtime.host import SecretTemplate

SCHEMA_FAILED: Final = "direktiv.schema.failed"
BAD_ARRAY: Final = "direktiv.foreach.badArray"
ALL_FAILED: Final = "direktiv.parallel.allFailed"
RETRIES_EXCEEDED: Final = "direktiv.retries.exceeded"
MULTIPLE_ERRORS: Final = "direktiv.workflow.multipleErrors"
SOFT_TIMEOUT: Final = "direktiv.cancels.timeout.soft"
HARD_TIMEOUT: Final = "direktiv.cancels.timeout.hard"
CANCELLED_BY_API: Final = "direktiv.cancels.api"
CANCELLED_BY_PARENT: Final = "direktiv.cancels.parent"
BAD_EVENT: Final = "direktiv.event.jq"
SECRET_NOT_FOUND: Final = "direktiv.secrets.notFound"  # noqa: S105 - the code of an error
WORKFLOW_NOT_FOUND: Final = "direktiv.workflow.notfound"
WORKFLOW_UNPARSABLE: Final = "direktiv.workflow.unparsable"
INTERNAL: Final = "direktiv.internal.error"
BAD_COMMAND: Final = "direktiv.jq.badCommand"
NOT_OBJECT: Final = "direktiv.jq.notObject"
_OF_QUERIES: Final = {structured.FAILED: BAD_COMMAND, structured.NOT_OBJECT: NOT_OBJECT}


def fault(code: str, message: str) -> WorkflowFault:
    """Return an error that a state can catch."""
    return WorkflowFault(message, name=code, code=code)


def uncatchable(code: str, message: str) -> FatalFault:
    """Return an error that no state can catch."""
    return FatalFault(message, name=code, code=code)


def internal(message: str) -> FatalFault:
    """Return an error for which the language has no code; no state can catch it."""
    return uncatchable(INTERNAL, message)


def coded(error: ExpressionFailed) -> ExpressionFailed:
    """Return the *error* of a query with the code that definitions use for it."""
    if error.code in _OF_QUERIES:
        error.name = error.code = _OF_QUERIES[error.code]
    return error


def code_and_message(error: WorkflowFault) -> tuple[str, str]:
    """Return code and message of *error*; for a sub-workflow, those that it failed with."""
    if isinstance(error, SubflowFailed) and error.origin is not None:
        return error.code, str(error.origin["message"])
    return error.code, error.message


def fill(given: SecretTemplate, secrets: Mapping[str, JSON]) -> JSON:
    """Return arguments with secrets filled in. Raises WorkflowFault if a query fails."""
    own = given.data if isinstance(given.data, dict) else {}
    data = {**own, "secrets": dict(secrets)}
    jq = StructuredJq.named(given.dialect)
    try:
        return jq.evaluate(given.template, data, float(str(given.variables["__now"])))
    except ExpressionFailed as error:
        raise coded(error) from None
