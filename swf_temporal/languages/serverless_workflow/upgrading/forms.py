"""Rewriting texts that are read as booleans or as lists with one element."""

from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow
from swf_temporal.languages.serverless_workflow.reading.externals import KINDS
from swf_temporal.languages.serverless_workflow.reading.normalizing import TRUTHS, NodeField, parts
from swf_temporal.languages.serverless_workflow.upgrading.report import UpgradeReport
from swf_temporal.languages.serverless_workflow.upgrading.trees import Tree, children


def upgrade(node: Tree, report: UpgradeReport, kind: type[Node] = Workflow) -> None:
    """Rewrite such texts in *node*, which is of that *kind*, as booleans and lists."""
    for key, part in parts(kind).items():
        value = node.get(key)
        if part.kinds:
            for one in children(node, key):
                inner = _kind(part, one)
                if inner is not None:
                    upgrade(one, report, inner)
        elif not isinstance(value, str):
            continue
        elif part.truth and value.lower() in TRUTHS:
            node[key] = TRUTHS[value.lower()]
            report.respelled(f"{key} is true or false", node)
        elif part.many and key not in KINDS:  # under those keys a text is a URI
            node[key] = [value]
            report.respelled(f"{key} is a list", node)


def _kind(part: NodeField, node: Tree) -> type[Node] | None:
    if len(part.kinds) == 1:
        return next(iter(part.kinds.values()))
    return part.kinds.get(str(node.get("type")))
