"""What `$WORKFLOW` has of requests and answers, where the language version has it: `tells_of_requests`."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Final

from swf_temporal.base.calls import Function
from swf_temporal.base.data import JSON
from swf_temporal.languages.serverless_workflow.execution.action_frames import ActionResult
from swf_temporal.languages.serverless_workflow.execution.functions import returns_variables, takes_any_status
from swf_temporal.languages.serverless_workflow.execution.lane import Lane


def _answer_facts(answer: dict[str, JSON]) -> dict[str, JSON]:
    status = answer.get("status")
    return {
        "statusCode": status,
        "statusMessage": next((one.phrase for one in HTTPStatus if one == status), None),
        "responseHeaders": answer.get("headers", {}),
    }


_INHERITING: Final = ("rest", "openapi")
"""The types of functions that send them along: those that an OpenAPI document describes."""


def given_variables(function: Function, arguments: JSON, lane: Lane) -> JSON:
    """Return the *arguments* of a call, with the variables that scripts before it have left for a script."""
    about = lane.variables["WORKFLOW"]
    if not (_shares_variables(function, lane) and isinstance(about, dict) and isinstance(about["python"], dict)):
        return arguments
    return {**about["python"], **(arguments if isinstance(arguments, dict) else {})}


def inherited_headers(function: Function, lane: Lane) -> dict[str, str]:
    """Return the headers of the request that began the instance which a call of *function* sends along."""
    headers = lane.execution.request.get("headers")
    if function.type not in _INHERITING or not isinstance(headers, dict):
        return {}
    return {name: value for name, value in headers.items() if isinstance(value, str)}


def noted_result(function: Function, result: JSON, lane: Lane) -> JSON:
    """Return the *result* of a call, once it is noted what expressions see of it as `$WORKFLOW`."""
    if not isinstance(result, dict):
        return result
    if takes_any_status(function):
        lane.note(**_answer_facts(result))
    elif _shares_variables(function, lane):
        lane.note(python=result)
        return {}
    return result


def _shares_variables(function: Function, lane: Lane) -> bool:
    return returns_variables(function) and lane.program.workflow.language_version.tells_of_requests


def after_result(effects: Sequence[ActionResult] | None, lane: Lane) -> dict[str, JSON] | None:
    """Return the variables of the next action of an iteration, whose actions have yielded *effects* so far.

    None where it has none of its own: outside of iterations, before the first result, and in most language versions.
    """
    about = lane.variables["WORKFLOW"]
    if not effects or not isinstance(about, dict) or not lane.program.workflow.language_version.tells_of_requests:
        return None
    return {"WORKFLOW": {**about, "prevActionResult": effects[-1].value}}
