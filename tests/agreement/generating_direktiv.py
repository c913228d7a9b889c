"""Small Direktiv workflows of all kinds of states, with scripts and events: the same for the same seed.

Every reference leads somewhere, and transitions lead forward, so that nothing loops.
"""

from collections.abc import Callable, Sequence
from typing import Any

from tests.agreement.generating import Chance, Document

_SECONDS = (1, 1, 2, 2, 3, 5, 5, 6, 6, 7, 8, 10, 60)
"""Few different durations, five seconds apart like timeouts and the grace that they have."""
_CODES = ("a.one", "a.two", "b")
_EVENTS = ("in0", "in1", "in2")
_FUNCTIONS = ("f0", "f1", "f2")
_SCOPES = ("instance", "workflow", "namespace", "thread", None)
_CAUGHT = (*_CODES, "*", "*", "*", "a.*", "a.{one,none}", "direktiv.*", "direktiv.cancels.timeout.soft")
_CONDITIONS = ("jq(.n)", "jq(.n > 1)", "jq(.items)", True, "", "jq(.return)", "jq(.error)")


def scenario(seed: int) -> Document:
    return _Maker(seed).scenario()


class _Maker(Chance):
    def __init__(self, seed: int) -> None:
        super().__init__(f"direktiv {seed}")
        self.seed = seed
        self.children = [f"d{seed}-child{number}" for number in range(self.upto(2))]
        self.has_contexts = self.often(0.4)
        """Whether waits ask for attributes: a driver of a scenario that knows types alone would deliver too much."""

    # Chance

    def duration(self) -> str:
        return f"PT{self.one(*_SECONDS)}S"

    # The whole

    def scenario(self) -> Document:
        main = self.workflow(f"d{self.seed}", self.children)
        children = [self.workflow(name, self.children[:number]) for number, name in enumerate(self.children)]
        return {
            "scenario": f"agreement of Direktiv workflows, seed {self.seed}",
            "workflow": main,
            "definitions": children,
            "input": self.one(
                {}, "text", *[{"n": self.upto(3), "items": [{"n": 1}, {"n": 2}, {"n": 3}][: self.upto(3)]}] * 6
            ),
            "functions": {name: {"then": [self.answer() for _ in range(1 + self.upto(2))]} for name in _FUNCTIONS},
            "events": [self.event(number) for number in range(self.upto(5))],
            "secrets": {"token": "hidden"},
            "cancel": self.random.choice([False, False, True, {"after": self.duration()}]),
        }

    def answer(self) -> Document:
        answer: Document
        if self.often(0.35):
            answer = {"raises": {"code": self.one(*_CODES), "message": "made to fail"}}
        else:
            answer = {"returns": self.one(None, self.upto(9), {"r": self.upto(9)}, [1, 2], "text")}
        if self.often(0.7):
            answer["takes"] = self.duration()
        return answer

    def event(self, number: int) -> Document:
        event: Document = {"type": self.one(*_EVENTS), "source": "s", "id": str(number), "data": {"e": self.upto(3)}}
        if self.often(0.5):
            event["kind"] = self.one("x-1", "x-2", "y", 3)
        if self.has_contexts or self.often(0.2):
            event["early"] = True
        return event

    def workflow(self, name: str, reachable: Sequence[str]) -> Document:
        self.reachable = reachable
        count = 2 + self.upto(4)
        self.names = [f"s{number}" for number in range(count)]
        workflow: Document = {
            "id": name,
            "functions": [
                *({"id": one, "type": "knative-workflow", "image": one} for one in _FUNCTIONS),
                *({"id": f"sub{number}", "type": "subflow", "workflow": one} for number, one in enumerate(reachable)),
            ],
            "states": [self.state(number) for number in range(count)],
        }
        if self.often(0.25):
            timeouts = {key: self.duration() for key in ("interrupt", "kill") if self.often(0.7)}
            if timeouts:
                workflow["timeouts"] = timeouts
        if self.often(0.2):
            workflow["compat"] = self.one("text", "engine", "v0.6", "v0.7", "v0.8")
        return workflow

    # States

    def state(self, number: int) -> Document:
        kinds: list[Callable[[], Document]] = [
            *[self.action_state] * 5, self.consume, self.delay, self.error, self.events_and, self.events_xor,
            *[self.foreach] * 2, self.generate, self.getter, self.noop, *[self.parallel] * 3, self.setter,
            self.switch, self.validate,
        ]  # fmt: skip
        self.later = self.names[number + 1 :]
        state = self.random.choice(kinds)()
        state = {"id": self.names[number], **state}
        if state["type"] != "switch":
            state.update(self.way())
        if self.often(0.7):
            state["catch"] = [self.catch() for _ in range(1 + self.upto(1))]
        for key in ("log", "metadata"):
            if self.often(0.1):
                state[key] = self.query()
        return state

    def query(self) -> Any:
        return self.one(
            *["jq(.)", "n is jq(.n)"] * 6, {"a": ["jq(.n)", "jq(.error)"]}, 'jq(error("x"))', "jq(.n, 1)", "jq(empty)",
            "jq(.return)",
        )  # fmt: skip

    def way(self) -> Document:
        way: Document = {}
        if self.later and self.often(0.9):
            way["transition"] = self.one(self.later[0], self.random.choice(self.later))
        if self.often(0.25):
            way["transform"] = self.one(
                *["jq(. + {n: 1})", "jq({n: .n, items: .items, kept: .})"] * 8, "jq(.n)", {"all": "jq(.)"},
                "jq(.return)", "jq(. + {var})",
            )  # fmt: skip
        return way

    def catch(self) -> Document:
        catch: Document = {"error": self.one(*_CAUGHT)}
        if self.later and self.often(0.95):
            catch["transition"] = self.random.choice(self.later)
        return catch

    def timed(self, state: Document) -> Document:
        if self.often(0.35):
            state["timeout"] = self.duration()
        return state

    def action_state(self) -> Document:
        state: Document = {"type": "action", "action": self.action()}
        if self.often(0.15):
            state["async"] = True
        return self.timed(state)

    def action(self) -> Document:
        action: Document = {"function": self.one(*_FUNCTIONS)}
        if self.reachable and self.often(0.35):
            action["function"] = f"sub{self.upto(len(self.reachable) - 1)}"
        elif self.often(0.25):
            given = self.one(
                *[{"t": "jq(.secrets.token)"}] * 3, "jq(error)", "jq(.n, 1)", {"t": "jq(.n, 1)"}, "jq(.none)"
            )
            action.update(secrets=["token"] if self.often(0.97) else ["token", "none"], input=given)
        if "input" not in action and self.often(0.4):
            action["input"] = self.one("jq(.n)", {"n": "jq(.n)"}, "a jq(.n)", "jq(.)", "jq({items, n: 2})")
        if self.often(0.4):
            policies = [self.policy() for _ in range(1 + self.upto(1))]
            action["retries"] = policies if self.often(0.5) else policies[0]
        return action

    def policy(self) -> Document:
        policy: Document = {"max_attempts": self.one(1, 1, 2), "codes": [self.one(*_CAUGHT)]}
        if self.often(0.8):
            policy["delay"] = self.duration()
        if self.often(0.4):
            policy["multiplier"] = self.one(0, 0.5, 2, 3)
        return policy

    def kind(self) -> Document:
        kind: Document = {"type": self.one(*_EVENTS)}
        if self.has_contexts and self.often(0.6):
            kind["context"] = self.one(
                {"kind": "x-*"}, {"kind": 'jq("x-1")'}, {"source": "s"}, {"kind": 3}, {"id": "jq(.n)"}
            )
        return kind

    def consume(self) -> Document:
        return self.timed({"type": "consumeEvent", "event": self.kind()})

    def events_and(self) -> Document:
        return self.timed(
            {"type": self.one("eventsAnd", "eventAnd"), "events": [self.kind() for _ in range(1 + self.upto(2))]}
        )

    def events_xor(self) -> Document:
        entries = [
            self.kind() if self.often(0.5) else {"event": self.kind(), **self.way()} for _ in range(1 + self.upto(2))
        ]
        return self.timed({"type": self.one("eventsXor", "eventXor"), "events": entries})

    def delay(self) -> Document:
        return {"type": "delay", "duration": self.duration()}

    def error(self) -> Document:
        state: Document = {
            "type": "error", "error": self.one(*_CODES), "message": self.one("plain", "n jq(.n)", {"n": "jq(.n)"}),
        }  # fmt: skip
        if self.often(0.3):
            state.update(message="of %v", args=["jq(.n)"])
        return state

    def foreach(self) -> Document:
        array = self.one(
            "jq(.items)", "jq([{n: 1}, {n: 2}])", "jq({n: 1}, {n: 2})", "jq(.items[])", "jq([])", "jq([1])"
        )
        return self.timed({"type": "foreach", "array": array, "action": self.action()})

    def generate(self) -> Document:
        # One of a type that is awaited would reach instances in simulation alone.
        event: Document = {"type": "out", "source": "w"}
        if self.often(0.6):
            event["data"] = self.one({"n": "jq(.n)"}, "jq(.)", "aGk=")
        if self.often(0.2):
            event["datacontenttype"] = "text/plain"
        if self.often(0.4):
            event["context"] = {"kind": self.one("x-jq(.n)", "x-1", "jq(.n)")}
        state: Document = {"type": "generateEvent", "event": event}
        if self.often(0.4):
            state["delay"] = self.one("immediate", "PT1.5S", "PT6.5S")
        return state

    def variable(self) -> Document:
        variable: Document = {"key": self.one("k", "k", "l")}
        if scope := self.one(*_SCOPES):
            variable["scope"] = scope
        return variable

    def getter(self) -> Document:
        variables = [self.variable() for _ in range(1 + self.upto(3))]
        for number, one in enumerate(variables):
            if self.often(0.7):
                one["as"] = f"v{number}"
        if self.often(0.3):
            variables.append({"key": "epoch", "scope": "system"})
        return {"type": "getter", "variables": variables}

    def setter(self) -> Document:
        variables = [self.variable() for _ in range(1 + self.upto(2))]
        for one in variables:
            if self.often(0.8):
                one["value"] = self.one("jq(.n)", "jq(null)", "", {"n": "jq(.n)"}, "aGk=")
            if self.often(0.3):
                one["mimeType"] = self.one("text/plain", "application/octet-stream", "application/json")
        return {"type": "setter", "variables": variables}

    def noop(self) -> Document:
        return {"type": "noop"}

    def parallel(self) -> Document:
        state: Document = {"type": "parallel", "actions": [self.action() for _ in range(1 + self.upto(2))]}
        if self.often(0.6):
            state["mode"] = self.one("and", "or", "or")
        return self.timed(state)

    def switch(self) -> Document:
        conditions = [{"condition": self.random.choice(_CONDITIONS), **self.way()} for _ in range(1 + self.upto(1))]
        way = self.way()
        default = {f"default{key.capitalize()}": value for key, value in way.items()}
        return {"type": "switch", "conditions": conditions, **default}

    def validate(self) -> Document:
        state: Document = {
            "type": "validate",
            "schema": self.one({"type": "object"}, {"required": ["n"]}, {"type": "integer"}),
        }
        if self.often(0.5):
            state["subject"] = self.one("jq(.n)", "jq(.)", "jq(.items)")
        return state
