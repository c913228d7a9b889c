"""A workflow as a state diagram of Mermaid.

Mermaid draws no dashed lines between states: ways that are not the usual course have labels between thin dashes.
"""

from collections.abc import Iterator
from itertools import pairwise

from swf_temporal.languages.serverless_workflow.description import phrases
from swf_temporal.languages.serverless_workflow.description.compact import Facts

_MAX_LENGTH = 60
"""Characters of a label, beyond which it is cut."""
_ESCAPED = {character: f"#{ord(character)};" for character in '#;:"<>{}[]%`\\'}
"""Characters with a meaning in diagrams, escaped as Mermaid has it."""


def diagram_of(facts: Facts) -> str:
    """Return the source of the diagram of a workflow with these *facts*."""
    return "\n".join(["stateDiagram-v2", *(f"    {line}" for line in _scope(facts, "s"))])


def _scope(facts: Facts, prefix: str) -> Iterator[str]:
    """Yield states that stand together, from where they start; their ids begin with *prefix*."""
    ids = {state["name"]: f"{prefix}{number}" for number, state in enumerate(facts["states"], start=1)}
    for state in facts["states"]:
        yield from _state(state, ids[state["name"]])
    yield f"[*] --> {ids[facts['start']]}"
    for state in facts["states"]:
        yield from _ways(state, ids)


def _state(state: Facts, state_id: str) -> Iterator[str]:
    title = f"{state['name']} ({phrases.of_type(state)})"
    yield f'state "{_label(title)}" as {state_id}'
    if state["type"] == "parallel":
        yield from _branches(state["branches"], state_id)
    if "states" in state and phrases.looped(state) is None:
        yield from (f"state {state_id} {{", *(f"    {line}" for line in _scope(state, f"{state_id}s")), "}")
    notes = [_label(line) for line in _notes(state)]
    if notes:
        yield f"note right of {state_id}"
        yield from (f"    {line}" for line in notes)
        yield "end note"


def _notes(state: Facts) -> Iterator[str]:
    """Yield, in few words, what a state does. The branches of a parallel state are drawn."""
    repeated = phrases.looped(state)
    if repeated is not None:
        yield from _notes(repeated)
    if "duration" in state:
        yield f"waits {state['duration']}"
    if "inputCollection" in state:
        yield f"each of {state['inputCollection']}"
    for entry in state.get("onEvents", ()):
        yield f"waits for {entry.get('expression') or ', '.join(entry['awaits'])}"
        yield from map(phrases.of_action, entry["actions"])
    yield from map(phrases.of_action, state.get("actions", ()))
    yield from (f"waits for {event}" for event in state.get("awaits", ()))
    yield from (f"{name} {length}" for name, length in state.get("timeouts", {}).items())


def _branches(branches: list[Facts], state_id: str) -> Iterator[str]:
    """Yield a state that holds the branches side by side, each with its actions one after the other."""
    yield f"state {state_id} {{"
    for number, branch in enumerate(branches, start=1):
        if number > 1:
            yield "    --"
        branch_id = f"{state_id}b{number}"
        yield f'    state "{_label(branch["name"])}" as {branch_id}'
        yield f"    state {branch_id} {{"
        if "states" in branch:
            yield from (f"        {line}" for line in _scope(branch, f"{branch_id}s"))
        actions = [f"{branch_id}a{index}" for index, _ in enumerate(branch["actions"], start=1)]
        for action_id, action in zip(actions, branch["actions"], strict=True):
            yield f'        state "{_label(phrases.of_action(action))}" as {action_id}'
        course = ["[*]", *actions, "[*]"]
        yield from (f"        {here} --> {there}" for here, there in pairwise(course) if actions)
        yield "    }"
    yield "}"


def _ways(state: Facts, ids: dict[str, str]) -> Iterator[str]:
    here = ids[state["name"]]
    for way in state["ways"]:
        occasion = way.get("name") if way["on"] in ("condition", "event") else None
        words = [occasion or phrases.of_occasion(way), *phrases.of_consequences(way)]
        if "to" not in way and ("continuesAs" in way or way.get("terminates")):
            words.append(phrases.of_target(way))
        label = _label(", ".join(word for word in words if word))
        label = f"┄ {label} ┄" if way["on"] == "error" else label
        # What leads to no state here is told by validation; the way is left out.
        there = ids.get(way["to"]) if "to" in way else "[*]"
        if there is not None:
            yield f"{here} --> {there}{f' : {label}' if label else ''}"
    if state.get("compensatedBy") in ids:
        yield f"{here} --> {ids[state['compensatedBy']]} : ┄ undone by ┄"


def _label(text: str) -> str:
    text = " ".join(text.split())
    text = text if len(text) <= _MAX_LENGTH else f"{text[: _MAX_LENGTH - 1]}…"
    escaped = "".join(_ESCAPED.get(character, character) for character in text)
    return escaped.replace("end note", "end#32;note")  # these words would close a note
