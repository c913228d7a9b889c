"""Reading zigflow documents: what their tasks say in another way than DSL 1.0 becomes what the model has.

What zigflow refuses, or does not do what the text says, is a problem here, with what to write instead.
"""

from collections.abc import Collection, Mapping
from copy import deepcopy
from typing import Any, Final

from pydantic import ValidationError

from swf_temporal.base.errors import Position, Problem, Severity
from swf_temporal.languages.dsl.model.node import PARTS, Node
from swf_temporal.languages.dsl.model.workflow import type_of
from swf_temporal.languages.dsl.model.zigflow import (
    ACTIVITY,
    OPTIONS,
    QUERY,
    TIMEOUT,
    ActivityArguments,
    ActivityOptions,
    Message,
    go_seconds,
)
from swf_temporal.languages.dsl.names import LATEST, WrittenTask, object_at, written_tasks
from swf_temporal.text.model_errors import ErrorPlace, problem_of, problems_of
from swf_temporal.text.origin import Array, Object, Source, objects_in
from swf_temporal.text.suggestions import did_you_mean

_IN_OFFICIAL: Final = (
    "DSL 1.0 has it: write document.namespace and document.name in place of taskQueue and workflowType"
)
_CALLS: Final = (ACTIVITY, "grpc", "http", "mcp")
_OPTIONS_HINT: Final = "write metadata: {activityOptions: {startToCloseTimeout: {seconds: 30}}}"
_NOT_THERE: Final[Mapping[str, str]] = {
    "timeout": _OPTIONS_HINT,
    **dict.fromkeys(
        ("input.schema.resource", "output.schema.resource", "export.schema.resource"),
        "write the schema itself, as schema: {format: json, document: …}",
    ),
    "input.from": "read what the task needs in its expressions: $data, $context, $input",
    "catch.errors": "catch.do may look at $data.error, with a switch",
    "catch.when": "catch.do may look at $data.error, with a switch",
    "catch.exceptWhen": "catch.do may look at $data.error, with a switch",
    "catch.retry": "write metadata: {activityOptions: {retryPolicy: {maximumAttempts: 3}}} at the task that fails",
    "catch.then": "write then in the task itself, or in the last task of catch.do",
    "foreach": "listen in a loop, with for",
    "listen.read": "$data has what a message carried",
    "listen.to.until": "acceptIf says which message is the last",
    "run.return": "the result is what the process writes on stdout",
}
"""The properties that a zigflow task cannot have, by their paths, with the replacement for each."""
_OF_INPUT: Final = ("input.from", "input.schema.resource")
_OF_SCHEDULES: Final[Mapping[str, str]] = {
    "scheduleId": "`swf schedule` knows a schedule by the workflow type",
    "scheduleInput": "give the input to `swf schedule apply`",
    "scheduleWorkflowName": "a schedule starts the workflow of its document",
}
"""Metadata of schedules, which are made by a command here, and what says the same."""
_NOT_HEEDED: Final = ("use", "evaluate", "output")
_RESERVED: Final = ("status", "data", "trace", "deliver", "event")
"""The names of queries, updates and signals that every instance has."""
_GRPC_PORT: Final = 50051
_STREAMS: Final = "io.temporal.streams."
"""The beginning of the types of events that emit writes to a stream: the topic follows."""
_INSTEAD_OF_STREAMS: Final = "clients can read $data while it runs: listen to a query, whose data are what they ask for"
_PANICS: Final = "https://go.dev/panic"


def workflows_in(root: Object) -> list[Object]:
    """Return each workflow that the document *root* defines, as a document of its own.

    If all its tasks are `do`, each is a workflow, whose type is the name of the task.
    """
    root = deepcopy(root)
    for key in [key for key in root if key.startswith(".")]:
        root.take(key)  # where authors keep what YAML repeats
    tasks = root.get("do")
    if not isinstance(tasks, list) or not _are_workflows(tasks):
        return [root]
    types = {name for one in tasks for name in one}
    alone = [_alone(root, index) for index in range(len(tasks))]
    for one in alone:
        _lead_out(one, types)
    return alone


def _are_workflows(tasks: Any) -> bool:
    return (
        isinstance(tasks, list)
        and bool(tasks)
        and all(
            isinstance(one, Object) and len(one) == 1 and type_of(next(iter(one.values()))) == "do" for one in tasks
        )
    )


