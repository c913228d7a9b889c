"""A language of lists of steps: what a language has to have, and all that the runtime offers it.

id: [kitchen, morning]
steps:
- set: {cups: 2}
- each: {each: cup, in: "=[range(.cups)]", do: [{call: brew}]}

Its lists nest to any depth: `execution.py` says what each kind of step does.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

from swf_temporal.base.calls import Auth
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import Problem, WorkflowFault
from swf_temporal.drawing.outline import Outline, OutlinePart, Way, Work, WorkflowRef, in_a_line
from swf_temporal.languages.base import LanguageBase
from swf_temporal.languages.marks import Kind, Mark
from swf_temporal.languages.port import Checked, Definition, FunctionUse, Language, ShownExpression
from swf_temporal.languages.triggers import ConsumedEvent
from swf_temporal.runtime.host import SecretTemplate
from swf_temporal.runtime.run import Run
from swf_temporal.text.origin import Fetch, Object, Source, nothing, objects_in, plain
from tests.languages.steps.editing import expression_at, marks_in
from tests.languages.steps.execution import KINDS, StepsExecution, function_of
from tests.languages.steps.expressions import SECRETS, StepsExpressions
from tests.languages.steps.faults import problem_of
from tests.languages.steps.frames import StepsFrame
from tests.languages.steps.model import NAME, Step, Steps, every_step, id_of, steps_in


class StepsDefinition(Definition):
    def __init__(self, language: Language, root: Object, source: Source) -> None:
        self.language = language
        self.source, self.root = source, root
        parts = plain(root["id"])
        self.namespace = parts[0] if isinstance(parts, list) else None
        self.id = id_of(parts, None)
        self.secrets = tuple(root.get(SECRETS, ()))
        self.steps = steps_in(plain(root["steps"]))

    @cached_property
    def expressions(self) -> StepsExpressions:
        named = {one.value["each"] for _, one in every_step(self.steps) if one.kind == "each"}
        return StepsExpressions(frozenset({*named, "event"}))

    def list_at(self, path: str) -> Steps:
        step, _, name = path.rpartition("/")
        return next(one.lists[name] for own, one in every_step(self.steps) if own == step)

    @property
    def functions(self) -> tuple[FunctionUse, ...]:
        called = (function_of(one, path) for path, one in every_step(self.steps) if one.kind == "call")
        return tuple(FunctionUse(one) for one in {function.name: function for function in called}.values())

    @property
    def consumed_events(self) -> tuple[ConsumedEvent, ...]:
        """What it waits for: types alone, to which it gives no names."""
        kinds = (kind for _, one in every_step(self.steps) for kind in _kinds_of(one))
        return tuple(ConsumedEvent(type_, type_) for type_ in dict.fromkeys(kind["type"] for kind in kinds))

    @property
    def outline(self) -> Outline:
        return Outline(_parts(self.steps, ""))

    def meant_by(self, reference: WorkflowRef) -> tuple[WorkflowRef, ...]:
        """Return the workflow of the same kitchen, if the reference is no more than a name."""
        return (replace(reference, id=reference.id if "." in reference.id else id_of(reference.id, self.namespace)),)

    def with_source(self, source: Source) -> Self:
        return type(self)(self.language, self.root, source)


def _kinds_of(step: Step) -> list[Mapping[str, Any]]:
    if step.kind == "stream":
        return [step.value]
    return [*step.value.get("all", ()), *step.value.get("any", ())] if step.kind == "listen" else []


def _parts(steps: Steps, path: str) -> tuple[OutlinePart, ...]:
    paths = [f"{path}/{index} {one.kind}" if path else f"{index} {one.kind}" for index, one in enumerate(steps)]
    return tuple(
        OutlinePart(
            own,
            one.kind,
            own,
            work=(_work(one, own),),
            ways=(Way("completion", following),),
            parts=tuple(part for name, inner in one.lists.items() for part in _parts(inner, f"{own}/{name}")),
        )
        for own, following, one in zip(paths, [*paths[1:], None], steps, strict=True)
    )


def _work(step: Step, path: str) -> Work:
    if step.kind == "call":
        return Work(calls=function_of(step, path).name)
    if step.kind == "run":
        return Work(runs=WorkflowRef(id_of(step.value, None)))
    kinds = tuple(kind["type"] for kind in _kinds_of(step))
    return (
        Work(awaits=kinds) if kinds else Work(text=step.kind if step.lists else f"{step.kind} {in_a_line(step.value)}")
    )


class StepsProgram:
    def __init__(self, definition: StepsDefinition, semantics: int) -> None:
        self.definition, self.id, self.semantics = definition, definition.id, semantics

    def begin(self, run: Run, frame: Mapping[str, Any] | None) -> StepsExecution:
        begun = StepsFrame(run.input) if frame is None else StepsFrame.from_json(frame)
        return StepsExecution(self.definition, run, begun)


class StepsLanguage(LanguageBase):
    name = NAME
    title = "Steps"

    def recognises(self, root: Object) -> bool:
        return "steps" in root

    def read(self, root: Object, source: Source, fetch: Fetch = nothing) -> Checked:  # noqa: ARG002 - names no documents
        problems = tuple(_problems(root, source))
        return Checked(None if problems else StepsDefinition(self, root, source), problems)

    def fill(self, given: SecretTemplate, secrets: Mapping[str, JSON]) -> JSON:
        expressions = StepsExpressions(frozenset(given.variables))
        return expressions.value_of(given.template, given.data, {**given.variables, SECRETS: dict(secrets)})

    def fill_auth(self, auth: Auth, secrets: Mapping[str, JSON]) -> JSON:
        return StepsExpressions().value_of(auth.properties, None, {SECRETS: dict(secrets)})

    def holds(self, condition: JSON, fault: WorkflowFault) -> bool:
        return StepsExpressions().value_of(condition, None, {"error": problem_of(fault)}) is True

    def marks(self, root: Object) -> list[Mark]:
        return marks_in(root)

    def kind_of_names(self, key: str) -> Kind | None:
        return Kind.FUNCTION if key == "call" else None

    def expression_at(self, line: str, column: int) -> ShownExpression | None:
        return expression_at(line, column)

    def prepare(self, definition: Definition, semantics: int) -> StepsProgram:
        assert isinstance(definition, StepsDefinition)
        return StepsProgram(definition, semantics)


def _problems(root: Object, source: Source) -> Iterator[Problem]:
    for step in objects_in(root["steps"]):
        if len(step) != 1 or next(iter(step)) not in KINDS:
            message = f"a step is one of {', '.join(KINDS)}, and this is {', '.join(step)}"
            yield source.problem("step-kind", message, step.where.position)


LANGUAGE = StepsLanguage()
