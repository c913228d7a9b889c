"""Definitions in resources of Kubernetes: `kind: SonataFlow` has one under `spec.flow`, and says its id beside it."""

from typing import Any, Final

from swf_temporal.languages.serverless_workflow.upgrading.report import UpgradeReport
from swf_temporal.languages.serverless_workflow.upgrading.trees import Tree
from swf_temporal.text.round_trip import add

KIND: Final = "SonataFlow"
_ANNOTATIONS: Final = {
    "sonataflow.org/version": "version",
    "sonataflow.org/description": "description",
    "sonataflow.org/expressionLang": "expressionLang",
}


def is_resource(root: Any) -> bool:
    """Tell whether *root* is such a resource, with a definition in it."""
    return isinstance(root, dict) and root.get("kind") == KIND and isinstance(flow_of(root), dict)


def flow_of(root: Tree) -> Any:
    """Return what is under `spec.flow`."""
    spec = root.get("spec")
    return spec.get("flow") if isinstance(spec, dict) else None


def unwrapped(root: Tree, report: UpgradeReport) -> Tree:
    """Return the definition in the resource *root*, with the id, version and description that the resource says."""
    flow: Tree = flow_of(root)
    metadata = root.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    annotations = metadata.get("annotations")
    annotations = annotations if isinstance(annotations, dict) else {}
    said = {key: annotations[name] for name, key in _ANNOTATIONS.items() if name in annotations and key not in flow}
    for key, value in reversed(said.items()):
        add(flow, key, value)
    if "id" not in flow and isinstance(metadata.get("name"), str):
        add(flow, "id", metadata["name"])
    report.reshaped(f"the definition is taken out of the resource of kind {KIND}")
    return flow
