"""What variables, sub-workflows and calls of an instance are named after, so that its later runs find them again."""

from temporalio import workflow

from swf_temporal.temporal.records import Pin


def origin_of(pin: Pin) -> str:
    """Return the id of the first run of the instance that asks, also where it goes on in another."""
    return pin.lineage.origin or workflow.info().first_execution_run_id
