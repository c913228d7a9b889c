"""What the memo of a workflow says of the request that began it: `headers`, an object of texts, and `identity`.

A memo is there from the start of an execution on, is carried on by continue-as-new, and can be given with a start by
every client.
"""

from typing import Final

from temporalio import workflow

from swf_temporal.base.data import JSON
from swf_temporal.runtime.host import request_in

_KEYS: Final = ("headers", "identity")


def request_of_workflow() -> dict[str, JSON]:
    """Return what the memo of the running workflow says of its request; what is of another kind says nothing."""
    if not any(key in workflow.info().raw_memo for key in _KEYS):
        return {}
    try:
        return request_in({key: workflow.memo_value(key, None) for key in _KEYS})
    except (RuntimeError, ValueError, TypeError):  # another client's, in a form of its own
        return {}
