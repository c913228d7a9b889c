"""A definition prepared for running: its task lists, its expressions and its schemas, each made once."""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Protocol

from swf_temporal.base.data import JSON
from swf_temporal.expressions.json_schema import DataSchemaValidator
from swf_temporal.languages.dsl.expressions import RuntimeExpressions, texts_in
from swf_temporal.languages.dsl.model.lists import escaped, lists_of
from swf_temporal.languages.dsl.model.node import Node
from swf_temporal.languages.dsl.model.parts import Authentication, DataSchema
from swf_temporal.languages.dsl.model.workflow import (
    Extension,
    ForTask,
    Loop,
    NamedTask,
    SubscriptionIterator,
    Task,
    TryTask,
    Workflow,
)
from swf_temporal.languages.dsl.names import FIRST_OPEN, id_of, version_numbers


class TaskPlan:
    """A task, its place, and the task lists in it."""

    def __init__(self, name: str, task: Task, place: str, pointer: str, definition: Any) -> None:
        self.name = name
        self.task = task
        self.place = place
        """Its place within the part that contains it, as a JSON Pointer."""
        self.pointer = pointer
        """Its place in the definition, as a JSON Pointer."""
        self.definition = definition
        """The task as it is written, as JSON."""
        self.lists = {
            key: ListPlan(tasks, f"/{key}", f"{pointer}/{key}", _at(definition, key)) for key, tasks in lists_of(task)
        }
        """The task lists in it, by their places."""
        self.callee: Any = None
        """The target of its calls, once that was made, if it is the same whatever the data."""

    def __repr__(self) -> str:
        return f"<task {self.pointer}>"

    @property
    def kind(self) -> str:
        """The type of the task."""
        return self.task.kind


class TaskList(Protocol):
    """Tasks that are run one after the other."""

    @property
    def tasks(self) -> tuple[TaskPlan, ...]: ...

    @property
    def at(self) -> Mapping[str, int]:
        """The index of each task by its name."""


class ListPlan:
    """A list of tasks."""

    def __init__(self, tasks: Sequence[NamedTask], place: str, pointer: str, definition: Any) -> None:
        written = definition if isinstance(definition, list) else []
        self.tasks = tuple(
            TaskPlan(
                one.name,
                one.task,
                f"{place}/{index}/{escaped(one.name)}",
                f"{pointer}/{index}/{escaped(one.name)}",
                written[index][one.name] if index < len(written) else {},
            )
            for index, one in enumerate(tasks)
        )
        self.at = {one.name: index for index, one in reversed(list(enumerate(self.tasks)))}
        """The index of each task by its name; that of the first, if several have the same."""


def _at(definition: Any, place: str) -> Any:
    for key in place.split("/"):
        definition = definition.get(key) if isinstance(definition, dict) else None
    return definition


class ExtensionPlan:
    """An extension, and its task lists."""

    def __init__(self, name: str, extension: Extension, pointer: str, definition: Any) -> None:
        self.extension = extension
        place = f"/{escaped(name)}"
        self.before = ListPlan(extension.before, f"{place}/before", f"{pointer}/before", _at(definition, "before"))
        self.after = ListPlan(extension.after, f"{place}/after", f"{pointer}/after", _at(definition, "after"))

    def extends(self, task: Task) -> bool:
        """Return whether it applies to tasks like *task*."""
        return self.extension.extend in ("all", task.kind, _GROUPS.get(task.kind))


_GROUPS = {"do": "composite", "fork": "composite"}
"""The words of extensions for several types of tasks."""


_DATA_OF_EVENT: Final = re.compile(r"\$workflow\.input\s*\.?\[\s*\d*\s*\]\s*\.data\b")


class DslProgram:
    """A definition prepared for running."""

    def __init__(self, workflow: Workflow, definition: Any, semantics: int) -> None:
        self.workflow = workflow
        self.definition = definition
        """The definition as it is written, as JSON."""
        self.id = id_of(workflow.document.namespace, workflow.document.name)
        self.semantics = semantics
        self.is_open = version_numbers(workflow.document.dsl) >= FIRST_OPEN
        """Whether standard errors have the domain of the Open Workflow Specification."""
        self.root = ListPlan(workflow.do, "/do", "/do", _at(definition, "do"))
        use = _at(definition, "use")
        self.functions = {
            name: TaskPlan(
                name, task, f"/{escaped(name)}", f"/use/functions/{escaped(name)}", _at(use, "functions")[name]
            )
            for name, task in workflow.use.functions.items()
        }
        written = _at(use, "extensions") or []
        self.extensions = tuple(
            ExtensionPlan(
                one.name,
                one.extension,
                f"/use/extensions/{index}/{escaped(one.name)}",
                written[index][one.name] if index < len(written) else {},
            )
            for index, one in enumerate(workflow.use.extensions)
        )
        self._schemas: dict[int, DataSchemaValidator] = {}

    @cached_property
    def expressions(self) -> RuntimeExpressions:
        """The compiler of its expressions."""
        evaluate = self.workflow.evaluate
        return RuntimeExpressions(
            variables_of(self.workflow),
            evaluate.language,
            is_loose=evaluate.mode == "loose",
            texts=lambda: texts_in(self.definition),
        )

    @cached_property
    def expects_envelopes(self) -> bool:
        """Whether an expression takes events in the workflow's input for whole ones, as the text's example does."""
        return any(_DATA_OF_EVENT.search(text) for text in texts_in(self.definition))

    @cached_property
    def describes_tasks(self) -> bool:
        """Whether any of its expressions may read `$task`, which is not made for others."""
        return bool(self.extensions) or "$task" in str(self.definition)

    def schema(self, schema: DataSchema) -> DataSchemaValidator:
        """Return the validator of *schema*, which is inline. Raises BadSchema."""
        found = self._schemas.get(id(schema))
        if found is None:
            found = self._schemas[id(schema)] = DataSchemaValidator(schema.document)
        return found

    def authentication(self, policy: Authentication) -> Authentication:
        """Return *policy*, or the policy of the definition that it names."""
        return policy if policy.use is None else self.workflow.use.authentications[policy.use]


def variables_for(each: Loop | SubscriptionIterator, item: JSON, index: JSON) -> dict[str, JSON]:
    """Return the variables of an iteration over *item*; a default name gives way to a written one."""
    name = "each" if isinstance(each, Loop) else "item"
    variables = {getattr(each, name): item}
    if each.at not in variables or "at" in each.model_fields_set:
        variables[each.at] = index
    return variables


def variables_of(node: Any) -> set[str]:
    """Return the names of the variables that tasks in *node* define."""
    found: set[str] = set()
    parts = [node]
    while parts:
        part = parts.pop()
        match part:
            case ForTask():
                found |= {part.for_.each, part.for_.at}
            case SubscriptionIterator():
                found |= {part.item, part.at}
            case TryTask():
                found.add(part.catch.as_)
        if isinstance(part, Node):
            parts += [value for name, value in part if name != "where"]
        elif isinstance(part, dict):
            parts += part.values()
        elif isinstance(part, tuple):
            parts += part
    return found
