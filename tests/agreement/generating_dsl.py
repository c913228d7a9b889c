"""Small workflows of DSL 1.0 with all types of tasks, with scripts and events: the same for the same seed.

Every reference leads somewhere, and directives lead forward, so that nothing loops.
"""

from collections.abc import Callable, Sequence
from typing import Any

from tests.agreement.generating import Chance, Document

_SECONDS = (1, 1, 2, 2, 3, 5, 8, 13, 60)
"""Few different durations: so there are many moments at which several things are due."""
_TYPES = ("https://example.com/one", "https://example.com/two")
_STANDARD = "https://open-workflow-specification.org/spec/1.0.0/errors/"
_EVENTS = ("in0", "in1", "in2")
_MAX_DEPTH = 3


def scenario(seed: int) -> Document:
    return _Maker(seed).scenario()


class _Maker(Chance):
    def __init__(self, seed: int) -> None:
        super().__init__(f"dsl {seed}")
        self.seed = seed
        self.children = [f"d{seed}-child{number}" for number in range(self.upto(2))]
        self.has_filters = self.often(0.4)
        """Whether waits ask for more than a type: a driver of a scenario, which knows types, would deliver too much."""
        self.tasks = 0
        """How many tasks there are: each has a number in its name."""
        self.calls: list[str] = []

    # Chance

    def duration(self) -> Any:
        seconds = self.one(*_SECONDS)
        return self.one(f"PT{seconds}S", {"seconds": seconds})

    def some(self, choices: Sequence[str], most: int) -> list[str]:
        return self.random.sample(choices, self.random.randint(1, min(most, len(choices))))

    # The whole

    def scenario(self) -> Document:
        main = self.workflow(f"d{self.seed}", self.children)
        children = [self.workflow(name, self.children[:number]) for number, name in enumerate(self.children)]
        return {
            "scenario": f"agreement of DSL 1.0, seed {self.seed}",
            "workflow": main,
            "definitions": children,
            "input": {
                "n": self.upto(4),
                "items": [{"n": 1}, {"n": 2}, {"n": 3}][: self.upto(3)],
                "go": self.often(0.5),
            },
            "functions": {name: {"then": [self.answer() for _ in range(1 + self.upto(2))]} for name in self.calls},
            "events": [self.event(number) for number in range(self.upto(6))],
            "cancel": self.random.choice([False, False, True, {"after": f"PT{self.one(*_SECONDS)}S"}]),
        }

    def answer(self) -> Document:
        answer: Document
        if self.often(0.4):
            answer = {"raises": {"status": self.one(401, 404, 500, 503), "message": "made to fail"}}
        else:
            answer = {"returns": self.one(None, self.upto(9), {"n": self.upto(9)}, [1, 2], "text")}
        if self.often(0.4):
            answer["takes"] = f"PT{self.one(*_SECONDS)}S"
        return answer

    def event(self, number: int) -> Document:
        event: Document = {"type": self.one(*_EVENTS), "source": "s", "id": str(number), "data": {"n": self.upto(3)}}
        if self.has_filters or self.often(0.2):
            event["early"] = True
        return event

    def workflow(self, name: str, children: Sequence[str]) -> Document:
        self.reachable = children
        self.functions = ["add"]
        slow = {"do": self.list(_MAX_DEPTH)}
        self.functions = ["add", "add", "slow"]
        workflow: Document = {
            "document": {"dsl": "1.0.3", "namespace": "test", "name": name, "version": "1.0.0"},
            "use": {
                "errors": {"one": {"type": _TYPES[0], "status": 409, "detail": "n is ${ .n }"}},
                "retries": {"twice": self.retry()},
                "timeouts": {"soon": {"after": self.duration()}},
                "functions": {"add": {"set": {"n": "${ (.n? // 0) + 1 }"}}, "slow": slow},
            },
            "do": self.list(0),
        }
        if self.often(0.2):
            workflow["use"]["extensions"] = [{"extended": self.extension()}]
        if self.often(0.25):
            workflow["timeout"] = self.one("soon", {"after": self.duration()})
        if self.often(0.2):
            workflow["output"] = {"as": self.one("{all: ., context: $context}", ".n", "${ . }")}
        if self.often(0.1):
            workflow["input"] = {"from": self.one("{n, items}", ".")}
        return workflow

    def extension(self) -> Document:
        extension: Document = {"extend": self.one("set", "call", "wait", "composite", "all")}
        for key in ("before", "after"):
            if self.often(0.6):
                extension[key] = [{self.name(): {"wait": "PT1S"}}]
                if self.often(0.3):
                    extension[key].append({self.name(): self.one({"set": {"n": 7}, "then": "exit"}, self.emit())})
        if self.often(0.4):
            extension["when"] = self.one(".n > 1", '$task.name | endswith("1")')
        return extension

    # Tasks

    def name(self) -> str:
        self.tasks += 1
        return f"t{self.tasks}"

    def list(self, depth: int) -> list[Document]:
        names = [self.name() for _ in range(1 + self.upto(2) if depth else 2 + self.upto(3))]
        return [{name: self.task(name, names[number + 1 :], depth)} for number, name in enumerate(names)]

    def task(self, name: str, following: Sequence[str], depth: int) -> Document:
        simple: list[Callable[[], Document]] = [
            *[self.set, self.wait, self.emit, self.function] * 2, self.raising, self.listen,
            *[lambda: self.call(name)] * 4, lambda: self.switch(following), self.subflow,
        ]  # fmt: skip
        nesting: list[Callable[[], Document]] = [
            lambda: {"do": self.list(depth + 1)}, lambda: self.loop(depth), lambda: self.fork(depth),
            lambda: self.fork(depth), lambda: self.attempt(depth, following), lambda: self.attempt(depth, following),
            lambda: self.listen(depth),
        ]  # fmt: skip
        task = self.random.choice(nesting if depth < _MAX_DEPTH and self.often(0.5) else simple)()
        if self.often(0.1):
            task["if"] = self.one(".n? > 1", "${ .go? == true }", "false")
        if self.often(0.15):
            task["timeout"] = self.one("soon", {"after": self.duration()}, {"after": self.duration()})
        if self.often(0.1):
            task["input"] = {"from": self.one("{n: .n?}", "${ . }", ".items?")}
        if self.often(0.15):
            task["output"] = {"as": self.one("{n: 2}", "${ . }", "[.]", "{n: .n?, got: .}", "{n}")}
        if self.often(0.2):
            task["export"] = {"as": self.one("($context | objects // {}) + {n: 1}", "{output: $output}", ".")}
        if self.often(0.15) and "switch" not in task:
            task["then"] = self.directive(following)
        return task

    def directive(self, following: Sequence[str]) -> str:
        return str(self.one("continue", "exit", "end", *following, *following))

    def set(self) -> Document:
        return {"set": self.one({"n": "${ (.n? // 0) + 1 }"}, "${ . }", {"n": self.upto(5)}, {"c": "${ $context }"})}

    def wait(self) -> Document:
        return {"wait": self.duration()}

    def emit(self) -> Document:
        # The events of the two hosts have other ids if the definition gives none.
        return {"emit": {"event": {"with": {"id": "e", "type": "out", "data": {"n": "${ .n? }"}}}}}

    def raising(self) -> Document:
        own = {"type": self.one(*_TYPES, f"{_STANDARD}runtime"), "status": self.one(400, 500), "title": "a title"}
        return {"raise": {"error": self.one("one", own)}, "if": self.one(".n? > 1", ".n > 2", "$task.name != null")}

    def function(self) -> Document:
        return {"call": self.one(*self.functions), **({"with": {"n": 3}} if self.often(0.5) else {})}

    def call(self, name: str) -> Document:
        self.calls.append(name)
        with_: Document = {"method": "get", "endpoint": "https://example.com/{n}"}
        if self.often(0.4):
            with_["query"] = {"n": "${ .n? }"}
        return {"call": "http", "with": with_}

    def subflow(self) -> Document:
        if not self.reachable:
            return self.set()
        process = {"namespace": "test", "name": self.random.choice(self.reachable), "version": "1.0.0"}
        return {"run": {"workflow": process, "await": self.often(0.85)}}

    def switch(self, following: Sequence[str]) -> Document:
        cases = [
            {f"case{number}": {"when": self.one(".n? > 1", ".go?", "false"), "then": self.directive(following)}}
            for number in range(1 + self.upto(1))
        ]
        if self.often(0.5):
            cases.append({"default": {"then": self.directive(following)}})
        return {"switch": cases}

    def loop(self, depth: int) -> Document:
        task: Document = {"for": {"in": self.one("${ [1, 2, 3] }", "${ .items? // [4] }", [1, "${ .n }"])}}
        if self.often(0.3):
            task["for"].update(each="one", at="place")
        if self.often(0.3):
            task["while"] = self.one("(.n? // 0) < 4", "true")
        task["do"] = self.list(depth + 1)
        return task

    def fork(self, depth: int) -> Document:
        fork: Document = {"branches": self.list(depth + 1)}
        if self.often(0.4):
            fork["compete"] = True
        return {"fork": _without_jumps(fork)}

    def attempt(self, depth: int, following: Sequence[str]) -> Document:
        catch: Document = {}
        if self.often(0.4):
            catch["errors"] = {
                "with": self.one({"status": 409}, {"status": 500}, {"type": _TYPES[1]}, {"type": f"{_STANDARD}timeout"})
            }
        if self.often(0.2):
            catch["when"] = self.one("$error.status < 500", "true")
        if self.often(0.5):
            catch["retry"] = self.one("twice", self.retry())
        if self.often(0.6):
            catch["do"] = self.list(depth + 1)
        if self.often(0.15):
            catch["then"] = self.directive(following)
        return {"try": self.list(depth + 1), "catch": catch}

    def retry(self) -> Document:
        retry: Document = {"limit": {"attempt": {"count": 1 + self.upto(1)}}}
        if self.often(0.7):
            retry["delay"] = self.duration()
        if self.often(0.3):
            retry["limit"]["attempt"]["duration"] = self.duration()
        if self.often(0.2):
            retry["limit"]["duration"] = self.duration()
        if self.often(0.5):
            retry["backoff"] = self.one({"constant": {}}, {"linear": {}}, {"exponential": {}})
        if self.often(0.2):
            retry["jitter"] = {"from": "PT2S", "to": "PT2S"}  # what is between follows from the run's own id
        if self.often(0.2):
            retry["when"] = self.one("$error.status >= 500", "true")
        return retry

    def listen(self, depth: int | None = None) -> Document:
        kinds = [self.filter(one) for one in self.some(_EVENTS, 2)]
        to: Document = self.one({"one": kinds[0]}, {"any": kinds}, {"all": kinds}, {"any": []})
        if "any" in to and self.often(0.5):
            to["until"] = self.one("length == 2", "true", {"one": {"with": {"type": "in2"}}})
        task: Document = {"listen": {"to": to}}
        if self.often(0.6):
            task["timeout"] = {"after": self.duration()}
        if depth is not None:
            task["foreach"] = {"do": self.list(depth + 1)}
            if self.often(0.3):
                task["foreach"]["output"] = {"as": self.one(".n?", "[., $index]")}
        return task

    def filter(self, kind: str) -> Document:
        if not self.has_filters:
            return {"with": {"type": kind}}
        attributes: Document = {"type": self.one(kind, kind, "in[01]")}
        if self.often(0.4):
            attributes["data"] = self.one("${ .n > 0 }", {"n": 1})
        one: Document = {"with": attributes}
        if self.often(0.3):
            one["correlate"] = {"number": {"from": ".data.n"}}
        return one


def _without_jumps(fork: Document) -> Document:
    """Return *fork* with branches that do not go to one another."""
    for branch in fork["branches"]:
        for task in branch.values():
            if task.get("then") not in ("continue", "exit", "end"):
                task.pop("then", None)
            if "switch" in task:
                task["switch"] = [
                    {name: {**case, "then": "continue"}} for one in task["switch"] for name, case in one.items()
                ]
    return fork
