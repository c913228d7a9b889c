"""The limit of concurrent instances of a definition: `metadata.concurrency`.

It is a number, or an object with a `limit` and a `key`, an expression over the input.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import WorkflowFault
from swf_temporal.expressions.compiled import Several
from swf_temporal.expressions.evaluation import NOTHING
from swf_temporal.languages.port import MAX_PLACES, Concurrency

if TYPE_CHECKING:
    from swf_temporal.languages.serverless_workflow.execution.execution import Execution

METADATA: Final = "concurrency"
"""The key in the definition's metadata."""


def concurrency_of(metadata: Mapping[str, Any]) -> Concurrency | None:
    """Return the limit that *metadata* of a definition set; None if they set none or an invalid one."""
    asked = metadata.get(METADATA)
    limit, key = (asked.get("limit"), asked.get("key")) if isinstance(asked, dict) else (asked, None)
    number = limit_of(limit)
    if number is None or not (key is None or isinstance(key, str)):
        return None
    return Concurrency(number, key)


def limit_of(value: JSON) -> int | None:
    """Return *value*, which may be a text, as a number of instances; None if it is not a valid one."""
    if isinstance(value, str) and value.strip().isdecimal() and len(value) <= len(str(MAX_PLACES)):
        # In the specification, metadata values are texts (section "Workflow Metadata").
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_PLACES:
        return value
    return None


async def concurrency_key(execution: "Execution") -> JSON:
    """Return the value of the definition's key for the input; null without a key. Raises WorkflowFault."""
    asked = concurrency_of(execution.program.workflow.metadata)
    if asked is None or asked.key is None:
        return None
    try:
        return await of_input(execution, asked.key)
    except WorkflowFault as fault:
        facts = {**fault.to_json(), "message": f"the key of metadata.concurrency: {fault.message}"}
        raise WorkflowFault.from_json(facts) from None


async def of_input(execution: "Execution", written: JSON) -> JSON:
    """Return the value of a part of the metadata, as *written*, for the input. Raises WorkflowFault."""
    compiled = execution.program.expressions.template(written)
    data, variables = execution.run.input, execution.variables()
    yielded = await execution.run.evaluated(lambda: compiled(data, variables))
    return None if yielded is NOTHING else list(yielded) if isinstance(yielded, Several) else yielded
