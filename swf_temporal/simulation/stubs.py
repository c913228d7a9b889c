"""What answers the calls of a simulation: values, and callables of the arguments."""

import inspect
from collections.abc import Callable
from typing import Any

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import CallFailed, WorkflowFault
from swf_temporal.base.grammar import with_article
from swf_temporal.base.python_values import json_from
from swf_temporal.base.strict_json import NotJSON, json_of
from swf_temporal.runtime.host import CallFolder, FunctionCall
from swf_temporal.runtime.performing import check_result, size_of
from swf_temporal.simulation.folders import folder_for, wants_folder
from swf_temporal.simulation.variables import VariableStore


async def answer_of(stub: object, arguments: JSON, call: FunctionCall, variables: VariableStore) -> JSON:
    """Return a copy of what *stub* answers to *call*.

    Raises what the call meets on a worker as well: CallFailed if it raises, or its answer is not JSON or too much.
    """
    result = stub
    if callable(stub):
        try:
            # A copy: what a function does to what it was given does nothing to the workflow's data.
            result = await _called(stub, json_of(arguments), call, variables)
        except WorkflowFault:
            raise
        except Exception as error:
            name = type(error).__name__
            raise CallFailed(str(error) or name, name=name) from error
    try:
        value: JSON = json_from(result)
    except NotJSON as error:
        who = f"{'custom ' if call.function.type == 'custom' else ''}function {call.function.name!r}"
        message = f"{who} returned {with_article(type(result).__name__)}, not JSON: {error}"
        raise CallFailed(message, code="NotJSON", retryable=False) from None
    check_result(size_of(value), call.function.name)
    return value


async def _called(stub: Callable[..., Any], arguments: JSON, call: FunctionCall, variables: VariableStore) -> object:
    if not wants_folder(stub):
        result = stub(arguments)
        return await result if inspect.isawaitable(result) else result
    with folder_for(call.folder or CallFolder((), {}), variables) as folder:
        result = stub(arguments, folder)
        return await result if inspect.isawaitable(result) else result
