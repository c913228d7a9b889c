"""Generated definitions of the draft of May 2020, in both of its spellings: the same for the same seed."""

from collections.abc import Sequence
from copy import deepcopy
from random import Random
from typing import Any, TypeAlias

Document: TypeAlias = dict[str, Any]

_FUNCTIONS = ("f0", "f1", "f2")
_EVENTS = ("in0", "in1", "in2")
_KEYS = ("n", "m", "r", "items", "text", "o")
_PATHS = ("$.n", "$.r", "$.text", "$.o", "$.o.n", "$.o.r", "$.items", "$.items[0].i", "$.gone", "$.gone.deep", "$.e")
_RESULTS = ("$.r", "$.n", "$.o.r", "$.flip.result", "$.list[*].i", "$", "$.late", "it was heads")
_RESULTS_OF_FUNCTIONS = (
    None, 4, "heads", {"r": 1}, {"n": 9, "new": {"a": 1}}, {"o": {"r": 3}}, {"flip": {"result": "tails"}},
    {"list": [{"i": 1}]}, {"text": "b"},
)  # fmt: skip
_OPERATORS = (
    "exists", "notexists", "null", "notnull", "equals", "notequals", "lessthan", "LessThanEquals", "greaterthan",
    "greaterthanorequals", "matches", "notmatches", "custom",
)  # fmt: skip
_INJECTED: tuple[Document, ...] = (
    {"text": "b", "new": "c"}, {"o": {"n": 4, "s": "x"}}, {"items": [{"i": 9}]}, {"n": None}, {"o": {}}, {},
    {"r": "costs $.n and ${x}"},
)  # fmt: skip
_NAMES = ("Broken", "Busy", "Lost")
_PARENT = {"tasks": "states", "taskDataFilter": "stateDataFilter", "nextTask": "nextState"}


def may_2020(seed: int, *, with_states: bool) -> Document:
    """Return the scenario of *seed*, whose definition has tasks or, as the draft's parent calls them, states."""
    document = _Maker(seed).scenario()
    return {**document, "workflow": _as_parent(document["workflow"])} if with_states else document


def _as_parent(value: Any) -> Any:
    if isinstance(value, dict):
        return {_PARENT.get(key, key): _as_parent(item) for key, item in value.items()}
    return [_as_parent(item) for item in value] if isinstance(value, list) else value


