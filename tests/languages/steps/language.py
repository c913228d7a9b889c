"""A language of one list of steps: what a language has to have, and no more.

id: morning
steps:
- set: {cups: 2}
- wait: PT5M
- call: brew
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from swf_temporal.calls import Function
from swf_temporal.data import merge
from swf_temporal.durations import parse_duration
from swf_temporal.errors import Problem
from swf_temporal.languages.base import LanguageBase
from swf_temporal.languages.port import Checked, Definition, FunctionUse, Language
from swf_temporal.outline import Outline, OutlinePart, Way, Work, in_a_line
from swf_temporal.runtime.execution import ExecutionBase, ExecutionFrame
from swf_temporal.runtime.host import Completed, FunctionCall, Timer, TraceEntry, TraceKind
from swf_temporal.runtime.run import Run
from swf_temporal.text.located import Object, plain
from swf_temporal.text.origin import Source
from swf_temporal.text.resources import Fetch, nothing

KINDS = ("set", "wait", "call")


@dataclass(slots=True)
class StepsFrame(ExecutionFrame):
    """How far some steps are."""

    at: int = 0
    """How many were taken."""
    until: float | None = None
    """When a wait is over."""


class StepsExecution(ExecutionBase[StepsFrame]):
    """Takes one step after the other; the frame knows how many were taken."""

    def __init__(self, definition: "StepsDefinition", run: Run, frame: StepsFrame) -> None:
        super().__init__(run, frame)
        self.definition = definition

    async def execute(self) -> Completed:
        """Run to the end."""
        frame = self.frame
        for index, (kind, value) in enumerate(self.definition.steps):
            if index < frame.at:
                continue
            self.run.checkpoint()
            data, path = frame.data, f"{index} {kind}"
            if frame.state != path:
                frame.state = path
                self.emit(TraceKind.STATE_ENTERED, path)
            if kind == "set":
                # Under the second number, which only tests know, a step forgets what there was.
                data = value if self.run.semantics >= 2 else merge(data, value)
            elif kind == "wait":
                if frame.until is None:
                    frame.until = self.run.time() + parse_duration(value).total_seconds()
                await self.run.sleep_until(frame.until, Timer("sleep", path))
                frame.until = None
            else:
                function = Function(value, "custom")
                call = FunctionCall(self.run.next_id(f"{path}/{value}"), function, data, state=path, action=value)
                data = merge(data, await self.run.host.invoke(call))
            self.emit(TraceKind.STATE_LEFT, path)
            frame.at, frame.data = index + 1, data
        return Completed(frame.data)

    def emit(self, kind: TraceKind, path: str) -> None:
        """Add a step to the trace."""
        self.run.host.emit(TraceEntry(kind, path, path, path, self.run.host.now()))


class StepsDefinition(Definition):
    """Some steps."""

    def __init__(self, language: Language, root: Object, source: Source) -> None:
        self.language = language
        self.id, self.source, self.root = str(root["id"]), source, root
        self.steps: list[tuple[str, Any]] = [next(iter(plain(step).items())) for step in root["steps"]]

    @property
    def functions(self) -> tuple[FunctionUse, ...]:
        """What it calls."""
        return tuple(FunctionUse(Function(value, "custom")) for kind, value in self.steps if kind == "call")

    @property
    def outline(self) -> Outline:
        """Each step leads to the next."""
        paths = [f"{index} {kind}" for index, (kind, _) in enumerate(self.steps)]
        return Outline(
            tuple(
                OutlinePart(path, kind, path, work=(_work(kind, value),), ways=(Way("completion", following),))
                for path, following, (kind, value) in zip(paths, [*paths[1:], None], self.steps, strict=True)
            )
        )

    def with_source(self, source: Source) -> Self:
        """Return the same steps, read from elsewhere."""
        return type(self)(self.language, self.root, source)


def _work(kind: str, value: Any) -> Work:
    return Work(calls=value) if kind == "call" else Work(text=f"{kind} {in_a_line(value)}")


class StepsProgram:
    """Steps that runs can be begun with."""

    def __init__(self, definition: StepsDefinition, semantics: int) -> None:
        self.definition, self.id, self.semantics = definition, definition.id, semantics

    def begin(self, run: Run, frame: Mapping[str, Any] | None) -> StepsExecution:
        """Return what runs for *run*."""
        begun = StepsFrame(run.input) if frame is None else StepsFrame.from_json(frame)
        return StepsExecution(self.definition, run, begun)


class Steps(LanguageBase):
    """The language."""

    name = "steps"
    title = "Steps"

    def recognises(self, root: Object) -> bool:
        """Tell whether *root* has steps."""
        return "steps" in root

    def read(self, root: Object, source: Source, fetch: Fetch = nothing) -> Checked:  # noqa: ARG002 - names no documents
        """Return the definition, or what is wrong with it."""
        problems = tuple(_problems(root, source))
        return Checked(None if problems else StepsDefinition(self, root, source), problems)

    def prepare(self, definition: Definition, semantics: int) -> StepsProgram:
        """Return the program of some steps."""
        assert isinstance(definition, StepsDefinition)
        return StepsProgram(definition, semantics)


def _problems(root: Object, source: Source) -> Iterator[Problem]:
    for index, step in enumerate(root["steps"]):
        if len(step) != 1 or next(iter(step)) not in KINDS:
            message = f"a step is one of {', '.join(KINDS)}, and this is {', '.join(step)}"
            yield source.problem("step-kind", message, root["steps"].positions[index])


LANGUAGE = Steps()
