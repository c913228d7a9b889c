"""Other languages whose documents look like definitions, and are refused by their names."""

from dataclasses import dataclass
from typing import Final

from swf_temporal.languages.serverless_workflow.reading.versions.marks import VersionEvidence
from swf_temporal.languages.serverless_workflow.reading.versions.shapes import Shape, keyed, within
from swf_temporal.text.located import Object

# A tuple, because what stands in the place of a type may be anything, and only equality works on anything.
_DIREKTIV_TYPES = (
    "action", "consumeEvent", "delay", "error", "eventAnd", "eventXor", "generateEvent", "getter", "noop",
    "setter", "validate",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class OtherLanguage:
    """A language whose documents are not read here."""

    title: str
    """What people call it."""
    shape: Shape
    """What shows it."""
    hint: str | None = None
    """What else is to be said to the author of such a document."""


def other_language(root: Object) -> tuple[OtherLanguage, VersionEvidence] | None:
    """Return the other language that *root* is written in, and what shows it, if it is one."""
    return next(((one, found) for one in FOREIGN if (found := one.shape(root)) is not None), None)


def _without_states(*keys: str) -> Shape:
    shape = keyed(*keys)
    return lambda root: None if "states" in root else shape(root)


def _resource(root: Object) -> VersionEvidence | None:
    if "states" in root or not all(key in root for key in ("apiVersion", "kind", "spec")):
        return None
    return VersionEvidence("kind", root.where.key("kind"))


def _direktiv(state: Object) -> str | None:
    if "name" in state or "id" not in state:
        return None
    return (
        "type"
        if state.get("type") in _DIREKTIV_TYPES
        else next((k for k in ("transform", "catch") if k in state), None)
    )


FOREIGN: Final = (
    OtherLanguage(
        "Serverless Workflow 1.0",
        _without_states("document", "do"),
        "that is another language: it has tasks under 'do' and no states, and swf-temporal does not translate it",
    ),
    OtherLanguage("Amazon States Language", keyed("StartAt", "States")),
    OtherLanguage(
        "Kubernetes",
        _resource,
        "the definition in a SonataFlow resource is what stands under 'spec.flow': write it to a file of its own, with "
        "metadata.name as its id, and a version and specVersion: '0.8'",
    ),
    OtherLanguage("the Direktiv form", within("states", _direktiv)),
)
"""Each language that is told apart. The first that applies is taken."""
