"""Other spellings of the draft: its predecessor's names, and those in its examples.

Some examples have `startsAt`, as in the November draft, and its words for types, ends and choices.
"""

from collections.abc import Mapping
from typing import Final

from swf_temporal.expressions.comparing import FORMER_OPERATORS
from swf_temporal.languages.serverless_workflow.drafts.may_2020 import model
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.reading import reshaping as reshape
from swf_temporal.languages.serverless_workflow.reading.normalizing import Normalizer, Spelling, Step
from swf_temporal.text.origin import Object, objects_in

CHOICES: Final = {"choices": "dataConditions"}
ENDS: Final = {"type": "kind"}
INJECTED: Final = {"inject": "data"}
CONDITIONS: Final = {"condition": "expression"}
"""Former names of keys, each for one kind of node."""


def types_as_now(holder: Object, normalizer: Normalizer) -> None:
    """Rename the type of a relay state, which injects data, to inject."""
    for state in _states(holder):
        word = state.get("type")
        if isinstance(word, str) and word.lower() == "relay":
            normalizer.tolerate(f"type {word!r} is read as 'inject'", state.where.value("type"))
            state["type"] = "inject"


def started_within(holder: Object, normalizer: Normalizer) -> None:
    """Convert `startsAt` of a branch or an iteration to the start of the named state."""
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
    """Read a state that waits for none of its branches as one that the first completed branch completes."""
    branches = objects_in(node.get("branches"))
    waits = [branch.take("waitForCompletion")[0] for branch in branches if "waitForCompletion" in branch]
    if "completionType" in node or not waits or len(waits) < len(branches) or any(wait is not False for wait in waits):
        return
    place = node.where.key("branches")
    node.put("completionType", "xor", (place, place))
    normalizer.tolerate("'waitForCompletion: false' in every branch is read as the completionType 'xor'", place)


def _states(holder: Object) -> list[Object]:
    return objects_in(holder.get("tasks")) + objects_in(holder.get("states"))


OF_PARENT: Final = {
    "tasks": "states", "task": "state", "nextTask": "nextState", "taskDataFilter": "stateDataFilter",
}  # fmt: skip
"""The predecessor's names for what the draft renamed."""
_WRITE_ID = "write 'id: ...', so that it does not change with the name"


def _identity(root: Object, normalizer: Normalizer) -> None:
    """Use the name as the id if there is none, as in the text's own short examples."""
    if root.get("id") is None and root.get("name") is not None:
        root.put("id", root["name"], root.where.keys["name"])
        normalizer.tolerate("this definition has no id: its name is used", root.where.key("name"), _WRITE_ID)


def _words(*keys: str, called: Mapping[str, str] | None = None) -> Step:
    """Return a step that converts the words under *keys* to lower case, as in the draft."""

    def step(node: Object, normalizer: Normalizer) -> None:
        for key in keys:
            word = node.get(key)
            if not isinstance(word, str):
                continue
            meant = word.lower()
            meant = (called or {}).get(meant, meant)
            if meant != word:
                normalizer.tolerate(f"{key} {word!r} is read as {meant!r}", node.where.value(key))
                node[key] = meant

    return step


_FILTERED = {"stateDataFilter": "taskDataFilter"}
_CONDITIONS = {"conditions": "dataConditions", **CHOICES}
"""The names of the conditions of a switch task in the draft's schema, and in the texts before it."""
_TASK = Spelling(renamed=_FILTERED, steps=(_words("type"),))
_ACTING = Spelling(renamed=_FILTERED, steps=(_words("type", "actionMode"),))
_HOLDING = {**_FILTERED, "states": "tasks"}

SPELLINGS: Final[Mapping[type[Node], Spelling]] = {
    model.DraftWorkflow: Spelling(renamed={"states": "tasks"}, steps=(_identity, types_as_now)),
    model.Transition: Spelling(short="nextTask", renamed={"nextState": "nextTask", **CONDITIONS}),
    model.Expression: Spelling(short="body", renamed={"expressionLanguage": "language"}),
    model.Error: Spelling(renamed=CONDITIONS),
    model.ProduceEvent: Spelling(tolerated={"nameRef": "eventRef"}),
    model.Start: Spelling(steps=(_words("kind"),)),
    model.End: Spelling(renamed=ENDS, steps=(_words("kind"),)),
    model.EventDataFilter: Spelling(tolerated={"dataInputPath": "dataOutputPath", "inputPath": "dataOutputPath"}),
    model.EventActions: Spelling(steps=(_words("actionMode"),)),
    model.DataCondition: Spelling(steps=(reshape.null_operator("null"), _words("operator", called=FORMER_OPERATORS))),
    model.TaskBase: _TASK,
    model.EventTask: _TASK,
    model.OperationTask: _ACTING,
    model.SwitchTask: Spelling(renamed={**_FILTERED, **_CONDITIONS}, steps=_TASK.steps),
    model.DelayTask: _TASK,
    model.Branch: Spelling(renamed={"states": "tasks"}, steps=(types_as_now, started_within)),
    model.ParallelTask: Spelling(renamed=_FILTERED, steps=(_words("type", "completionType"), completion)),
    model.SubflowTask: _TASK,
    model.InjectTask: Spelling(renamed={**_FILTERED, **INJECTED}, steps=_TASK.steps),
    model.ForeachTask: Spelling(renamed=_HOLDING, steps=(_words("type"), types_as_now, started_within)),
    model.CallbackTask: _TASK,
}
