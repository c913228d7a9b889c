"""A definition says which specification it follows (section "Workflow Definition Structure")."""

from collections.abc import Iterator

from swf_temporal.errors import Problem
from swf_temporal.languages.serverless_workflow.reading.versions.detection import NUMBERS
from swf_temporal.languages.serverless_workflow.validation.context import Context

_UNSAID = ("0.5", "0.6")
"""The versions in which a definition need not say its own."""

_LATER = "1.0 is another language, with 'document' and 'do', and does not run here; this looks like 0.8: write that"
_OTHER = "write '0.8' once it runs as you mean it"


def check(context: Context) -> Iterator[Problem]:
    """Yield a warning if specVersion is missing, or names a version that is not known.

    That it names another version than the shape shows is told where the shape is looked at.
    """
    workflow = context.workflow
    if workflow.spec_version is None:
        if workflow.language_version not in _UNSAID:
            hint = "write 'specVersion: \"0.8\"'"
            yield context.warning("spec-version", "the workflow has no specVersion", workflow.where.position, hint)
        return
    plain = workflow.spec_version.removeprefix("v")
    if not plain.startswith(NUMBERS):
        message = f"specVersion is {workflow.spec_version!r}: the definition is read as 0.8, the version that runs here"
        hint = _LATER if plain.startswith("1") else _OTHER
        yield context.warning("spec-version", message, workflow.where.value("specVersion"), hint)
    elif plain != workflow.spec_version:
        message = f"specVersion {workflow.spec_version!r} is read as {plain!r}"
        yield context.warning("tolerated-spelling", message, workflow.where.value("specVersion"), f"write {plain!r}")