def _alone(root: Object, index: int) -> Object:
    alone, tasks = deepcopy(root), root["do"]
    where = tasks.positions[index] if isinstance(tasks, Array) and tasks.positions else root.where.value("do")
    alone["do"] = Array([deepcopy(tasks[index])], [where])
    return alone


def _lead_out(root: Object, types: Collection[str]) -> None:
    """Give each list in *root* with a switch that leads to a workflow of the file a `do` that runs it.

    *types* are those of the workflows. What a document says stays true without the others: a run carries one alone.
    """
    for one in list(written_tasks(root)):
        catch = object_at(one.task, "catch")
        for tasks in (one.task.get("do"), one.task.get("try"), None if catch is None else catch.get("do")):
            if not isinstance(tasks, Array):
                continue
            beside = {name for holder in objects_in(tasks) for name in holder}
            for target, where in _targets(tasks):
                if target in types and target not in beside:
                    beside.add(target)
                    tasks.append(_running(target, where))
                    tasks.positions.append(where)


def _targets(tasks: Any) -> list[tuple[str, Position]]:
    """Return the names to which the switches in the list *tasks* lead, each with its position."""
    switches = [task.get("switch") for one in objects_in(tasks) for task in one.values() if isinstance(task, Object)]
    cases = [case for switch in switches for one in objects_in(switch) for case in objects_in(list(one.values()))]
    return [(one["then"], one.where.value("then")) for one in cases if isinstance(one.get("then"), str)]


def _running(kind: str, where: Position) -> Object:
    """Return a `do` task that runs the workflow of the type *kind*, both called by its name."""

    def within(key: str, value: Any) -> Object:
        found = Object(where)
        found.put(key, value, (where, where))
        return found

    run = within("run", within("workflow", within("type", kind)))
    return within(kind, within("do", Array([within(kind, run)], [where])))


def in_dsl(root: Object, source: Source) -> tuple[Object, list[Problem]]:
    """Return one workflow as the model of DSL 1.0 has it, with the problems of what is not in zigflow's language."""
    root = deepcopy(root)
    document = object_at(root, "document")
    if _are_workflows(root.get("do")) and document is not None:
        ((name, task),) = root["do"][0].items()
        document.put("workflowType", name, (root["do"][0].where.key(name),) * 2)
        root["do"] = task["do"]
    reading = _Reading(source)
    reading.of_document(root)
    for one in written_tasks(root):
        reading.of_task(one)
    return root, reading.problems


