"""The state that the modules of this package share while they rewrite one definition, and the names in the new one."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

from swf_temporal.base.data import JSON
from swf_temporal.base.durations import parse_duration
from swf_temporal.base.errors import Position
from swf_temporal.languages.serverless_workflow.definition import ServerlessWorkflowDefinition
from swf_temporal.languages.serverless_workflow.model.node import Node
from swf_temporal.languages.serverless_workflow.model.states import StateTimeouts
from swf_temporal.languages.serverless_workflow.model.workflow import Event
from swf_temporal.languages.serverless_workflow.upgrading.dsl.expressions import (
    Inexpressible,
    Translator,
    braced,
    literal,
    piped,
    single,
)
from swf_temporal.languages.serverless_workflow.upgrading.trees import UpgradeReport
from swf_temporal.languages.serverless_workflow.validation.context import nodes_of
from swf_temporal.text.origin import Fetch

DIRECTIVES: Final = ("continue", "exit", "end")
"""The words that `then` takes in place of a task."""
_LABEL: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?")
_SEMVER: Final = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")


class TaskNames:
    """The names of the tasks of one definition."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._taken = {*DIRECTIVES, *reserved}

    def copy(self) -> "TaskNames":
        return TaskNames(self._taken)

    def free(self, name: str) -> str:
        """Return *name* as the name of a task, with a number if it is taken; it is taken then."""
        plain = found = task_name(name)
        number = 1
        while found in self._taken:
            number += 1
            found = f"{plain}{number}"
        self._taken.add(found)
        return found


def task_name(name: str) -> str:
    """Return *name* without blanks and other characters that are awkward in paths: `Check order!` is `CheckOrder`."""
    if re.fullmatch(r"[\w-]+", name):
        return name
    words = re.findall(r"\w+", name)
    if not words:
        return "task"
    first, others = str(words[0]), words[1:]
    return first + "".join(word[:1].upper() + word[1:] for word in others)


def document_name(id_: str) -> str:
    """Return the name of the definition with the id *id_*: up to 63 letters, digits and hyphens, as 1.0 demands."""
    if _LABEL.fullmatch(id_):
        return id_
    return re.sub(r"[^a-zA-Z0-9]+", "-", id_).strip("-")[:63].strip("-") or "workflow"


def semantic_version(version: str | None) -> str:
    """Return *version* with three numbers, as 1.0 demands: `1.0` is `1.0.0`; 0.1.0 if there is none."""
    if version is None:
        return "0.1.0"
    if _SEMVER.fullmatch(version):
        return version
    found = re.match(r"v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(.*)", version)
    if found is None:
        return "0.1.0-" + (re.sub(r"[^0-9A-Za-z.-]+", "-", version).strip("-.") or "unknown")
    numbers = ".".join(str(int(one or 0)) for one in found.groups()[:3])
    rest = re.sub(r"[^0-9A-Za-z.-]+", "-", found[4]).strip("-.")
    return f"{numbers}-{rest}" if rest else numbers


Task: TypeAlias = dict[str, Any]
Step: TypeAlias = tuple[str, Task]
"""A task with its name."""

ERRORS: Final = "https://serverlessworkflow.io/spec/1.0.0/errors/"
"""The beginning of the types of standard errors in the release 1.0.3; later texts have another domain."""
NOT_IMPLEMENTED: Final = 501
"""The status of the errors that stand for what cannot be expressed."""


