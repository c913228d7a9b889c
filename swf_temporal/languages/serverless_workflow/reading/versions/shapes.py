"""The shapes of documents of other languages, and of the drafts before 0.5, which single keys do not show."""

from collections.abc import Callable
from typing import TypeAlias

from swf_temporal.languages.serverless_workflow.reading.versions.marks import VersionEvidence, objects
from swf_temporal.text.located import Object

Shape: TypeAlias = Callable[[Object], VersionEvidence | None]
"""Returns the key that shows a language or draft, if a document has it."""


def first_of(*shapes: Shape) -> Shape:
    return lambda root: next((found for shape in shapes if (found := shape(root)) is not None), None)


def keyed(*keys: str) -> Shape:
    return lambda root: next((VersionEvidence(key, root.where.key(key)) for key in keys if key in root), None)


def within(path: str, claim: Callable[[Object], str | None]) -> Shape:
    """Return the shape that shows in the key which *claim* returns for one of the objects at *path*."""
    keys = path.split(".")

    def shape(root: Object) -> VersionEvidence | None:
        claimed = ((node, claim(node)) for node in objects(root, keys))
        return next((VersionEvidence(key, node.where.key(key)) for node, key in claimed if key), None)

    return shape


def one_of(*keys: str) -> Callable[[Object], str | None]:
    """Return a claim of the first of *keys* that an object has."""
    return lambda node: next((key for key in keys if key in node), None)