class _Reading:
    def __init__(self, source: Source) -> None:
        self._source = source
        self.problems: list[Problem] = []

    def _unlike(self, message: str, position: Position, hint: str | None = None) -> None:
        """Report what is in DSL 1.0, but not in zigflow's language, or not here."""
        self.problems.append(self._source.problem("zigflow-unlike", message, position, hint))

    def _no_effect(self, message: str, position: Position, hint: str | None) -> None:
        """Report properties that zigflow reads and ignores, or that have no effect here."""
        self.problems.append(self._source.problem("zigflow-no-effect", message, position, hint, Severity.WARNING))

    def _add(self, code: str, message: str, position: Position, hint: str | None = None) -> None:
        self.problems.append(self._source.problem(code, message, position, hint))

    def _check(self, model: type[Node], value: Object, subject: str) -> None:
        """Report the errors in *value*, which has to be one of *model*."""
        try:
            model.model_validate(value)
        except ValidationError as refused:
            self.problems += problems_of(refused, lambda details: self._problem(details, model, value, subject))

    def _problem(self, details: Any, model: type[Node], value: Object, subject: str) -> Problem:
        path, kind = details["loc"], details["type"]
        place = ErrorPlace(value, path)
        words = ".".join(map(str, path[:-1]))
        owner = f"{subject}.{words}" if words else subject
        if kind == "extra_forbidden":
            key = str(path[-1])
            hint = did_you_mean(key, model.written())
            return self._source.problem(
                "unknown-property", f"{owner} has an unknown key {key!r}", place.key_position, hint
            )
        if kind == "missing":
            return self._source.problem("missing", f"{owner} has no {path[-1]}", place.position)
        return problem_of(details, place, f"{subject}.{'.'.join(map(str, path))}", self._source)

    def of_document(self, root: Object) -> None:
        document = object_at(root, "document")
        if document is None:
            return
        for key in [key for key in _NOT_HEEDED if key in root]:
            self._no_effect(
                f"the workflow: {key} has no effect in zigflow's language", root.where.key(key), _IN_OFFICIAL
            )
            root.take(key)
        schedule = object_at(root, "schedule")
        for key in ("after", "on"):
            if schedule is not None and key in schedule:
                self._unlike(
                    f"the workflow: schedule.{key} is not in zigflow's language", schedule.where.key(key), _IN_OFFICIAL
                )
        self._refuse_name("the workflow: timeout", root, "timeout")
        for path in _OF_INPUT:
            self._refuse("the workflow", root, path)
        metadata = object_at(document, "metadata")
        if metadata is None:
            return
        for key in [key for key in _OF_SCHEDULES if key in metadata]:
            where = metadata.where.key(key)
            self._no_effect(f"document.metadata.{key} has no effect here", where, _OF_SCHEDULES[key])
        self._options(metadata, f"document.metadata.{OPTIONS}")

    def _options(self, metadata: Object | None, owner: str) -> Object | None:
        """Return the options of activities in *metadata*, checked, if they are an object."""
        given = None if metadata is None else metadata.get(OPTIONS)
        if metadata is None or given is None:
            return None
        if not isinstance(given, Object):
            self._unlike(f"{owner} must be an object", metadata.where.value(OPTIONS), _OPTIONS_HINT)
            return None
        self._check(ActivityOptions, given, owner)
        return given

    def _refuse_name(self, what: str, holder: Object | None, key: str) -> None:
        """Report a component that is named under *key* of *holder*: there are none, as `use` has no effect."""
        if holder is not None and isinstance(holder.get(key), str):
            message = f"{what} is {holder[key]!r}: zigflow's language has no names of components"
            self._unlike(message, holder.where.value(key), "write the component itself")

    def _refuse(self, owner: str, node: Object, path: str) -> None:
        """Report what is at *path* in *node*, if anything is."""
        *around, key = path.split(".")
        holder = object_at(node, *around)
        if holder is not None and key in holder:
            self._unlike(f"{owner}: {path} is not in zigflow's language", holder.where.key(key), _NOT_THERE[path])

    def of_task(self, one: WrittenTask) -> None:
        task, kind = one.task, type_of(one.task)
        if kind == "emit":
            self._emit(one)
        for path in _NOT_THERE:
            self._refuse(one.owner, task, path)
        self._refuse_name(f"{one.owner}: timeout", task, "timeout")
        options = self._options(object_at(task, "metadata"), f"{one.owner}: {OPTIONS}")
        if options is not None:
            self._fairness(one, options)
        attributes = object_at(task, "metadata", "searchAttributes")
        if attributes is not None:
            where = task["metadata"].where.key("searchAttributes")
            hint = "document.metadata.searchAttributes are, at the start"
            self._unlike(f"{one.owner}: search attributes of a task are not set here", where, hint)
        match kind:
            case "call":
                self._call(one)
            case "listen":
                self._listen(one)
            case "wait":
                self._wait(one)
            case "run":
                self._run(one)
            case "raise":
                self._raise(one)

    def _emit(self, one: WrittenTask) -> None:
        with_ = object_at(one.task, "emit", "event", "with")
        kind, where = None if with_ is None else with_.get("type"), one.task.where.key("emit")
        if isinstance(kind, str) and kind.startswith(_STREAMS):
            message = f"{one.owner}: emit writes to a stream of Temporal, and instances have none here"
            self._unlike(message, where, _INSTEAD_OF_STREAMS)
        else:
            message = f"{one.owner}: emit sends no events in zigflow's language: it writes to streams of Temporal alone"
            self._unlike(message, where, _IN_OFFICIAL)

    def _fairness(self, one: WrittenTask, options: Object) -> None:
        priority = object_at(options, "priority")
        for key in ("fairnessKey", "fairnessWeight"):
            if priority is not None and key in priority:
                hint = "priorityKey, from 1 to 5, has"
                self._no_effect(f"{one.owner}: {key} has no effect here", priority.where.key(key), hint)

    def _call(self, one: WrittenTask) -> None:
        called, given = one.task.get("call"), object_at(one.task, "with")
        if called not in _CALLS:
            hint = did_you_mean(str(called), _CALLS) or _IN_OFFICIAL
            what = f"{one.owner} calls {called!r}; zigflow calls {', '.join(_CALLS[:-1])} and {_CALLS[-1]}"
            self._unlike(what, one.task.where.value("call"), hint)
        elif called == ACTIVITY:
            self._activity(one, given)
        service = object_at(given, "service")
        if called == "grpc" and service is not None:
            service.setdefault("host", "localhost")
            service.setdefault("port", _GRPC_PORT)
        for holder in (object_at(given, "endpoint"), given, service):
            if holder is not None and "authentication" in holder:
                message = f"{one.owner}: authentication is not in zigflow's language"
                hint = "write the header, or the document in DSL 1.0, which has authentication and secrets"
                self._unlike(message, holder.where.key("authentication"), hint)

    def _activity(self, one: WrittenTask, given: Object | None) -> None:
        if given is None:
            where = one.task.where.position
            self._add("missing", f"{one.owner} has no with", where, "write with: {name: …, taskQueue: …}")
            return
        self._check(ActivityArguments, given, f"{one.owner}: with")
        if not isinstance(given.get("arguments", []), list):
            message = f"{one.owner}: with.arguments must be a list"
            self._add("type", message, given.where.value("arguments"), "write each argument after a hyphen")
        if "@" in str(given.get("taskQueue", "")):
            self._unlike(f"{one.owner}: a task queue has no @ in its name here", given.where.value("taskQueue"))

    def _listen(self, one: WrittenTask) -> None:
        to = object_at(one.task, "listen", "to")
        one_alone = object_at(to, "one")
        several = [*objects_in(to.get("any")), *objects_in(to.get("all"))] if to is not None else []
        given = several if one_alone is None else [one_alone]
        kinds = set()
        if to is not None and to.get("any") == []:
            self._add("empty-list", f"{one.owner}: any is empty", to.where.value("any"))
        for each in given:
            message = object_at(each, "with")
            if message is None:
                if "with" in each:
                    where = each.where.value("with")
                    self._add(
                        "type", f"{one.owner}: with must be an object", where, "such as {id: approve, type: signal}"
                    )
                continue
            self._check(Message, message, f"{one.owner}: with")
            kinds.add(message.get("type") == QUERY)
            if message.get("id") in _RESERVED:
                text = f"{one.owner}: every instance has a message called {message['id']!r}"
                self._unlike(text, message.where.value("id"), "choose another id")
        if len(kinds) > 1:
            text = f"{one.owner} listens to a query beside others, so that zigflow waits for none of them"
            self._unlike(text, one.task.where.key("listen"), "listen to the query in a separate task, before")
        metadata = object_at(one.task, "metadata")
        if metadata is not None and TIMEOUT in metadata:
            try:
                go_seconds(str(metadata[TIMEOUT]))
            except ValueError:
                text = f"{one.owner}: metadata.timeout is {metadata[TIMEOUT]!r}, which is not a duration of Go"
                self._unlike(text, metadata.where.value(TIMEOUT), "such as 90s, 5m or 24h")

    def _wait(self, one: WrittenTask) -> None:
        given = object_at(one.task, "wait")
        if given is None:
            return
        if "until" in given and len(given) > 1:
            text = f"{one.owner} waits until a moment, and for a duration"
            self._add("one-of", text, given.where.key(next(key for key in given if key != "until")), "write two tasks")
        if "until" in given:
            one.task["wait"] = f"${{ {{until: {_as_jq(given['until'])}}} }}"
        elif any(isinstance(value, str) for value in given.values()) and given.keys() <= set(PARTS):
            parts = ", ".join(f"{key}: {_as_jq(value)}" for key, value in given.items())
            one.task["wait"] = f"${{ {{{parts}}} }}"

    def _run(self, one: WrittenTask) -> None:
        process = object_at(one.task, "run", "workflow")
        if process is None:
            return
        if "type" in process:
            process.rename("type", "name")
        process.setdefault("namespace", "")
        process["version"] = LATEST

    def _raise(self, one: WrittenTask) -> None:
        self._refuse_name(f"{one.owner}: raise.error", object_at(one.task, "raise"), "error")
        error = object_at(one.task, "raise", "error")
        if error is not None and _PANICS in (error.get("type"), error.get("title")):
            text = f"{one.owner} raises a panic, after which zigflow tries again until its worker is another"
            self._unlike(
                text, error.where.position, "raise an error of a type of your own, and `swf retry` the instance"
            )


def _as_jq(value: Any) -> str:
    """Return a number, or a text that may be an expression, as a part of one."""
    if not isinstance(value, str):
        return str(value)
    if value.startswith("${") and value.endswith("}"):
        return f"({value[2:-1]})"
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
