"""Generated definitions of the draft of November 2019: the same for the same seed."""

from collections.abc import Sequence
from random import Random
from typing import Any, TypeAlias

Document: TypeAlias = dict[str, Any]

_FUNCTIONS = ("f0", "f1", "f2")
_EVENTS = ("in0", "in1", "in2")
_RESULTS = (None, 4, "heads", "18", True, [1, 2], {"a": {"b": 3}, "n": 9}, {"r": 1}, {"a": 5}, {"items": [{"b": 1}]})
_PATHS = ("$", "$", "$.a", "$.a.b", "$.n", "$.items", "$.items[*].b", "$.gone")
_PLACES = ("$", "$.a", "$.new", "$.new.deep", "$.a.b")


def november_2019(seed: int) -> Document:
    return _Maker(seed).scenario()


class _Maker:
    """Makes one scenario. States lead forward, so that nothing loops."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)  # noqa: S311 - the same seed is to make the same
        self.seed = seed
        self.results: Sequence[Any] = _RESULTS

    def often(self, share: float) -> bool:
        return self.random.random() < share

    def one(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def duration(self) -> str:
        return f"PT{self.one(1, 2, 3, 5, 60)}S"

    def scenario(self) -> Document:
        names = [f"S{number}" for number in range(self.random.randint(1, 4))]
        states = [self.state(name, names[index + 1 :]) for index, name in enumerate(names)]
        child = f"n{self.seed}-child"
        # In 0.8 a filter that selects null selects nothing, and only a filter gives such a sub-workflow its data.
        is_left_alone = any(state["type"] == "SUBFLOW" and "waitForCompletion" not in state for state in states)
        self.results = [one for one in _RESULTS if one is not None or not is_left_alone]
        ended = {"id": child, "specVersion": "0.8", "states": [
            {"name": "C", "type": "inject", "data": {"child": True, "n": 7}, "end": True},
        ]}  # fmt: skip
        return {
            "scenario": f"November 2019, seed {self.seed}",
            "workflow": {
                "id": f"n{self.seed}",
                "name": "Generated",
                self.one("startsAt", "starts-at"): names[0],
                "triggerDefs": [{"name": name, "type": name, "source": "s"} for name in _EVENTS],
                "states": states,
            },
            "definitions": [ended] if child in repr(states) else [],
            "input": {
                "n": self.random.randint(0, 5),
                "a": {"b": self.one(1, "18", "x")},
                "items": [{"b": number} for number in range(self.random.randint(0, 3))],
            },
            "functions": {
                name: {"then": [self.answer() for _ in range(self.random.randint(1, 3))]} for name in _FUNCTIONS
            },
            "events": [self.event(number) for number in range(self.random.randint(0, 4))],
        }

    def event(self, number: int) -> Document:
        data = self.one({"e": number}, {"n": 8, "a": {"c": 1}}, {"items": [{"b": 9}]})
        return {"type": self.one(*_EVENTS), "source": "s", "id": str(number), "data": data}

    def answer(self) -> Document:
        answer: Document = {"returns": self.one(*self.results)}
        if self.often(0.2):
            answer = {
                "raises": {**self.one({"status": 408}, {"status": 403}, {"code": "Busy"}), "message": "made to fail"}
            }
        if self.often(0.3):
            answer["takes"] = self.duration()
        return answer

    def state(self, name: str, later: Sequence[str]) -> Document:
        kinds = ("OPERATION", "OPERATION", "OPERATION", "EVENT", "EVENT", "SWITCH", "DELAY", "PARALLEL", "SUBFLOW")
        kind = self.one(*kinds)
        if kind == "SWITCH" and not later:
            kind = "OPERATION"
        state: Document = {"name": name, "type": kind}
        makers = {
            "OPERATION": self.operation, "EVENT": self.event_state, "SWITCH": self.switch, "DELAY": self.delay,
            "PARALLEL": self.parallel, "SUBFLOW": self.subflow,
        }  # fmt: skip
        makers[kind](state, later)
        if kind not in ("SWITCH", "EVENT"):
            self.lead(state, later)
        self.filter(state, 0.3)
        if kind == "OPERATION" and self.often(0.2) and "filter" in state:
            state.update(state.pop("filter"))
        return state

    def lead(self, node: Document, later: Sequence[str]) -> None:
        if later and self.often(0.9):
            following = self.one(*later)
            node.update(
                self.one({"nextState": following}, {"next-state": following}, {"transition": {"nextState": following}})
            )
        else:
            node["end"] = True

    def filter(self, node: Document, share: float) -> None:
        if not self.often(share):
            return
        given: Document = {"inputPath": self.one(*_PATHS)}
        if self.often(0.5):
            given["resultPath"] = self.one(*_PLACES)
        if self.often(0.4):
            given["outputPath"] = self.one("$", "$.a", "$.new", "$.items[*].b")
        node["filter"] = given

    def action(self, *, may_retry: bool = True, may_put: bool = True) -> Document:
        function: Any = self.one(*_FUNCTIONS)
        if self.often(0.5):
            function = {
                "name": function,
                "parameters": {"x": self.one(*_PATHS), "y": f"it is {self.one(*_PATHS)} here"},
            }
        action: Document = {"function": function}
        self.filter(action, 0.3)
        if not may_put and "filter" in action:
            # What has no place fails there and then in the draft, and with all the others once it is rewritten.
            action["filter"] = {"inputPath": action["filter"]["inputPath"]}
        if may_retry and self.often(0.2):
            retry: Document = {"match": self.one("SYS.MatchAny", "SYS.Timeout", "SYS.Permission", "Busy")}
            retry["retryInterval"] = self.one(f"R2/{self.duration()}", self.duration())
            if self.often(0.5):
                retry["maxRetry"] = self.one(0, 1, 2)
            action["retry"] = self.one(retry, [retry])
        return action

    def operation(self, state: Document, later: Sequence[str]) -> None:
        state["actionMode"] = self.one("SEQUENTIAL", "Sequential", "PARALLEL")
        is_parallel = state["actionMode"] == "PARALLEL"
        state["actions"] = [self.action(may_put=not is_parallel) for _ in range(self.random.randint(0, 3))]
        if len(state["actions"]) == 1 and "retry" in state["actions"][0] and later and self.often(0.5):
            for retry in _listed(state["actions"][0]["retry"]):
                retry["nextState"] = self.one(*later)
        elif self.often(0.2):
            time = self.duration()
            for action in state["actions"]:
                action["timeout"] = time

    def event_state(self, state: Document, later: Sequence[str]) -> None:
        refs = self.random.sample(_EVENTS, 3)
        entries: list[Document]
        if self.often(0.3):
            entries = [{"eventExpression": f"{refs[0]} and {refs[1]}"}]
        elif self.often(0.5):
            entries = [{"eventExpression": refs[0]}, {"eventExpression": f"{refs[1]} or {refs[2]}"}]
        else:
            entries = [{"eventExpression": refs[0]}]
        time = self.duration() if self.often(0.7) else None
        for entry in entries:
            count = self.random.randint(0, 2)
            entry["actions"] = [self.action(may_retry=False, may_put=False) for _ in range(count)]
            entry["actionMode"] = self.one("SEQUENTIAL", "PARALLEL")
            if time is not None:
                entry["timeout"] = time
            if self.often(0.4):
                entry["filter"] = {"inputPath": self.one("$", "$.data", "$.a")}
                if self.often(0.5):
                    entry["filter"]["inputPath"] = self.one("$", "$.e", "$.data.n", "$.type", "$.a")
                    entry["filter"]["resultPath"] = self.one("$.got", "$.a")
            self.lead(entry, later)
        state["events"] = entries

    def switch(self, state: Document, later: Sequence[str]) -> None:
        state["choices"] = []
        for _ in range(self.random.randint(1, 3)):
            kind = self.one("single", "and", "or", "not", "And")
            rules = [self.rule() for _ in range(1 if kind in ("single", "not") else 2)]
            choice: Document = {kind: self.one(rules, rules[0]) if len(rules) == 1 else rules}
            state["choices"].append({**choice, "nextState": self.one(*later)})
        if self.often(0.8):
            state["default"] = self.one(*later)

    def rule(self) -> Document:
        value = self.one("1", "3", "18", "x", "true")
        numeric = () if value in ("x", "true") else ("LT", "LTEQ", "GT", "GTEQ")
        operator = self.one("EQ", "StrEQ", "StrLT", "StrGTEQ", "Exists", "NotEquals", "LessThanEquals", *numeric)
        return {"path": self.one(*_PATHS), "value": value, "operator": operator}

    def delay(self, state: Document, later: Sequence[str]) -> None:
        del later
        state["timeDelay"] = self.duration()

    def subflow(self, state: Document, later: Sequence[str]) -> None:
        del later
        state["workflowId"] = f"n{self.seed}-child"
        if self.often(0.7):
            state["waitForCompletion"] = True

    def parallel(self, state: Document, later: Sequence[str]) -> None:
        del later
        state["branches"] = [self.branch(f"{state['name']}B{one}") for one in range(self.random.randint(1, 3))]

    def branch(self, name: str) -> Document:
        names = [f"{name}N{one}" for one in range(self.random.randint(1, 3))]
        states: list[Document] = []
        for index, one in enumerate(names):
            state: Document = {"name": one, "type": self.one("OPERATION", "OPERATION", "DELAY", "SUBFLOW")}
            if state["type"] == "OPERATION":
                state["actionMode"] = "SEQUENTIAL"
                state["actions"] = [self.action(may_retry=False) for _ in range(self.random.randint(0, 2))]
            elif state["type"] == "DELAY":
                state["timeDelay"] = self.duration()
            else:
                state.update(workflowId=f"n{self.seed}-child", waitForCompletion=True)
            self.filter(state, 0.2)
            state.update({"end": True} if index == len(names) - 1 else {"nextState": names[index + 1]})
            states.append(state)
        return {"name": name, "startsAt": names[0], "waitForCompletion": self.often(0.95), "states": states}


def _listed(value: Any) -> list[Document]:
    return value if isinstance(value, list) else [value]
