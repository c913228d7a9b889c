"""Rule: numbers of branches and iterations make sense (sections "Parallel State" and "ForEach State")."""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.model.states import ForeachState, ParallelState
from swf_temporal.languages.serverless_workflow.validation.context import Context, is_open, number


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each numCompleted and batchSize that is impossible, missing, or unused."""
    for parallel, owner in context.nodes.each(ParallelState):
        yield from _completed(context, parallel, owner)
    for foreach, owner in context.nodes.each(ForeachState):
        if foreach.batch_size is None:
            continue
        size, position = number(foreach.batch_size), foreach.where.value("batchSize")
        if size is None or size < 0 or size != int(size):
            message = f"{owner}: batchSize {foreach.batch_size!r} is not a number of iterations"
            hint = "write how many may run concurrently, or leave it out for all"
            yield context.error("batch-size", message, position, hint)
        elif foreach.mode == "sequential":
            message = f"{owner} is sequential: its batchSize has no effect"
            hint = "remove it, or write 'mode: parallel' if that many may run concurrently"
            yield context.warning("batch-size", message, foreach.where.key("batchSize"), hint)
        elif size <= 1 and not is_open(foreach.batch_size) and context.workflow.language_version.name.startswith("0.8"):
            runs = "one iteration after the other" if size else "all iterations concurrently"
            message = f"{owner}: batchSize {size:g} must be greater than 1: this runs {runs}"
            hint = "write 'mode: sequential' for one after the other, or leave batchSize out for all"
            yield context.warning("batch-size", message, position, hint)


def _completed(context: Context, state: ParallelState, owner: str) -> Iterator[Problem]:
    count, position = number(state.num_completed), state.where.value("numCompleted")
    if count is None or count != int(count):
        message = f"{owner}: numCompleted {state.num_completed!r} is not a number of branches"
        yield context.error("num-completed", message, position, f"write a number from 1 to {len(state.branches)}")
    elif state.num_completed is None:
        if state.completion_type == "atLeast":
            message = f"{owner} has completionType atLeast, but no numCompleted"
            hint = f"write how many of its {len(state.branches)} branches are enough, as in numCompleted: 1"
            yield context.error("num-completed", message, state.where.value("completionType"), hint)
    elif state.completion_type == "allOf":
        message = f"{owner} completes with all of its branches: numCompleted has no effect"
        hint = f"write completionType: atLeast if {state.num_completed} branches are enough, or remove it"
        yield context.warning("num-completed", message, state.where.key("numCompleted"), hint)
    elif not is_open(state.num_completed) and not 0 <= count <= len(state.branches):
        message = f"{owner} waits for {count:g} branches, but has {len(state.branches)}"
        hint = f"write a number from 1 to {len(state.branches)}, or completionType: allOf to wait for all"
        yield context.error("num-completed", message, position, hint)
