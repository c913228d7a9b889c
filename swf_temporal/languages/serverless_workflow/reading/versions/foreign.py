"""Tells documents of other languages, and of the drafts before 0.5, by their shape."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from swf_temporal.languages.serverless_workflow.reading.versions.marks import Giveaway, having, objects
from swf_temporal.text.located import Object

# Tuples, because what stands in the place of a type may be anything, and only equality works on anything.
_DIREKTIV_TYPES = (
    "action", "consumeEvent", "delay", "error", "eventAnd", "eventXor", "generateEvent", "getter", "noop",
    "setter", "validate",
)  # fmt: skip
_DRAFT_TYPES = (
    "EVENT", "OPERATION", "SWITCH", "DELAY", "PARALLEL", "SUBFLOW", "RELAY", "INJECT", "FOREACH", "CALLBACK",
)  # fmt: skip

_LATER_TYPES = (*(word.lower() for word in _DRAFT_TYPES), "sleep")
_KEYS_OF_2019 = ("startsAt", "starts-at", "triggerDefs", "trigger-defs")


@dataclass(frozen=True, slots=True)
class Foreign:
    """A language or draft whose definitions are not read as those of 0.5 and later are."""

    title: str
    """What people call it."""
    giveaways: tuple[Callable[[Object], Giveaway | None], ...]
    """What shows it: each returns the key that does, if a document has it."""
    hint: str | None = None
    """What else is to be said to the author of such a document, where it is not read here."""
    version: str = ""
    """What `languageVersion` is of a definition in this draft."""
    reader: str | None = None
    """The module with the `READER` of such documents; without one they are refused."""
    upgrader: str | None = None
    """The module whose `upgrade(root, report)` rewrites such documents as 0.8; without one they are not rewritten."""


def foreign(root: Object) -> tuple[Foreign, Giveaway] | None:
    """Return the language or draft that *root* is written in, and what shows it; None for 0.5 and later."""
    for one in FOREIGN:
        found = _first(root, one.giveaways)
        if found is not None:
            return one, found
    return None


def _first(root: Object, giveaways: Iterable[Callable[[Object], Giveaway | None]]) -> Giveaway | None:
    """Return the first of *giveaways* that *root* has."""
    for giveaway in giveaways:
        found = giveaway(root)
        if found is not None:
            return found
    return None


def _keyed(*keys: str) -> Callable[[Object], Giveaway | None]:
    def giveaway(root: Object) -> Giveaway | None:
        return next((Giveaway(key, root.where.key(key)) for key in keys if key in root), None)

    return giveaway


def _without_states(*keys: str) -> Callable[[Object], Giveaway | None]:
    keyed = _keyed(*keys)
    return lambda root: None if "states" in root else keyed(root)


def _with(path: str, claim: Callable[[Object], str | None]) -> Callable[[Object], Giveaway | None]:
    """Return a giveaway that is the key which *claim* returns for one of the objects at *path*."""
    keys = path.split(".")

    def giveaway(root: Object) -> Giveaway | None:
        for node in objects(root, keys):
            key = claim(node)
            if key:
                return Giveaway(key, node.where.key(key))
        return None

    return giveaway


def _having(*keys: str) -> Callable[[Object], str | None]:
    return lambda node: next((key for key in keys if key in node), None)


def _draft_of_2019(state: Object) -> str | None:
    if isinstance(state.get("nextState"), str):
        return "nextState"
    return "type" if state.get("type") in _DRAFT_TYPES and "transition" not in state else None


def _most_states(root: Object) -> Giveaway | None:
    """Return what shows the draft of 2019 in a state, if fewer states are as later versions write them.

    One such word among others may be a slip; with as many of both, that a document says its specVersion decides.
    """
    states = list(objects(root, ["states"]))
    shown = [Giveaway(key, state.where.key(key)) for state in states if (key := _draft_of_2019(state))]
    later = sum("transition" in state or state.get("type") in _LATER_TYPES for state in states)
    return shown[0] if shown and (len(shown), "specVersion" not in root) > (later, False) else None


def _with_bare_path(*keys: str) -> Callable[[Object], str | None]:
    """Return a claim of the first of *keys* with a path without braces, which 0.5 puts around it."""
    return lambda node: next((key for key in keys if str(node.get(key, "")).startswith("$.")), None)


def _direktiv(state: Object) -> str | None:
    if "name" in state or "id" not in state:
        return None
    return (
        "type"
        if state.get("type") in _DIREKTIV_TYPES
        else next((k for k in ("transform", "catch") if k in state), None)
    )


def _compared(state: Object) -> str | None:
    conditions = state.get("dataConditions")
    is_compared = isinstance(conditions, list) and any(having("path", "operator")(one) for one in conditions)
    return "dataConditions" if is_compared else None


def _started_in_state(*giveaways: Callable[[Object], Giveaway | None]) -> Callable[[Object], Giveaway | None]:
    """Return the first of *giveaways* for documents with a start in a state.

    Since 0.6 its key means nothing, and is ignored.
    """
    has_kind = having("kind")

    def shown(root: Object) -> Giveaway | None:
        if not any(has_kind(state.get("start")) for state in objects(root, ["states"])):
            return None
        return _first(root, giveaways)

    return shown


def _several(
    only: Iterable[Callable[[Object], Giveaway | None]], others: Iterable[Callable[[Object], Giveaway | None]]
) -> Callable[[Object], Giveaway | None]:
    """Return the first of *only* for documents that have it and another one, and neither a specVersion nor `startsAt`.

    What *only* finds cannot run in any later version: so no instance that runs is ever read as this draft by it.
    """

    def shown(root: Object) -> Giveaway | None:
        if any(key in root for key in ("specVersion", *_KEYS_OF_2019)):
            return None
        found = [one for giveaway in only if (one := giveaway(root)) is not None]
        return found[0] if found and (len(found) > 1 or _first(root, others) is not None) else None

    return shown


def _branch_of_states(branch: Object) -> str | None:
    """Return the key of tasks or states that stand where later versions have actions, if there are none."""
    is_later = "actions" in branch or "workflowId" in branch
    return None if is_later else next((key for key in ("tasks", "states") if key in branch), None)


def _foreach_of_states(state: Object) -> str | None:
    return _branch_of_states(state) if str(state.get("type")).lower() == "foreach" else None


def _compared_alone(state: Object) -> str | None:
    conditions = state.get("dataConditions")
    listed = conditions if isinstance(conditions, list) else []
    return "dataConditions" if any(having("operator")(one) and "condition" not in one for one in listed) else None


def _leads_to_task(transition: Object) -> str | None:
    return "nextTask" if "nextTask" in transition and "nextState" not in transition else None


def _speaks_spel(root: Object) -> Giveaway | None:
    language = root.get("expressionLanguage")
    is_spel = isinstance(language, str) and language.lower() == "spel"
    return Giveaway("expressionLanguage", root.where.key("expressionLanguage")) if is_spel else None


def _started_by_name(*giveaways: Callable[[Object], Giveaway | None]) -> Callable[[Object], Giveaway | None]:
    """Return the first of *giveaways* for documents with `startsAt`."""
    return lambda root: _first(root, giveaways) if "startsAt" in root else None


_ONLY_OF_MAY_2020: Final = (
    _with("states", _compared_alone),
    _with("states", _foreach_of_states),
    _with("states.branches", _branch_of_states),
    _with("states.transition", _leads_to_task),
    _speaks_spel,
)
"""What no later version can read."""

_OF_MAY_2020: Final = (
    _with("states", _having("onError", "retry")),
    _with("functions", _having("resource")),
    _with("events", _having("correlationToken")),
    _with("states.default", _having("nextState")),
)
"""Of these one alone can be a slip in a later version, where a state has no start."""

FOREIGN: tuple[Foreign, ...] = (
    Foreign(
        "Serverless Workflow 1.0",
        (_without_states("document", "do"),),
        "that is another language: it has tasks under 'do' and no states, and swf-temporal does not translate it",
    ),
    Foreign(
        "the May 2020 draft of Serverless Workflow",
        (
            _keyed("tasks"),
            _with("states", _having("eventsActions")),
            # The texts of early 2020 begin as the draft of 2019 does, and are the draft of May in all else.
            _started_by_name(
                _keyed("functions", "events"),
                _with("states", _having("stateDataFilter")),
                _with("states.actions", _having("functionRef")),
            ),
            _started_in_state(
                *_OF_MAY_2020,
                _with("states", _having("states")),
                _with("states", _compared),
                _with("states.branches", _having("states")),
                _with("states.stateDataFilter", _with_bare_path("dataInputPath", "dataOutputPath")),
            ),
            _several(_ONLY_OF_MAY_2020, _OF_MAY_2020),
        ),
        version="May 2020",
        reader="swf_temporal.languages.serverless_workflow.drafts.may_2020.reader",
        upgrader="swf_temporal.languages.serverless_workflow.upgrading.may_2020.upgrade",
    ),
    Foreign(
        "the November 2019 draft of Serverless Workflow",
        (_keyed(*_KEYS_OF_2019), _most_states),
        version="November 2019",
        reader="swf_temporal.languages.serverless_workflow.drafts.november_2019.reader",
        upgrader="swf_temporal.languages.serverless_workflow.upgrading.november_2019.upgrade",
    ),
    Foreign("Amazon States Language", (_keyed("StartAt", "States"),)),
    Foreign("the Direktiv form", (_with("states", _direktiv),)),
)
"""Each language or draft that is told apart. The first that applies is taken."""
