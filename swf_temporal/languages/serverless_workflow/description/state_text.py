"""The facts of a state as lines of text."""

from collections.abc import Iterator

from swf_temporal.languages.serverless_workflow.description import phrases
from swf_temporal.languages.serverless_workflow.description.compact import Facts


def lines_of_state(state: Facts) -> Iterator[str]:
    """Yield the name of a state and, indented, what it does and where it leads."""
    undoing = ", to undo another" if state.get("usedForCompensation") else ""
    yield f"{state['name']}: {phrases.of_type(state)}{undoing}"
    for line in _work(state):
        yield f"  {line}"
    for name, length in state.get("timeouts", {}).items():
        yield f"  {name} {length}"
    for retry in state.get("retries", ()):
        yield f"  {phrases.of_state_retry(retry)}"
    if "compensatedBy" in state:
        yield f"  undone by {state['compensatedBy']}"
    for way in state["ways"]:
        words = [f"→ {phrases.of_target(way)}", phrases.of_occasion(way), *phrases.of_consequences(way)]
        yield f"  {', '.join(word for word in words if word)}"


def _work(state: Facts) -> Iterator[str]:
    repeated = phrases.looped(state)
    if repeated is not None:
        yield f"for {', '.join(_iterations(state))}"
        yield from _work(repeated)
        return
    match state["type"]:
        case "event":
            yield from _awaited(state)
        case "sleep":
            yield f"waits {state['duration']}"
        case "inject":
            yield f"puts in {phrases.of_value(state['data'])}"
        case "foreach":
            yield ", ".join(_iterations(state))
        case "parallel":
            enough = state.get("numCompleted", 0) if state["completionType"] == "atLeast" else "all"
            yield f"until {enough} of these are complete"
            for branch in state["branches"]:
                yield f"branch {branch['name']}{'' if branch.get('isAwaited', True) else ', not waited for'}"
                yield from (f"  {line}" for line in _actions(branch))
    yield from _actions(state)
    if "repeat" in state:
        yield phrases.of_repeat(state["repeat"])
    if state["type"] == "callback":
        yield f"waits for {state['awaits'][0]}"


def _iterations(state: Facts) -> Iterator[str]:
    param = f" as {state['iterationParam']}" if "iterationParam" in state else ""
    yield f"each of {state['inputCollection']}{param}"
    yield state["mode"]
    if "batchSize" in state:
        yield f"{state['batchSize']} at once"
    if "pause" in state:
        yield f"{state['pause']} apart"
    if "until" in state:
        yield f"until {state['until']}"


def _awaited(state: Facts) -> Iterator[str]:
    together = " and " if state["waitsFor"] == "all" else " or "
    for entry in state["onEvents"]:
        within = f", for {entry['timeout']}" if "timeout" in entry else ""
        yield f"waits for {entry.get('expression') or together.join(entry['awaits'])}{within}"
        yield from (f"  {line}" for line in _actions(entry))


def _actions(owner: Facts) -> Iterator[str]:
    if owner.get("actionMode") == "parallel":
        yield "side by side:"
    yield from map(phrases.of_action, owner.get("actions", ()))
    for state in owner.get("states", ()):
        yield from lines_of_state(state)
