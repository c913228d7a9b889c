"""Phrases for actions and for the ways out of a state."""

import json
from typing import Any

from swf_temporal.languages.serverless_workflow.description.compact import Facts


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
    words += f", for {action['timeout']} at most" if "timeout" in action else ""
    words += f", tried again by {action['retry']}" if "retry" in action else ""
    words += "".join(f", {_of_result_retry(one)}" for one in action.get("resultRetries", ()))
    words += "".join(f", after a pause of {pause}" for key, pause in action.get("sleep", {}).items() if key == "before")
    return f"{action['name']}: {words}" if "name" in action else words


def _of_result_retry(retry: Facts) -> str:
    times = retry.get("times", 0)
    often = "as often as it takes" if times is None else f"{times} more time{'' if times == 1 else 's'}"
    after = f" after {retry['interval']} each" if "interval" in retry and times != 0 else ""
    return f"on {retry['match']} {often}{after}"


def of_state_retry(retry: Facts) -> str:
    """Return when, how often and after how long a whole state is run once more."""
    times = retry.get("maxAttempts", 0)
    often = f"again {times} time{'' if times == 1 else 's'} at most" if times else "never again"
    after = f", after {retry['delay']}" if times and "delay" in retry else ""
    more = f" and {retry['increment']} more each time" if after and "increment" in retry else ""
    return f"{often} if {of_value(retry['condition'])}{after}{more}"


def of_repeat(repeat: Facts) -> str:
    """Return how often, and until when, a sub-workflow is run again and again (0.6)."""
    words = ["again and again"]
    if "expression" in repeat:
        asked = "before" if repeat.get("checkBefore", True) else "after"
        words.append(f"while {of_value(repeat['expression'])} holds {asked} each run")
    if repeat.get("max"):
        words.append(f"{of_value(repeat['max'])} times at most")
    if "stopOnEvents" in repeat:
        words.append(f"until {' or '.join(repeat['stopOnEvents'])} came")
    if repeat.get("continueOnError"):
        words.append("also after an error")
    return ", ".join(words)


def of_type(state: Facts) -> str:
    """Return the type of a state, in the word of its version."""
    return str(state.get("writtenType", state["type"]))


def looped(state: Facts) -> Facts | None:
    """Return the state that *state* is for each element, where it is one with a loop (November 2019)."""
    return state["states"][0] if state["type"] == "foreach" and "writtenType" in state else None


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
            return f"if {of_condition(way['condition'])}"
        case "event":
            return f"on {way['event']}"
        case "default":
            return "otherwise"
        case "error" if "condition" in way:
            return f"on an error, if {of_value(way['condition'])}"
        case "error":
            return f"on error {', '.join(way['errors'])}"
        case "retry":
            return f"if {way['match']} comes again and again"
        case _:
            return ""


_JOINED = {"all": " and ", "any": " or ", "none": " nor "}


def of_condition(condition: Any) -> str:
    """Return a condition: comparisons, which the drafts have, as they are read aloud, anything else as it is."""
    if not isinstance(condition, dict):
        return of_value(condition)
    for join, word in _JOINED.items():
        if isinstance(condition.get(join), list):
            words = word.join(map(_comparison, condition[join]))
            return f"not {words}" if join == "none" else words
    return _comparison(condition)


def _comparison(facts: Facts) -> str:
    value = [] if facts.get("value") is None else [of_value(facts["value"])]
    return " ".join([facts["path"], facts["operator"], *value])


def of_consequences(way: Facts) -> list[str]:
    """Return what else happens on a way."""
    allowed = [f"only if {of_value(way['onlyIf'])}"] if "onlyIf" in way else []
    undone = ["undoes what was done"] if way.get("compensates") else []
    return [*allowed, *undone, *(f"produces {event}" for event in way.get("produces", ()))]


def of_workflow(workflow_id: str, reference: Facts) -> str:
    """Return the id of another workflow, with the version that *reference* asks for."""
    return f"{workflow_id} {reference['version']}" if "version" in reference else workflow_id


def of_value(value: Any) -> str:
    """Return a text as it is, and anything else as JSON, in a line."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return " ".join(text.split())
