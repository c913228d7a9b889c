"""A definition says which specification it follows (section "Workflow Definition Structure")."""

from collections.abc import Iterator

from swf_temporal.errors import Problem
from swf_temporal.languages.serverless_workflow.reading.versions import v0_8
from swf_temporal.languages.serverless_workflow.validation.context import Context

OURS = v0_8.VERSION.numbers[0]
"""The version that is supported; its patches are the same."""

_LATER = "1.0 is another language, with 'document' and 'do', and does not run here; this looks like 0.8: write that"
_OTHER = "write '0.8' once it runs as you mean it"


def check(context: Context) -> Iterator[Problem]:
    """Yield a warning if specVersion is missing, or names another version than that which is carried out."""
    workflow = context.workflow
    if workflow.spec_version is None:
        hint = "write 'specVersion: \"0.8\"'"
        yield context.warning("spec-version", "the workflow has no specVersion", workflow.where.position, hint)
    elif workflow.spec_version.startswith("v") and workflow.spec_version.startswith(OURS, 1):
        plain = workflow.spec_version[1:]
        message = f"specVersion {workflow.spec_version!r} is read as {plain!r}"
        yield context.warning("tolerated-spelling", message, workflow.where.value("specVersion"), f"write {plain!r}")
    elif not workflow.spec_version.startswith(OURS):
        message = f"specVersion is {workflow.spec_version!r}: the definition is read as 0.8, the version that runs here"
        hint = _LATER if workflow.spec_version.lstrip("v").startswith("1") else _OTHER
        yield context.warning("spec-version", message, workflow.where.value("specVersion"), hint)
