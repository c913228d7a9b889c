"""From 0.8 to the text after it: the events of actions have other names, and states have no ids."""

from swf_temporal.languages.serverless_workflow.upgrading.trees import (
    Tree,
    UpgradeReport,
    actions,
    children,
    leavings,
    renamed,
    states,
)

_EVENT_REFS = {
    "triggerEventRef": "produceEventRef",
    "resultEventRef": "consumeEventRef",
    "resultEventTimeout": "consumeEventTimeout",
}


def upgrade(root: Tree, report: UpgradeReport) -> None:
    """Rewrite *root*, a definition of 0.8, as its successor."""
    for _, action in actions(root):
        for reference in children(action, "eventRef"):
            for old in renamed(reference, _EVENT_REFS):
                report.respelled(f"{old} is {_EVENT_REFS[old]}", reference)
    _without_ids(root, report)
    for state in states(root):
        if state.get("type") == "sleep" and "timeouts" in state:
            report.inexpressible(f"timeouts of the sleep state {state.get('name')!r}", state)


def _without_ids(root: Tree, report: UpgradeReport) -> None:
    names = {state.get("name") for state in states(root)}
    ids = {
        state["id"]: state["name"]
        for state in states(root)
        if "id" in state and "name" in state and state["id"] not in names
    }
    for state in states(root):
        if state.pop("id", None) is not None:
            report.reshaped("states have no ids: they are referred to by their names", state)
        _named(state, "compensatedBy", ids)
    for node in leavings(root):
        _named(node, "transition", ids)
        for transition in children(node, "transition"):
            _named(transition, "nextState", ids)
    _named(root, "start", ids)
    for start in children(root, "start"):
        _named(start, "stateName", ids)


def _named(node: Tree, key: str, ids: dict[str, str]) -> None:
    """Replace the id of a state by its name."""
    if isinstance(node.get(key), str):
        node[key] = ids.get(node[key], node[key])
