"""Rule: the numbers of a retry are valid (section "Retry Definition")."""

from collections.abc import Iterator

from swf_temporal.base.durations import parse_duration
from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.model.workflow import Retry
from swf_temporal.languages.serverless_workflow.validation.context import Context, number


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each number of a retry that is invalid, negative or, for jitter, above one."""
    for retry, owner in context.nodes.each(Retry):
        attempts, multiplier = number(retry.max_attempts), number(retry.multiplier)
        if attempts is None or attempts < 0 or attempts != int(attempts):
            message = f"{owner}: maxAttempts {retry.max_attempts!r} is not a number of attempts"
            hint = "write a whole number, such as 3, or leave it out to retry without end"
            yield context.error("retry", message, retry.where.value("maxAttempts"), hint)
        if multiplier is None or multiplier < 0:
            message = f"{owner}: multiplier {retry.multiplier!r} is not a positive number"
            hint = "write the factor by which the delay grows, such as 2"
            yield context.error("retry", message, retry.where.value("multiplier"), hint)
        if not _is_jitter(retry.jitter):
            message = f"{owner}: jitter {retry.jitter!r} is neither a fraction from 0 to 1 nor a duration"
            hint = "write 0.2 for up to a fifth of the delay, or PT2S for up to two seconds"
            yield context.error("retry", message, retry.where.value("jitter"), hint)


def _is_jitter(jitter: float | str | None) -> bool:
    fraction = number(jitter)
    if fraction is not None:
        return 0 <= fraction <= 1
    try:
        return parse_duration(str(jitter)).total_seconds() >= 0
    except ValueError:
        return False
