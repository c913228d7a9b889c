"""Tells documents of other languages, and of drafts that are not read, by their shape.

`specVersion` cannot tell, since 0.8 and the versions around it all say "0.8".
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from swf_temporal.errors import Position
from swf_temporal.text.located import Object

# Tuples, because what stands in the place of a type may be anything, and only equality works on anything.
_DIREKTIV_TYPES = (
    "action", "consumeEvent", "delay", "error", "eventAnd", "eventXor", "generateEvent", "getter", "noop",
    "setter", "validate",
)  # fmt: skip
_DRAFT_TYPES = (
    "EVENT", "OPERATION", "SWITCH", "DELAY", "PARALLEL", "SUBFLOW", "RELAY", "INJECT", "FOREACH", "CALLBACK",
)  # fmt: skip

_ONE = "Serverless Workflow 1.0"
_HINTS = {_ONE: "that is another language: it has tasks under 'do' and no states, and nothing here translates it"}


@dataclass(frozen=True, slots=True)
class Detected:
    """The language of a document, in words, and the place that gives it away."""

    language: str
    position: Position
    hint: str | None = None
    """What else is to be said to the author of such a document."""


def detect(root: Object) -> Detected | None:
    """Return the language that *root* is written in, or None for the versions that are read."""
    for language, giveaway in _GIVEAWAYS:
        position = giveaway(root)
        if position is not None:
            return Detected(language, position, _HINTS.get(language))
    return None


def _keyed(*keys: str) -> Callable[[Object], Position | None]:
    def giveaway(root: Object) -> Position | None:
        return next((root.where.key(key) for key in keys if key in root), None)

    return giveaway


def _without_states(*keys: str) -> Callable[[Object], Position | None]:
    keyed = _keyed(*keys)
    return lambda root: None if "states" in root else keyed(root)


def _states(root: Object) -> Iterator[Object]:
    states: Any = root.get("states")
    yield from (state for state in (states if isinstance(states, list) else ()) if isinstance(state, Object))


def _states_with(claim: Callable[[Object], str | None]) -> Callable[[Object], Position | None]:
    def giveaway(root: Object) -> Position | None:
        found = ((state, claim(state)) for state in _states(root))
        return next((state.where.key(key) for state, key in found if key), None)

    return giveaway


def _draft_of_2019(state: Object) -> str | None:
    if "nextState" in state:
        return "nextState"
    return "type" if state.get("type") in _DRAFT_TYPES and "transition" not in state else None


def _draft_of_2020(state: Object) -> str | None:
    start = state.get("start")
    if isinstance(start, Object) and "kind" in start:
        return "start"
    return "eventsActions" if "eventsActions" in state else None


def _direktiv(state: Object) -> str | None:
    if "name" in state or "id" not in state:
        return None
    return (
        "type"
        if state.get("type") in _DIREKTIV_TYPES
        else next((k for k in ("transform", "catch") if k in state), None)
    )


_GIVEAWAYS: tuple[tuple[str, Callable[[Object], Position | None]], ...] = (
    (_ONE, _without_states("document", "do")),
    ("the May 2020 draft of Serverless Workflow, which has tasks", _keyed("tasks")),
    ("the 2019 draft of Serverless Workflow", _keyed("startsAt", "starts-at", "triggerDefs", "trigger-defs")),
    ("the 2019 draft of Serverless Workflow", _states_with(_draft_of_2019)),
    ("a 2020 version of Serverless Workflow, before 0.6", _states_with(_draft_of_2020)),
    ("Amazon States Language", _keyed("StartAt", "States")),
    ("the Direktiv form", _states_with(_direktiv)),
)  # fmt: skip
"""Each language that is told apart, with what gives it away. The first that applies is taken."""
