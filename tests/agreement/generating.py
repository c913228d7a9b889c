"""Small definitions of all kinds of states, with scripts and events: the same for the same seed.

What is made is a scenario, as scenario files hold them. Every reference leads somewhere, and transitions lead forward,
so that nothing loops; nearly all of these definitions can run.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

Document = dict[str, Any]

_SECONDS = (1, 1, 2, 2, 3, 5, 8, 13, 60, 3600)
"""Few different durations: so there are many moments at which several things are due."""
_CODES = ("c1", "c2")
_EVENTS = ("in0", "in1", "in2")
_FUNCTIONS = ("f0", "f1", "f2", "f3")


def scenario(seed: int) -> Document:
    made = _Maker(seed).scenario()
    if seed % 4 == 0:
        # What such a call of an `async` sub-workflow does once that was terminated is not the same on both hosts.
        _mark_long_running(made["workflow"])
    if seed % 7 == 3:
        _let_children_continue(made)
    return made


class Chance:
    """What a scenario has of all that it might have follows from its seed."""

    def __init__(self, seed: int | str) -> None:
        self.random = Random(seed)  # noqa: S311 - for tests

    def often(self, share: float) -> bool:
        return self.random.random() < share

    def upto(self, most: int) -> int:
        return self.random.randint(0, most)

    def one(self, *choices: Any) -> Any:
        return self.random.choice(choices)


class _Maker(Chance):
    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.seed = seed
        self.retries_itself = self.often(0.1)
        """Whether what fails is tried again without being asked: then it must succeed some time."""
        children = 0 if self.retries_itself else self.upto(2)
        self.children = [f"g{seed}-child{number}" for number in range(children)]
        self.next = f"g{seed}-next"

    # Chance

    def some(self, choices: Sequence[str], most: int) -> list[str]:
        return self.random.sample(choices, self.random.randint(1, min(most, len(choices))))

    def duration(self) -> str:
        return f"PT{self.one(*_SECONDS)}S"

    # The whole

    def scenario(self) -> Document:
        main = self.workflow(f"g{self.seed}", self.children, may_continue=True)
        children = [
            self.workflow(name, self.children[:number], may_continue=False) for number, name in enumerate(self.children)
        ]
        following = [self.workflow(self.next, [], may_continue=False)] if _mentions(main, self.next) else []
        document: Document = {
            "scenario": f"agreement, seed {self.seed}",
            "workflow": main,
            "definitions": [one for one in children if _mentions([main, *children], one["id"])] + following,
            "input": {
                "n": self.upto(5), "items": [{"i": number} for number in range(self.upto(4))], "go": self.often(0.5),
            },
            "functions": {name: self.answers() for name in _FUNCTIONS},
            "events": [self.event(number) for number in range(self.upto(5))],
            "chance": [self.one(0, 0.5, 1)],
            "cancel": self.often(0.3),
        }  # fmt: skip
        return document

    def answers(self) -> Document:
        count = self.upto(2)
        return {"then": [*(self.answer() for _ in range(count)), self.answer(succeeds=self.retries_itself)]}

    def answer(self, *, succeeds: bool = False) -> Document:
        answer: Document
        if self.often(0.3) and not succeeds:
            answer = {"raises": {"code": self.one(*_CODES), "message": "made to fail"}}
        else:
            answer = {"returns": self.one(None, self.upto(9), {"r": self.upto(9)}, {"n": self.upto(9)}, [1, 2], "text")}
        if self.often(0.4):
            answer["takes"] = self.duration()
        return answer

    def event(self, number: int) -> Document:
        event: Document = {"type": self.one(*_EVENTS), "source": "s", "id": str(number), "data": {"e": self.upto(3)}}
        if self.often(0.2):
            event["early"] = True
        return event

    def workflow(self, name: str, children: Sequence[str], *, may_continue: bool) -> Document:
        self.reachable = children
        self.may_continue = may_continue
        count = 1 + self.upto(4)
        self.names = [f"S{number}" for number in range(count)]
        self.undone: list[str] = []
        states = [self.state(number) for number in range(count)]
        states += [self.undoing(one) for one in self.undone]
        workflow: Document = {
            "id": name,
            "specVersion": "0.8",
            "functions": [
                *({"name": one, "operation": f"api#{one}"} for one in _FUNCTIONS),
                {"name": "calc", "type": "expression", "operation": "${ {c: (.n // 0 | tostring)} }"},
            ],
            "events": [
                *({"name": one, "type": one, "source": "s"} for one in _EVENTS),
                {"name": "out", "type": "out", "source": "s", "kind": "produced"},
            ],
            "errors": [*({"name": f"E{one}", "code": one} for one in _CODES), {"name": "late", "code": "TimedOut"}],
            "retries": [self.retry("R0"), self.retry("R1")],
            "states": states,
        }
        if self.often(0.4):
            workflow["timeouts"] = self.timeouts(
                "stateExecTimeout", "actionExecTimeout", "branchExecTimeout", "eventTimeout", share=0.25
            )
            if self.often(0.6):
                timeout = workflow["timeouts"]["workflowExecTimeout"] = self.workflow_timeout()
                if "runBefore" in timeout:
                    states.append({"name": "Before", "type": "operation", "actions": [self.call()], "end": True})
        elif self.often(0.2) and states[0]["type"] == "event" and "timeouts" not in states[0]:
            # With a timeout it would go round for ever.
            workflow["keepActive"] = True
        if self.retries_itself:
            workflow["autoRetries"] = True
        if self.often(0.15):
            workflow["metadata"] = {"compensateOnCancel": "true"}
        return workflow

    def workflow_timeout(self) -> Any:
        if self.often(0.4):
            return self.duration()
        timeout: Document = {"duration": self.duration()}
        if self.often(0.5):
            timeout["interrupt"] = self.often(0.5)
        if self.often(0.4):
            timeout["runBefore"] = "Before"
        return timeout

    def retry(self, name: str) -> Document:
        retry: Document = {
            "name": name, "delay": self.one("PT1S", "PT2S", "PT5S", "PT0S"), "maxAttempts": 1 + self.upto(2),
        }  # fmt: skip
        if self.often(0.3):
            retry["multiplier"] = self.one(2, 1.5)
        if self.often(0.2):
            retry["increment"] = "PT1S"
        if self.often(0.3):
            retry["maxDelay"] = self.one("PT3S", "PT10S")
        if self.often(0.2):
            retry["jitter"] = self.one(0.5, "PT1S")
        return retry

    # States

    def state(self, number: int) -> Document:
        makers: list[Callable[[], Document]] = [
            self.operation, self.operation, self.inject, self.data_switch, self.event_switch, self.sleep,
            self.event_state, self.parallel, self.parallel, self.foreach, self.foreach, self.callback,
        ]  # fmt: skip
        self.at = number
        state: Document = {"name": self.names[number], **self.random.choice(makers)()}
        if state["type"] != "switch":
            state.update(self.way())
            if self.often(0.15) and state["type"] != "event":
                undoing = f"U{number}"
                self.undone.append(undoing)
                state["compensatedBy"] = undoing
        if self.often(0.15):
            state["stateDataFilter"] = {
                key: value
                for key, value in (("input", self.one("${ . }", "${ {n, items} }")), ("output", "${ . }"))
                if self.often(0.6)
            }
        if self.often(0.35) and state["type"] not in {"inject", "sleep"}:
            state["onErrors"] = [{"errorRef": ref, **self.way()} for ref in self.some(["Ec1", "Ec2", "late"], 2)]
        return state

    def way(self) -> Document:
        if self.at + 1 < len(self.names) and self.often(0.8):
            target: Any = self.random.choice(self.names[self.at + 1 :]) if self.often(0.3) else self.names[self.at + 1]
            if self.often(0.2):
                target = {"nextState": target, **self.leaving()}
            return {"transition": target}
        end: Any = True
        if self.often(0.4):
            end = {"terminate": True} if self.often(0.3) else self.leaving()
            if self.may_continue and self.often(0.2):
                end["continueAs"] = {"workflowId": self.next, **({"data": "${ {n: 1} }"} if self.often(0.5) else {})}
        return {"end": end or True}

    def leaving(self) -> Document:
        leaving: Document = {}
        if self.often(0.6):
            leaving["produceEvents"] = [{"eventRef": "out", "data": self.one("${ . }", {"p": 1})}]
        if self.often(0.4):
            leaving["compensate"] = True
        return leaving

    def undoing(self, name: str) -> Document:
        return {
            "name": name, "type": "operation", "usedForCompensation": True,
            "actions": [{"functionRef": {"refName": self.one(*_FUNCTIONS), "arguments": {"undo": name}}}],
        }  # fmt: skip

    def timeouts(self, *keys: str, share: float = 0.3) -> Document:
        return {key: self.duration() for key in keys if self.often(share)}

    def with_timeouts(self, state: Document, *keys: str) -> Document:
        timeouts = self.timeouts(*keys)
        return {**state, "timeouts": timeouts} if timeouts and self.often(0.6) else state

    def operation(self) -> Document:
        state: Document = {"type": "operation", "actions": self.actions(3)}
        if self.often(0.4):
            state["actionMode"] = "parallel"
        return self.with_timeouts(state, "stateExecTimeout", "actionExecTimeout")

    def inject(self) -> Document:
        return {"type": "inject", "data": {self.one("n", "x", "deep"): self.one(self.upto(5), {"a": 1}, "t")}}

    def data_switch(self) -> Document:
        conditions = [
            {"condition": self.one("${ .n > 2 }", "${ .go == true }", '${ has("r") }'), **self.way()}
            for _ in range(1 + self.upto(1))
        ]
        return {"type": "switch", "dataConditions": conditions, "defaultCondition": self.way()}

    def event_switch(self) -> Document:
        conditions = [{"eventRef": ref, **self.way()} for ref in self.some(_EVENTS, 2)]
        state = {"type": "switch", "eventConditions": conditions, "defaultCondition": self.way()}
        state["timeouts"] = {"eventTimeout": self.duration()}
        return state

    def sleep(self) -> Document:
        return {"type": "sleep", "duration": self.duration()}

    def event_state(self) -> Document:
        on_events = []
        for _ in range(1 + self.upto(1)):
            one: Document = {"eventRefs": self.some(_EVENTS, 2), "actions": self.actions(2) if self.often(0.6) else []}
            if self.often(0.3):
                one["actionMode"] = "parallel"
            if self.often(0.3):
                one["eventDataFilter"] = self.one(
                    {"useData": False}, {"data": "${ .e }", "toStateData": "${ .got }"}, {"toStateData": "${ .all }"}
                )
            on_events.append(one)
        state: Document = {"type": "event", "onEvents": on_events}
        if self.often(0.4):
            state["exclusive"] = False
        return self.with_timeouts(state, "stateExecTimeout", "actionExecTimeout", "eventTimeout")

    def parallel(self) -> Document:
        branches = []
        for number in range(2 + self.upto(1)):
            branch: Document = {"name": f"B{number}", "actions": self.actions(2)}
            branches.append(self.with_timeouts(branch, "actionExecTimeout", "branchExecTimeout"))
        state: Document = {"type": "parallel", "branches": branches}
        if self.often(0.4):
            state.update(completionType="atLeast", numCompleted=self.one(1, 1, 2))
        return self.with_timeouts(state, "stateExecTimeout", "branchExecTimeout", "actionExecTimeout")

    def foreach(self) -> Document:
        state: Document = {
            "type": "foreach", "inputCollection": self.one("${ .items }", "${ [1, 2, 3] }", "${ .items // [] }"),
            "iterationParam": "item", "actions": self.actions(2),
        }  # fmt: skip
        if self.often(0.5):
            state["outputCollection"] = self.one("${ .results }", "${ .items }")
        if self.often(0.4):
            state["mode"] = self.one("sequential", "parallel")
        if self.often(0.3):
            state["batchSize"] = self.one(1, 2)
        return self.with_timeouts(state, "stateExecTimeout", "actionExecTimeout")

    def callback(self) -> Document:
        state: Document = {"type": "callback", "action": self.call(), "eventRef": self.one(*_EVENTS)}
        if self.often(0.3):
            state["eventDataFilter"] = {"toStateData": "${ .called }"}
        return self.with_timeouts(state, "stateExecTimeout", "actionExecTimeout", "eventTimeout")

    # Actions

    def actions(self, most: int) -> list[Document]:
        return [self.action() for _ in range(1 + self.upto(most - 1))]

    def action(self) -> Document:
        chance = self.random.random()
        if chance < 0.15 and self.reachable:
            action = self.subflow()
        elif chance < 0.25:
            action = self.exchange()
        elif chance < 0.32:
            action = {"functionRef": "calc"}
        else:
            action = self.call()
        if self.often(0.3):
            action["sleep"] = {key: self.duration() for key in ("before", "after") if self.often(0.6)}
            if not action["sleep"]:
                del action["sleep"]
        if self.often(0.15):
            action["condition"] = self.one("${ .n > 1 }", "${ .go == true }")
        if self.often(0.25):
            action["actionDataFilter"] = self.one(
                {"useResults": False}, {"toStateData": "${ .result }"}, {"results": "${ {only: .} }"},
                {"fromStateData": "${ {n} }"},
            )  # fmt: skip
        return action

    def call(self) -> Document:
        name = self.one(*_FUNCTIONS)
        ref: Document = {
            "refName": name,
            "arguments": self.one({"n": "${ .n }"}, {"a": 1}, {"by": "${ $WORKFLOW.id }"}),
        }
        if self.often(0.06):
            ref["invoke"] = "async"
            return {"functionRef": ref}
        action: Document = {"functionRef": ref}
        if self.often(0.4):
            action["retryRef"] = self.one("R0", "R1")
        if self.often(0.1) and "retryRef" in action:
            action["retryableErrors"] = ["Ec1"]
        return action

    def exchange(self) -> Document:
        ref: Document = {"produceEventRef": "out", "data": {"n": "${ .n }"}}
        if self.often(0.5) and not self.retries_itself:
            ref.update(consumeEventRef=self.one(*_EVENTS))
            if self.often(0.7):
                ref["consumeEventTimeout"] = self.duration()
        return {"eventRef": ref}

    def subflow(self) -> Document:
        ref: Document = {"workflowId": self.random.choice(self.reachable)}
        if self.often(0.25):
            ref["invoke"] = "async"
            if self.often(0.5):
                ref["onParentComplete"] = self.one("continue", "terminate")
        action: Document = {"subFlowRef": ref}
        if self.often(0.3):
            action["retryRef"] = "R0"
        return action


def _mark_long_running(value: Any) -> None:
    """Let a function of a definition, and each sub-workflow that it awaits, outlast executions."""
    if isinstance(value, list):
        for one in value:
            _mark_long_running(one)
    elif isinstance(value, dict):
        if value.get("name") == _FUNCTIONS[0]:
            value["metadata"] = {"longRunning": "true"}
        if "subFlowRef" in value and "invoke" not in value["subFlowRef"]:
            value["subFlowRef"]["onParentComplete"] = "continue"
        for one in value.values():
            _mark_long_running(one)


def _let_children_continue(scenario: Document) -> None:
    """Let the states of sub-workflows that simply end one continue it as another workflow, which takes a while."""
    children, name = scenario["definitions"], f"{scenario['workflow']['id']}-rest"
    for state in (state for child in children for state in child["states"]):
        if state.get("end") is True:
            state["end"] = {"continueAs": {"workflowId": name}}
    if _mentions(children, name):
        states = [
            {"name": "S0", "type": "sleep", "duration": "PT60S", "transition": "S1"},
            {"name": "S1", "type": "inject", "data": {"rest": True}, "end": True},
        ]
        children.append({"id": name, "specVersion": "0.8", "states": states})


def _mentions(value: Any, name: str) -> bool:
    if isinstance(value, dict):
        return value.get("workflowId") == name or any(_mentions(one, name) for one in value.values())
    return isinstance(value, list) and any(_mentions(one, name) for one in value)
