"""Secrets, filled in where a call is performed."""

from collections.abc import Mapping

from swf_temporal.base.data import JSON
from swf_temporal.base.errors import ExpressionFailed
from swf_temporal.expressions.structured import StructuredJq
from swf_temporal.languages.direktiv.codes import coded
from swf_temporal.runtime.host import SecretTemplate


def fill(given: SecretTemplate, secrets: Mapping[str, JSON]) -> JSON:
    """Return arguments with secrets filled in. Raises WorkflowFault where a query fails."""
    own = given.data if isinstance(given.data, dict) else {}
    data = {**own, "secrets": dict(secrets)}
    jq = StructuredJq.named(given.dialect)
    try:
        return jq.evaluate(given.template, data, float(str(given.variables["__now"])))
    except ExpressionFailed as error:
        raise coded(error) from None
