"""What the language has, and this release does not carry out: better refused than done in another way."""

from collections.abc import Iterator

from swf_temporal.errors import Problem
from swf_temporal.languages.direktiv.model.states import (
    FunctionFile,
    GetterState,
    GetVariable,
    SetterState,
    SetVariable,
    State,
    actions_of,
)
from swf_temporal.languages.direktiv.model.workflow import Workflow
from swf_temporal.text.origin import Source

NOT_CARRIED_OUT = ("thread", "file")
"""Scopes."""


def check(workflow: Workflow, source: Source) -> Iterator[Problem]:
    """Yield what *workflow* asks for that is not carried out."""
    for state in workflow.states:
        for one in variables_of(state):
            if one.scope in NOT_CARRIED_OUT:
                message = f"state {state.id!r}: the scope {one.scope!r} is not carried out yet"
                yield source.problem("not-carried-out", message, one.where.value("scope"))


def variables_of(state: State) -> list[GetVariable | SetVariable | FunctionFile]:
    """Return where *state* names variables."""
    own = state.variables if isinstance(state, GetterState | SetterState) else ()
    return [*own, *(file for action in actions_of(state) for file in action.files)]
