"""A definition says which specification it follows (section "Workflow Definition Structure")."""

from collections.abc import Iterator

from swf_temporal.errors import Problem
from swf_temporal.validation.context import Context

KNOWN = ("0.6", "0.7", "0.8", "0.9")
"""The versions that are close enough to 0.8 to be read as it."""


def check(context: Context) -> Iterator[Problem]:
    """Yield a warning if specVersion is missing, or names a version that is not known here."""
    workflow = context.workflow
    if workflow.spec_version is None:
        hint = "write 'specVersion: \"0.8\"'"
        yield context.warning("spec-version", "the workflow has no specVersion", workflow.where.position, hint)
    elif workflow.spec_version.startswith("v") and workflow.spec_version.startswith(KNOWN, 1):
        plain = workflow.spec_version[1:]
        message = f"specVersion {workflow.spec_version!r} is read as {plain!r}"
        yield context.warning("tolerated-spelling", message, workflow.where.value("specVersion"), f"write {plain!r}")
    elif not workflow.spec_version.startswith(KNOWN):
        message = f"specVersion {workflow.spec_version!r} is not known here: the definition is read as 0.8"
        yield context.warning("spec-version", message, workflow.where.value("specVersion"))