class _Maker:
    """Makes one scenario. Transitions lead forward, so that nothing loops."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)  # noqa: S311 - the same seed is to make the same
        self.seed = seed
        self.number = 0

    def often(self, share: float) -> bool:
        return self.random.random() < share

    def one(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def duration(self) -> str:
        return f"PT{self.one(1, 2, 3, 5, 60)}S"

    def scenario(self) -> Document:
        count = self.random.randint(1, 4)
        names = [f"T{number}" for number in range(count)]
        tasks = [self.task(name, names[index + 1 :]) for index, name in enumerate(names)]
        tasks[0]["start"] = {"kind": self.one("default", "DEFAULT")}
        child = f"m{self.seed}-child"
        workflow: Document = {
            "id": f"m{self.seed}", "name": "Generated", "version": "1.0",
            "functions": [{"name": name, "resource": name,
                           "type": self.one("container", "script")} for name in _FUNCTIONS],
            "events": [*({"name": name, "type": name, "source": "s", **self.token()} for name in _EVENTS),
                       {"name": "out", "type": "out", "source": "s"}],
            "tasks": tasks,
        }  # fmt: skip
        ended = {"id": child, "specVersion": "0.8", "states": [
            {"name": "C", "type": "inject", "data": {"child": True, "n": 7}, "end": True},
        ]}  # fmt: skip
        document: Document = {
            "scenario": f"May 2020, seed {self.seed}",
            "workflow": workflow,
            "definitions": [ended] if child in repr(tasks) else [],
            "input": {"n": self.random.randint(0, 5),
                      "items": [{"i": number, "ok": self.often(0.5)} for number in range(self.random.randint(0, 3))],
                      "text": self.one("a", "18", "true"), "o": {"n": self.random.randint(0, 3)}},
            "functions": {name: self.answers() for name in _FUNCTIONS},
            "events": [self.event(number) for number in range(self.random.randint(0, 4))],
        }  # fmt: skip
        return document

    def token(self) -> Document:
        return {"correlationToken": "customer"} if self.often(0.3) else {}

    def event(self, number: int) -> Document:
        event: Document = {"type": self.one(*_EVENTS), "source": "s", "id": str(number)}
        event["customer"] = "c1"
        event["data"] = self.one({"e": number}, {"e": "x", "r": 1}, {"gone": {"deep": 1}}, {"o": {"n": 2}})
        return event

    def answers(self) -> Document:
        return {"then": [self.answer() for _ in range(self.random.randint(1, 3))]}

    def answer(self) -> Document:
        answer: Document
        if self.often(0.25):
            answer = {"raises": {"name": self.one(*_NAMES), "message": "made to fail"}}
        else:
            answer = {"returns": self.one(*_RESULTS_OF_FUNCTIONS)}
        if self.often(0.3):
            answer["takes"] = self.duration()
        return answer

    # Tasks

    def task(self, name: str, later: Sequence[str]) -> Document:
        kinds = ("operation", "operation", "operation", "event", "switch", "delay", "parallel", "foreach", "inject",
                 "subflow", "callback")  # fmt: skip
        kind = self.one(*kinds)
        if kind == "switch" and not later:
            kind = "inject"
        task: Document = {"name": name, "type": kind}
        getattr(self, f"{kind}_task")(task, later)
        if kind != "switch":
            task.update(self.way(later))
        if kind != "switch" and self.often(0.25):
            task["taskDataFilter"] = {"dataOutputPath": self.one("$", "$.o", "$.r", "$.gone", "$.items[*].i")}
        if self.often(0.1):
            task.setdefault("taskDataFilter", {})["dataInputPath"] = self.input_path(kind, later)
        return task

    def input_path(self, kind: str, later: Sequence[str]) -> str:
        """Return a path: to an object, except where neither the task nor a later one adds to what it is given."""
        adds_nothing = kind in ("delay", "inject") and not later
        return str(self.one("$.o", "$.gone", "$", *(["$.items"] if adds_nothing else [])))

    def way(self, later: Sequence[str]) -> Document:
        if later and self.often(0.85):
            return {"transition": self.transition(later)}
        end: Document = {"kind": self.one("default", "DEFAULT", "terminate")}
        if self.often(0.25):
            end = {"kind": "event", "produceEvent": self.produced()}
        return {"end": end}

    def transition(self, later: Sequence[str]) -> Document:
        transition: Document = {"nextTask": self.one(*later)}
        if self.often(0.15):
            transition["expression"] = self.one("$.n lt 5", "$.text ne 'b'", {"language": "spel", "body": "n ge 1"})
        if self.often(0.15):
            transition["produceEvent"] = self.produced()
        return transition

    def produced(self) -> Document:
        data = self.one(None, "$.n", "$.o", "$.items[*]", {"n": "$.n", "said": "n is $.n, r is $.r."})
        return {"eventRef": "out", **({} if data is None else {"data": data})}

    def action(self, *, may_filter: bool = True) -> Document:
        reference: Document = {"refName": self.one(*_FUNCTIONS)}
        if self.often(0.7):
            reference["parameters"] = {
                "a": self.one(*_PATHS),
                "b": self.one(1, "text", f"it is {self.one(*_PATHS)} here"),
            }
        action: Document = {"functionRef": reference}
        if may_filter and self.often(0.5):
            given = action["actionDataFilter"] = {}
            if self.often(0.3):
                given["dataInputPath"] = self.one("$.o", "$.gone", "$.")
            if self.often(0.8):
                given["dataResultsPath"] = self.one(*_RESULTS)
        return action

    def operation_task(self, task: Document, later: Sequence[str]) -> None:
        count = self.random.randint(1, 3)
        task["actions"] = [self.action() for _ in range(count)]
        if self.often(0.3):
            task["actionMode"] = self.one("parallel", "Sequential")
        if self.often(0.25):
            time = self.duration()
            for action in task["actions"]:
                action["timeout"] = time
        self.errors(task, later)
        if self.often(0.3) and count == 1:
            task["retry"] = [self.retry()]

    def retry(self) -> Document:
        retry: Document = {
            "expression": self.one("$.error != null", "name eq 'Busy'", "name eq 'Busy' or name eq 'Lost'")
        }
        if self.often(0.7):
            retry["interval"] = self.one(self.duration(), f"R2/{self.duration()}")
        if self.often(0.5):
            retry["maxAttempts"] = self.one(0, 1, 2)
        if self.often(0.3):
            retry["multiplier"] = self.duration()
        return retry

    def errors(self, task: Document, later: Sequence[str]) -> None:
        if not self.often(0.5):
            return
        entries = [
            self.entry(self.one("name eq 'Broken'", "$.error.name eq 'Busy'"), later) for _ in range(self.one(0, 1))
        ]
        if self.often(0.5):
            entries.append(self.entry("$.error.message matches 'x' or name eq 'Lost'", later))
        if self.often(0.7) or not entries:
            entries.append(self.entry("$.error != null", later))
        task["onError"] = entries

    def entry(self, expression: str, later: Sequence[str]) -> Document:
        entry: Document = {"expression": expression}
        if later and self.often(0.6):
            entry["transition"] = self.transition(later)
        if self.often(0.4):
            entry["errorDataFilter"] = {"dataOutputPath": self.one("$.error", "$.error.name", "$.message", "$.gone")}
        return entry

    def event_task(self, task: Document, later: Sequence[str]) -> None:
        del later
        entries = self.random.randint(1, 2)
        refs = self.random.sample(_EVENTS, entries)
        task["eventsActions"] = []
        for ref in refs:
            entry: Document = {"eventRefs": [ref], "actions": [self.action() for _ in range(self.random.randint(0, 2))]}
            self.event_filter(entry)
            task["eventsActions"].append(entry)
        if self.often(0.3):
            task["exclusive"] = False
        if self.often(0.7):
            task["timeout"] = self.duration()

    def event_filter(self, holder: Document) -> None:
        if self.often(0.4):
            holder["eventDataFilter"] = {
                "dataOutputPath": self.one("$.e", "$.gone", "$.gone.deep", "$", "$.data", "$.type")
            }

    def switch_task(self, task: Document, later: Sequence[str]) -> None:
        if self.often(0.3):
            task["eventConditions"] = []
            for ref in self.random.sample(_EVENTS, 2):
                one: Document = {"eventRef": ref, "transition": self.transition(later)}
                self.event_filter(one)
                task["eventConditions"].append(one)
            task["eventTimeout"] = self.duration()
        else:
            task["dataConditions"] = [self.condition(later) for _ in range(self.random.randint(1, 3))]
        if self.often(0.8):
            task["default"] = self.transition(later)

    def condition(self, later: Sequence[str]) -> Document:
        operator = self.one(*_OPERATORS)
        made = {"path": self.one(*_PATHS, "$.items[*].ok"), "operator": operator, "transition": self.transition(later)}
        if operator == "custom":
            return {**made, "metadata": {"expression": "$.n gt 2 and not ($.text eq 'a')"}}
        return {**made, "value": self.one("1", "2", "18", "true", "null", "a", 3)}

    def delay_task(self, task: Document, later: Sequence[str]) -> None:
        del later
        task["timeDelay"] = self.duration()

    def inject_task(self, task: Document, later: Sequence[str]) -> None:
        del later
        task["data"] = deepcopy(self.one(*_INJECTED))

    def subflow_task(self, task: Document, later: Sequence[str]) -> None:
        del later
        task["workflowId"] = f"m{self.seed}-child"
        if self.often(0.7):
            task["waitForCompletion"] = True

    def callback_task(self, task: Document, later: Sequence[str]) -> None:
        self.event_filter(task)
        task.update(action=self.action(), eventRef=self.one(*_EVENTS), timeout=self.duration())
        self.errors(task, later)

    def nested(self, prefix: str) -> list[Document]:
        """Return tasks that follow each other. Each result has a key of its own."""
        names = [f"{prefix}{number}" for number in range(self.random.randint(1, 3))]
        tasks: list[Document] = []
        for index, name in enumerate(names):
            kind = self.one("operation", "operation", "delay", "inject")
            task: Document = {"name": name, "type": kind}
            if kind == "operation":
                task["actions"] = [self.action(may_filter=False) for _ in range(self.random.randint(1, 2))]
                for number, action in enumerate(task["actions"]):
                    action["actionDataFilter"] = {"dataResultsPath": f"$.{name}r{number}"}
            elif kind == "delay":
                task["timeDelay"] = self.duration()
            else:
                task["data"] = {f"{name}r": self.one("x", 5, {"a": 1})}
            last = index == len(names) - 1
            task.update({"end": {"kind": "default"}} if last else {"transition": {"nextTask": names[index + 1]}})
            if self.often(0.2):
                one = task["end"] if last else task["transition"]
                one.update({"produceEvent": self.produced(), **({"kind": "event"} if last else {})})
            tasks.append(task)
        tasks[0]["start"] = {"kind": "default"}
        return tasks

    def parallel_task(self, task: Document, later: Sequence[str]) -> None:
        branches = [
            {"name": f"B{one}", "tasks": self.nested(f"{task['name']}B{one}")}
            for one in range(self.random.randint(1, 3))
        ]
        task["branches"] = branches
        task["completionType"] = self.one("and", "xor", "n_of_m", "AND")
        if task["completionType"] == "n_of_m":
            task["n"] = self.random.randint(1, len(branches))
        self.errors(task, later)

    def foreach_task(self, task: Document, later: Sequence[str]) -> None:
        task["inputCollection"] = self.one("$.items", "$.items[?(@.ok == true)]")
        task["inputParameter"] = "$.element"
        if self.often(0.6):
            task["outputCollection"] = f"$.{task['name']}all"
        if self.often(0.4):
            task["max"] = self.one(0, 1, 2)
        task["tasks"] = self.nested(f"{task['name']}E")
        self.errors(task, later)
