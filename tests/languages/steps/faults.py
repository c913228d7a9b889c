"""The public form of faults: problem details (RFC 9457)."""

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import WorkflowFault


def problem_of(fault: WorkflowFault) -> dict[str, JSON]:
    known: dict[str, JSON] = {
        "type": fault.name, "title": fault.message, "status": fault.status, "instance": fault.state,
    }  # fmt: skip
    return {key: value for key, value in known.items() if value is not None}
