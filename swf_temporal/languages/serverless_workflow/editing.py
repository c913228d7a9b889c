"""Support for editors: the keys that have names as values in all versions, and the values of expressions."""

import re
from functools import partial
from typing import Final

from swf_temporal.base.data import JSON
from swf_temporal.expressions.compiled import EvaluationOutcome
from swf_temporal.expressions.evaluation import Expressions
from swf_temporal.languages.marks import Kind, NameKeys
from swf_temporal.languages.port import ShownExpression
from swf_temporal.languages.serverless_workflow.expressions import VARIABLES

NAMES: Final = NameKeys(
    defining={
        "states": Kind.STATE, "tasks": Kind.STATE,
        "functions": Kind.FUNCTION,
        "events": Kind.EVENT, "triggerDefs": Kind.EVENT,
        "errors": Kind.ERROR, "retries": Kind.RETRY, "auth": Kind.AUTH,
    },
    referring={
        **dict.fromkeys(
            ("transition", "nextState", "nextTask", "next-state", "stateName", "startsAt", "compensatedBy",
             "runBefore"), Kind.STATE,
        ),
        **dict.fromkeys(("functionRef", "refName", "function"), Kind.FUNCTION),
        **dict.fromkeys(
            ("eventRef", "eventRefs", "triggerEventRef", "resultEventRef", "produceEventRef", "consumeEventRef"),
            Kind.EVENT,
        ),
        **dict.fromkeys(("errorRef", "errorRefs", "retryableErrors", "nonRetryableErrors"), Kind.ERROR),
        "retryRef": Kind.RETRY,
        "authRef": Kind.AUTH,
    },
    at={("start",): Kind.STATE},
)  # fmt: skip
_EXPRESSION: Final = re.compile(r"\$\{\s*(.*?)\s*\}(?=[\"']?\s*(?:[,}\]]|#|$))")


def expression_at(line: str, column: int) -> ShownExpression | None:
    """Return the expression in braces at *column* of *line*, if there is one."""
    for found in _EXPRESSION.finditer(line):
        if found.start() <= column <= found.end():
            return ShownExpression(found.start(), found.end(), partial(_yielded, found[1]))
    return None


def _yielded(text: str, data: JSON) -> EvaluationOutcome:
    return Expressions(variables=VARIABLES).expression(f"${{ {text} }}")(data, {})
