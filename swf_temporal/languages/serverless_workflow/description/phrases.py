"""Phrases for actions and for the ways out of a state."""

import json
from typing import Any

from swf_temporal.languages.serverless_workflow.description.stated import Facts


def of_action(action: Facts) -> str:
    """Return what an action does, in a line."""
    parts = []
    if "calls" in action:
        parts.append(f"calls {action['calls']}")
    if "runs" in action:
        parts.append(f"runs workflow {of_workflow(action['runs'], action)}")
    if "produces" in action:
        parts.append(f"produces {action['produces']}")
    if "awaits" in action:
        parts.append(f"waits for {action['awaits']}")
    words = " and ".join(parts) or "does nothing"
    words += ", without waiting for it" if action.get("asynchronous") else ""
    words += f", if {of_value(action['condition'])}" if "condition" in action else ""
    words += f", tried again by {action['retry']}" if "retry" in action else ""
    words += "".join(f", after a pause of {pause}" for key, pause in action.get("sleep", {}).items() if key == "before")
    return f"{action['name']}: {words}" if "name" in action else words


def of_target(way: Facts) -> str:
    """Return where a way leads: the name of a state, or the end."""
    if "to" in way:
        return str(way["to"])
    if "continuesAs" in way:
        return f"workflow {of_workflow(way['continuesAs'], way)}"
    return "the end of all paths" if way.get("terminates") else "end"


def of_occasion(way: Facts) -> str:
    """Return what a way is taken on; nothing for the one that a state takes when it is done."""
    match way["on"]:
        case "condition":
            return f"if {of_value(way['condition'])}"
        case "event":
            return f"on {way['event']}"
        case "default":
            return "otherwise"
        case "error":
            return f"on error {', '.join(way['errors'])}"
        case _:
            return ""


def of_consequences(way: Facts) -> list[str]:
    """Return what else happens on a way."""
    undone = ["undoes what was done"] if way.get("compensates") else []
    return [*undone, *(f"produces {event}" for event in way.get("produces", ()))]


def of_workflow(workflow_id: str, reference: Facts) -> str:
    """Return the id of another workflow, with the version that *reference* asks for."""
    return f"{workflow_id} {reference['version']}" if "version" in reference else workflow_id


def of_value(value: Any) -> str:
    """Return a text as it is, and anything else as JSON, in a line."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return " ".join(text.split())
