"""Signals that come in one activation, handed to the run together.

The SDK makes a task for each signal, which takes it longer than the run needs to take the event in. An instance that
many events are sent to is given them several at a time; so signals of one name that follow one another are made one
signal, with their values one after the other. What the run does is the same, in the same order: the tasks would have
run in a row.
"""

from typing import Final

from temporalio.bridge.proto.workflow_activation import WorkflowActivation

WORTH_MERGING: Final = 3
"""The number of jobs from which on there is something to be gained."""


class TakesBatches:
    """A workflow whose handler of signals knows that each value may be a signal of its own: `activations.has_batches`.

    Of all other workflows signals are left as they are.
    """


def merge_signals(act: WorkflowActivation) -> bool:
    """Merge the signals of *act* that follow one another and have one name.

    Returns whether there were any: then each value of a signal in *act* is a signal of its own. Where a signal has no
    value, or several, all are left as they are.
    """
    jobs = act.jobs
    spans: list[tuple[int, int]] = []
    first, name = -1, ""
    for index, job in enumerate(jobs):
        signal = job.signal_workflow if job.HasField("signal_workflow") else None
        if signal is not None and len(signal.input) != 1:
            return False
        if first >= 0 and (signal is None or signal.signal_name != name):
            spans.append((first, index))
            first = -1
        if first < 0 and signal is not None:
            first, name = index, signal.signal_name
    if first >= 0:
        spans.append((first, len(jobs)))
    for begin, end in reversed(spans):
        values = jobs[begin].signal_workflow.input
        for job in jobs[begin + 1 : end]:
            values.add().CopyFrom(job.signal_workflow.input[0])
        del jobs[begin + 1 : end]
    return bool(spans)
