"""What a function is given that a script answers: its arguments, with the secrets of the workflow."""

from collections.abc import Mapping

from swf_temporal.data import JSON
from swf_temporal.errors import CallFailed
from swf_temporal.runtime.host import FunctionCall
from swf_temporal.runtime.performing import filled


def arguments_of(call: FunctionCall, secrets: Mapping[str, JSON]) -> JSON:
    """Return the arguments of *call*, filled from *secrets* as a worker fills them from its own.

    Raises CallFailed where a secret is declared and not given, and ExpressionFailed.
    """
    if call.deferred is None:
        return call.arguments
    from swf_temporal.functions.secrets import Secrets  # noqa: PLC0415 - heavy, and seldom needed

    try:
        return filled(call, Secrets(secrets).entrusted(call.secrets))
    except CallFailed as fault:
        fault.message = f"{fault.message.partition(': ')[0]}: give it in `secrets`"
        raise