class Context:
    """The definition that is rewritten, the names of its tasks, and what is to be said of it."""

    def __init__(
        self, definition: ServerlessWorkflowDefinition, report: UpgradeReport, namespace: str, fetch: Fetch
    ) -> None:
        self.workflow = definition.workflow
        self.fetch = fetch
        self.report = report
        self.namespace = namespace
        self.translate = Translator(definition.workflow, definition.expressions, lambda message: self.note([message]))
        self.names = TaskNames()
        """The names of the tasks of the workflow itself."""
        self.inner = TaskNames()
        """The names of the tasks inside that of the present state."""
        self.events: Mapping[str, Event] = {one.name: one for one in self.workflow.events}
        self.started_with: frozenset[str] = frozenset()
        """The context attributes of correlation rules that all events with which an instance starts have."""
        self.state = ""
        """The name of the state that is being written."""
        self.here: Node | None = None
        """The part of the definition that is being written, for the lines in the report."""
        self.inner_tasks: dict[str, list[tuple[Position, str]]] = {}
        """For each state the places of its actions and branches, with the names of the tasks that they have become."""
        self.nodes = nodes_of(self.workflow)

    def note(self, messages: Iterable[str]) -> None:
        """Report what differs throughout the definition, once each, where it does first."""
        for message in messages:
            if self.here is None:
                self.report.differs(message)
            else:
                self.differs(message, self.here)

    def becomes(self, node: Node, name: str) -> None:
        """Record that *node*, a part of the present state, has become the task *name*."""
        self.inner_tasks.setdefault(self.state, []).append((node.where.position, name))

    @contextmanager
    def at(self, node: Node) -> Iterator[None]:
        """Let *node* be the part that is being written."""
        before, self.here = self.here, node
        try:
            yield
        finally:
            self.here = before

    def differs(self, message: str, node: Node, key: str = "") -> None:
        """Report that what is written in place of *node*, or of its *key*, has another effect."""
        self.report.place(node, node.where.key(key).line)
        self.report.differs(message, node=node)

    def reshaped(self, message: str, node: Node, key: str = "") -> None:
        """Report that *node*, or its *key*, is expressed otherwise."""
        self.report.place(node, node.where.key(key).line)
        self.report.reshaped(message, node)

    def refused(self, message: str, node: Node) -> None:
        """Report that *node* cannot be expressed."""
        self.report.place(node, node.where.position.line)
        self.report.inexpressible(message, node)

    def timeouts(self, own: StateTimeouts) -> StateTimeouts:
        """Return the timeouts of a state, with those that it inherits from the workflow."""
        given = {name: getattr(self.workflow.timeouts, name) for name in StateTimeouts.model_fields if name != "where"}
        return own.model_copy(
            update={name: value for name, value in given.items() if getattr(own, name) is None and value is not None}
        )


def refusal(message: str, **original: Node | None) -> Task:
    """Return the task that stands for what cannot be expressed, as *message* says, with the *original* of 0.8."""
    written = {
        key: plain(one.model_dump(by_alias=True, exclude_unset=True))
        for key, one in original.items()
        if one is not None
    }
    title = literal(f"not upgraded: {message}")
    error = {"type": f"{ERRORS}configuration", "status": NOT_IMPLEMENTED, "title": title}
    return {"raise": {"error": error}, "metadata": {"original": written}}


def is_refusal(task: Task) -> bool:
    """Return whether *task* stands for what cannot be expressed."""
    return bool(task.get("raise", {}).get("error", {}).get("status") == NOT_IMPLEMENTED)


def checked_uri(text: str, said: str) -> str:
    """Return *text*, which *said* names, if it can be a URI or a URI template. Raises Inexpressible."""
    if not text or "${" in text or any(map(str.isspace, text)):
        raise Inexpressible(f"{said} {text!r}, which is no URI")
    return text


def duration(text: str, translate: Translator) -> str:
    """Return a duration of 0.8 as one of 1.0, in days and less where 1.0 does not take how it is written.

    An expression may yield a number of seconds in 0.8.
    """
    if "${" in text:
        jq = translate.jq(text)
        if re.fullmatch(r'"[^"\\]*"', jq):
            return duration(jq[1:-1], translate)
        if translate.kinds(text, is_template=True) == {"string"}:
            return braced(jq)
        return braced(piped(single(jq), 'if type == "number" then "PT\\(.)S" else . end'))
    try:
        seconds = parse_duration(text).total_seconds()
    except (ValueError, OverflowError):
        raise Inexpressible(f"the duration {text!r}") from None
    if text.startswith("P") and "T" not in text.removeprefix("PT") and not text.startswith("PT"):
        return text if text[-1] in "DW" and "Y" not in text and "M" not in text else _iso(seconds)
    if any(sign in text.partition("T")[2] for sign in "WD") or any(sign in text.partition("T")[0] for sign in "YM"):
        return _iso(seconds)
    return text.replace(",", ".")


def _iso(seconds: float) -> str:
    days, seconds = divmod(seconds, 86400)
    hours, seconds = divmod(seconds, 3600)
    minutes, seconds = divmod(seconds, 60)
    parts = ((int(hours), "H"), (int(minutes), "M"), (_whole(round(seconds, 6)), "S"))
    time = "".join(f"{value}{unit}" for value, unit in parts if value)
    date = f"P{int(days)}D" if days else "P"
    return f"{date}T{time}" if time else date if days else "PT0S"


def _whole(seconds: float) -> float:
    return int(seconds) if seconds == int(seconds) else seconds


def plain(value: JSON) -> Any:
    """Return *value*, a part of a definition that is read, as plain JSON."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def ordered(task: Task) -> Task:
    """Return *task* with the keys in the order in which people write them."""
    order = ("if", "input")
    ends = ("output", "export", "timeout", "metadata")
    middle = [key for key in task if key not in (*order, *ends)]
    return {key: task[key] for key in (*order, *middle, *ends) if key in task}
