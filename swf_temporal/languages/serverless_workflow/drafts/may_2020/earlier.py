"""Spellings of the texts between November 2019 and May 2020, which have the May draft's data flow already.

They begin where `startsAt` says, as the November draft does, and have its words for types, ends and choices.
"""

from typing import Final

from swf_temporal.languages.serverless_workflow.reading.normalizing import Normalizer
from swf_temporal.text.located import Object, objects_in

CHOICES: Final = {"choices": "dataConditions"}
ENDS: Final = {"type": "kind"}
INJECTED: Final = {"inject": "data"}
CONDITIONS: Final = {"condition": "expression"}
"""Keys that were called otherwise, each for one kind of node."""


def types_as_now(holder: Object, normalizer: Normalizer) -> None:
    """Call a relay state, which injects data, an inject state."""
    for state in _states(holder):
        word = state.get("type")
        if isinstance(word, str) and word.lower() == "relay":
            normalizer.tolerate(f"type {word!r} is read as 'inject'", state.where.value("type"))
            state["type"] = "inject"


def started_within(holder: Object, normalizer: Normalizer) -> None:
    """Say in the state that `startsAt` of a branch or an iteration names that it is the start."""
    named = holder.get("startsAt")
    if not isinstance(named, str):
        return
    for state in _states(holder):
        if named in (state.get("name"), state.get("id")) and "start" not in state:
            place = holder.where.value("startsAt")
            start = Object(place)
            start.put("kind", "default", (place, place))
            state.put("start", start, holder.where.keys["startsAt"])
            normalizer.tolerate(
                "'startsAt' is read as the 'start' of the state that it names", holder.where.key("startsAt")
            )
            holder.take("startsAt")
            return


def completion(node: Object, normalizer: Normalizer) -> None:
    """Read branches of which none is waited for as those of which the first to complete completes the state."""
    branches = objects_in(node.get("branches"))
    waits = [branch.take("waitForCompletion")[0] for branch in branches if "waitForCompletion" in branch]
    if "completionType" in node or not waits or len(waits) < len(branches) or any(wait is not False for wait in waits):
        return
    place = node.where.key("branches")
    node.put("completionType", "xor", (place, place))
    normalizer.tolerate("'waitForCompletion: false' in every branch is read as the completionType 'xor'", place)


def _states(holder: Object) -> list[Object]:
    return objects_in(holder.get("tasks")) + objects_in(holder.get("states"))
