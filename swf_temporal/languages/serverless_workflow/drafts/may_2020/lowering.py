"""Makes the common model of a definition of the draft: what runs, is described and drawn.

Every node keeps the place at which its author wrote it.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from swf_temporal.function_types import TYPES
from swf_temporal.languages.serverless_workflow.drafts.may_2020 import model as draft
from swf_temporal.languages.serverless_workflow.drafts.may_2020.lowered_tasks import states_of, window_of
from swf_temporal.languages.serverless_workflow.drafts.may_2020.scopes import held_by, start_of, ways_of
from swf_temporal.languages.serverless_workflow.expressions import EARLY
from swf_temporal.languages.serverless_workflow.model import definitions, schedules, workflow

VERSION: Final = "May 2020"
"""The `languageVersion` of these definitions."""

_DOCUMENT = re.compile(r"[^#]*\.(?:json|ya?ml)#.+|https?://[^#]*#.+")
"""A resource that names an operation in an OpenAPI document."""


def lowered(root: draft.DraftWorkflow) -> workflow.Workflow:
    """Return *root* as the common model has it."""
    start = start_of(root.tasks, root.starts_at)
    return workflow.Workflow(
        where=root.where,
        source=root.source,
        id=root.id,
        name=root.name,
        version=root.version,
        description=root.description,
        spec_version=root.schema_version,
        expression_lang=EARLY,
        start=schedules.Start(where=start.where, state_name=start.name, window=window_of(start)),
        events=tuple(_Events(root).lowered()),
        functions=tuple(function_of(function) for function in root.functions),
        states=states_of(root.tasks),
        metadata=root.metadata,
        language_version=VERSION,
        state_word="state" if root.has_states else "task",
    )


def function_type(function: draft.Function) -> str:
    """Return the type that performs *function*: one of ours, its own, or custom where it says none."""
    if function.type is not None and function.type.lower() in TYPES:
        return function.type.lower()
    if function.resource is not None and _DOCUMENT.fullmatch(function.resource):
        return "rest"
    return function.type or "custom"


class _Events:
    """The events of a workflow. The draft does not say which are consumed: their uses do."""

    def __init__(self, root: draft.DraftWorkflow) -> None:
        self._root = root
        self._produced = {one.event_ref for one in _produced(root.tasks)}
        self._consumed = set(_consumed(root.tasks))

    def lowered(self) -> Iterable[definitions.Event]:
        """Yield the definitions; an event that is both consumed and produced counts as consumed."""
        for event in self._root.events:
            is_produced = event.name in self._produced - self._consumed
            token = event.correlation_token
            yield definitions.Event(
                where=event.where,
                name=event.name,
                source=event.source,
                type=event.type,
                kind="produced" if is_produced else "consumed",
                correlation=() if token is None else (definitions.Correlation(context_attribute_name=token),),
                metadata=event.metadata,
            )


def _produced(tasks: Sequence[draft.Task]) -> Iterable[draft.ProduceEvent]:
    for task in tasks:
        ends = (task.end,) if task.end is not None else ()
        for node in (*ways_of(task), *ends):
            if node.produce_event is not None:
                yield node.produce_event
        yield from _produced(held_by(task))


def _consumed(tasks: Sequence[draft.Task]) -> Iterable[str]:
    for task in tasks:
        match task:
            case draft.EventTask():
                for entry in task.events_actions:
                    yield from entry.event_refs
            case draft.SwitchTask():
                yield from (condition.event_ref for condition in task.event_conditions)
            case draft.CallbackTask():
                yield task.event_ref
            case _:
                yield from _consumed(held_by(task))


def function_of(function: draft.Function) -> definitions.Function:
    """Return *function* as the common model has it."""
    return definitions.Function(
        where=function.where,
        name=function.name,
        type=function_type(function),
        operation=function.resource,
        metadata=function.metadata,
    )
