"""The functions of a definition, as what performs them sees them."""

from swf_temporal.base.calls import Function as Callee
from swf_temporal.languages.direktiv.model.workflow import (
    Function,
    JobFunction,
    SharedFunction,
    SubflowFunction,
    WorkflowFunction,
)

TYPE = "direktiv"
"""The word by which what performs calls knows functions of this language."""
KINDS = {"reusable": "knative-workflow", "isolated": "kubernetes-job"}
"""Former words for types of functions."""


def called(function: Function) -> Callee:
    operation = {"type": KINDS.get(function.type, function.type)}
    match function:
        case WorkflowFunction() | JobFunction():
            operation["image"] = function.image
        case SharedFunction():
            operation["service"] = function.service
        case SubflowFunction():
            operation["workflow"] = function.workflow
    return Callee(function.id, TYPE, operation)
