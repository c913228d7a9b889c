"""Does the input that was given on the command line fit the workflow that it is for?"""

from swf_temporal.data import JSON
from swf_temporal.errors import UsageError
from swf_temporal.languages.port import Definition


def refuse_unfit(workflow: Definition, data: JSON) -> None:
    """Raise UsageError if a run of *workflow* would fail at once, because *data* does not fit its schema."""
    refusal = workflow.refusal_of({} if data is None else data)
    if refusal is not None:
        raise UsageError(refusal, f"dataInputSchema of {workflow.id!r} says what the input has to be")
