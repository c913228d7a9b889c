"""Definitions, expressions, schemas, patterns and inputs that are made to stop a worker, one family after the other.

A case is made when it is asked for, since some are large. Each is given to a worker with its definition unchecked, as
any client of the server can do it.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue

from tests.hostile.costs import SLOW, counting

Made = Callable[[], Any]
"""Makes a definition, whose input is empty, or both."""


@dataclass(frozen=True, slots=True)
class Case:
    """What is started: a definition, as an object or a text, and an input."""

    family: str
    name: str
    make: Made
    sampled: bool = False
    """Whether each test run has it: it stopped a worker, or a run, before there was a limit."""

    @property
    def id(self) -> str:
        return f"{self.family}/{self.name}"

    def made(self) -> tuple[Any, Any]:
        made = self.make()
        return made if isinstance(made, tuple) else (made, {})


FIXED: Final = {"id": "hostile", "version": "1.0.0", "specVersion": "0.8"}
EVIL: Final = "(a|a)*(a|aa)*(a|a|b)*c$"
EVIL_TEXT: Final = "a" * 60
WIDE: Final = 30_000


def flow(*states: dict[str, Any], **rest: Any) -> dict[str, Any]:
    linked = []
    for state, following in zip(states, [*states[1:], None], strict=True):
        way: dict[str, Any] = {"end": True} if following is None else {"transition": following["name"]}
        linked.append({**(way if not state.keys() & {"transition", "end", "defaultCondition"} else {}), **state})
    return {**FIXED, "functions": SAME, "states": linked, **rest}


def put(data: Any, name: str = "Put", **rest: Any) -> dict[str, Any]:
    return {"name": name, "type": "inject", "data": data, **rest}


def action(arguments: Any, to: str | None = None) -> dict[str, Any]:
    where = {"actionDataFilter": {"toStateData": to}} if to else {}
    return {"functionRef": {"refName": "same", "arguments": arguments}, **where}


def acting(*actions: dict[str, Any], name: str = "A", **rest: Any) -> dict[str, Any]:
    return {"name": name, "type": "operation", "actions": list(actions), **rest}


def computing(*expressions: str, into: str | None = None) -> dict[str, Any]:
    return acting(*(action({"v": f"${{ {one} }}"}, into) for one in expressions), name="Compute")


def filtering(text: str, name: str = "Put", **rest: Any) -> dict[str, Any]:
    return put({}, name, stateDataFilter={"output": f"${{ {text} }}"}, **rest)


SAME: Final = [{"name": "same", "type": "expression", "operation": "$args.v"}]


class RAW(str):
    """An input as it is written."""

    __slots__ = ()


def expression(text: str, data: Any = None) -> Made:
    return lambda: (flow(filtering(text)), data or {})


def schema(made: Any, data: Any) -> Made:
    def make() -> tuple[Any, Any]:
        own, given = (one() if callable(one) else one for one in (made, data))
        return flow(put({}), dataInputSchema={"schema": own, "failOnValidationErrors": True}), given

    return make


def nested(depth: int, opening: str = "[", closing: str = "]", inner: str = "1") -> str:
    return opening * depth + inner + closing * depth


def deep(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"d": value}
    return value


def targeting(index: int) -> Made:
    """Return a workflow that puts a result where the element *index* of an array is."""
    return lambda: flow(computing("1", into=f".o[{index}]"))


def deep_input(depth: int, state: dict[str, Any]) -> Made:
    return lambda: (flow(state), RAW(nested(depth, '{"d":', "}")))


def nested_schema(depth: int) -> Any:
    value: Any = {}
    for _ in range(depth):
        value = {"a": {"properties": value}}
    return value


def switch(conditions: list[str]) -> dict[str, Any]:
    ways = [{"condition": f"${{ {one} }}", "end": True} for one in conditions]
    return {"name": "Choose", "type": "switch", "dataConditions": ways, "defaultCondition": {"end": True}}


def branches(count: int, text: str) -> dict[str, Any]:
    made = [{"name": f"b{number}", "actions": [action({"v": f"${{ {text} }}"})]} for number in range(count)]
    return {"name": "Many", "type": "parallel", "branches": made}


def each(collection: str, text: str, mode: str = "sequential", batch: int | None = None) -> dict[str, Any]:
    state: dict[str, Any] = {
        "name": "Each", "type": "foreach", "inputCollection": f"${{ {collection} }}", "outputCollection": "${ .out }",
        "iterationParam": "i", "mode": mode, "actions": [action({"v": f"${{ {text} }}"})],
    }  # fmt: skip
    return state if batch is None else {**state, "batchSize": batch}


def cycle(first: Any, filter_: str) -> Made:
    """Return a workflow that begins with *first*, and makes more of it with each round."""
    return lambda: flow(put(first, "Start"), filtering(filter_, "Again", transition="Again"))


def sharing(levels: int) -> list[dict[str, Any]]:
    """Return states whose data are twice as much with each of *levels*, once they are written."""
    return [put({"s": [1]}, "Start"), *(filtering("{s: [.s, .s]}", f"S{n}") for n in range(levels))]


def sharing_compared() -> Made:
    """Return a workflow that goes round with data that are equal and not the same."""
    states = sharing(60)
    return lambda: flow(*states[:-1], {**states[-1], "transition": "Start"})


def sharing_merged() -> Made:
    """Return a workflow that merges such data into an array that has others like them."""
    states = [*sharing(40), filtering("{l: [.s]}", "Keep")]
    again = [{**one, "name": f"{one['name']} again"} for one in sharing(40)[1:]]
    merged = put({"s": [1]}, "Start again", stateDataFilter={"output": "${ {l: .l, s: .s} }"})
    return lambda: flow(*states, merged, *again)


def sharing_output() -> Made:
    outputs = {"schema": {"patternProperties": {"^s": {"items": {}}}}, "failOnValidationErrors": True}
    return lambda: flow(*sharing(40), dataOutputSchema=outputs)


def text() -> dict[str, Any]:
    return acting(action({"v": "of ${ . }"}), name="T")


def wide(number: int) -> dict[str, Any]:
    """Return a state that adds a large text, of characters that take four bytes of memory."""
    return filtering(f'.w{number} = ("\U0001f40d" * 1500000)', f"S{number}")


def jsonpath(text: str, data: Any) -> Made:
    return lambda: (flow(filtering(text), expressionLang="jsonpath"), data)


def direktiv_states(*states: dict[str, Any], data: Any = None) -> Made:
    return lambda: ({"direktiv_api": "workflow/v1", "id": "hostile", "states": list(states)}, data or {})


def direktiv(transform: Any, data: Any = None) -> Made:
    return direktiv_states({"id": "a", "type": "noop", "transform": transform}, data=data)


def dsl(*tasks: dict[str, Any], data: Any = None, **rest: Any) -> Made:
    """Return a workflow of DSL 1.0, whose tasks are named by their places."""
    document = {"dsl": "1.0.3", "namespace": "hostile", "name": "hostile", "version": "1.0.0"}
    do = [{f"t{number}": task} for number, task in enumerate(tasks)]
    return lambda: ({"document": document, "do": do, **rest}, data or {})


def dsl_nested(depth: int) -> Made:
    """Return a workflow of DSL 1.0 with so many tasks inside one another."""
    task: dict[str, Any] = {"set": {}}
    for _ in range(depth):
        task = {"do": [{"t": task}]}
    return dsl(task)


def may_2020(state: dict[str, Any], data: Any) -> Made:
    end = {"name": "End", "type": "inject", "data": {}, "end": {"kind": "default"}}
    definition = {
        "id": "hostile", "name": "h", "version": "1", "schemaVersion": "0.1", "expressionLanguage": "spel",
        "states": [{**state, "start": {"kind": "default"}}, end],
    }  # fmt: skip
    return lambda: (definition, data)


def alternatives(levels: int) -> Any:
    """Return a schema that is looked at twice on each of its *levels*."""
    parts: dict[str, Any] = {"s0": {"type": "integer"}}
    for level in range(1, levels + 1):
        both = {"$ref": f"#/$defs/s{level - 1}"}
        parts[f"s{level}"] = {"allOf": [both, both]}
    return {"$defs": parts, "properties": {"n": {"$ref": f"#/$defs/s{levels}"}}}


def anchors(levels: int, width: int = 10) -> str:
    """Return YAML that grows by *width* on each level when its anchors are followed."""
    lines = ["id: hostile", "version: 1.0.0", "specVersion: '0.8'", "metadata:", "  l0: &l0 [x]"]
    lines += [f"  l{level}: &l{level} [{', '.join([f'*l{level - 1}'] * width)}]" for level in range(1, levels + 1)]
    lines += ["states:", f"- {{name: A, type: inject, data: {{d: *l{levels}}}, end: true}}"]
    return "\n".join(lines)


def objects(count: int = WIDE) -> list[Any]:
    return [{"n": number} for number in range(count)]


def _making(family: str, made: Callable[..., Made] = lambda make: make) -> tuple[Callable[..., Case], ...]:
    """Return what makes cases of a family, and those that stopped a worker, or a run, before there was a limit."""

    def case(name: str, *given: Any, sampled: bool = False) -> Case:
        return Case(family, name, made(*given), sampled)

    return case, partial(case, sampled=True)


def _expressions() -> Iterator[Case]:
    case, once = _making("expression", expression)

    yield once("endless", "def f: f; f")
    yield case("endless range", "[range(1e18)] | length")
    yield case("endless output", "[repeat(1)]")
    yield case("until", "until(false; .)")
    yield case("while", "[while(true; .)] | length")
    yield case("large text", '"x" * 1000000000 | length')
    yield case("two gigabytes", '"x" * 2000000000')
    yield case("doubling text", 'reduce range(40) as $i ("x"; . + .)')
    yield case("doubling array", "reduce range(40) as $i ([1]; . + .)")
    yield once("sharing array", "reduce range(60) as $i ([1]; [., .])")
    yield once("index", ".a[1000000000] = 1")
    yield case("index half", ".a[536870911] = 1")
    yield case("index 5 million", ".a[5000000] = 1")
    yield case("slice", ".a[100000000:100000001] = [1]")
    yield once("deep build", "reduce range(100000) as $i (1; [.])")
    yield once("deep 9000", "reduce range(9000) as $i (1; [.])")
    yield case("deep object", "reduce range(20000) as $i (1; {a: .})")
    yield case("paths of many", "[range(300000)] | [paths] | length")
    yield case("combinations", "[[range(30)] | combinations(6)] | length")
    yield case("sort", "[range(3000000)] | sort_by(-.) | length")
    yield case("group", "[range(3000000)] | group_by(. % 7) | length")
    yield case("unique", "[range(3000000) | tostring] | unique | length")
    yield case("join", '[range(300000) | tostring] | join(",") | length')
    yield case("split", '("a," * 1000000) | split(",") | length')
    yield case("pattern", f'"{EVIL_TEXT}" | test("{EVIL}")')
    yield case("pattern (a+)+", f'"{EVIL_TEXT}" | test("^(a+)+$b")')
    yield case("gsub", '("a" * 100000) | gsub("a"; "bb") | length')
    yield case("gsub empty", '("a" * 1000) | [gsub(""; "a")] | length')
    yield case("scan", '[("a" * 1000000) | scan("a")] | length')
    yield case("explode", '("a" * 10000000) | explode | length')
    yield case("input", "input")
    yield case("inputs", "[inputs]")
    yield case("halt", "halt")
    yield case("env", "env | length")
    yield case("modules", 'import "x" as x; .')
    yield case("error", "error({})")
    yield once("nan", "nan")
    yield case("infinite", "infinite")
    yield case("minus infinite", "[-infinite, nan, {n: nan}]")
    yield case("large number", "1e1000")
    yield once("many digits", "1" * 5000)
    yield case("limit -1", "[limit(-1; range(1e18))] | length")
    yield case("getpath", "getpath([range(100000)])")
    yield case("ltrimstr", 'reduce range(1000000) as $i ("x"; ltrimstr("y"))')
    yield case("fromjson", '("[" * 100000) | fromjson')
    yield case("fromjson deep", '("[" * 9000 + "]" * 9000) | fromjson')
    yield case("tojson", "[range(2000000)] | tojson | length")
    yield case("base64", '("a" * 5000000) | @base64 | @base64 | @base64 | length')
    yield case("splits", '[("a b " * 100000) | splits(" ")] | length')
    yield case("walk", "[range(500000)] | walk(.) | length")
    yield case("tostream", "[range(500000) | [.]] | [tostream] | length")
    yield case("strptime", '[range(200000) | tostring | strftime("%Y")] | length')
    yield case("date", "1e300 | todate")
    tower = " ".join(f"def f{n}: f{n - 1}, f{n - 1};" for n in range(1, 40)).replace("f0", "1")
    yield case("empty function tower", f"{tower} [f39] | length")
    yield case("recursive generator", "[recurse(.,.)] | length")
    yield case("long output", "[range(2500000)]")
    yield case("half surrogate", '"\\ud800"')
    yield case("zero", '"a\\u0000b"')


def _syntax() -> Iterator[Case]:
    case, once = _making("syntax", expression)

    yield once("50,000 brackets", nested(50_000))
    yield once("50,000 parentheses", nested(50_000, "(", ")"))
    yield case("1,000 brackets", nested(1_000))
    yield case("400 brackets", nested(400))
    yield case("50,000 objects", nested(50_000, "{a:", "}"))
    yield once("50,000 sums", "1" + "+1" * 50_000)
    yield case("50,000 pipes", "." + "|." * 50_000)
    yield once("50,000 fields", ".a" * 50_000)
    yield case("50,000 indices", "." + "[0]" * 50_000)
    yield case("50,000 minus", "-" * 50_000 + "1")
    yield case("50,000 optional", "." + "?" * 50_000)
    yield case("5,000 conditions", "if . then " * 5_000 + "1" + " else 1 end" * 5_000)
    yield case("5,000 not closed", "if . then " * 5_000)
    yield case("50,000 and", "true" + " and true" * 50_000)
    yield case("20,000 reduce", "reduce . as $x (" * 2_000 + "." + "; .)" * 2_000)
    yield case("20,000 variables", " ".join(f". as $v{n} |" for n in range(2_000)) + " 1")
    yield case("20,000 functions", " ".join(f"def f{n}: 1;" for n in range(2_000)) + " 1")
    yield case("strings in strings", '"\\(' * 3_000 + "1" + ')"' * 3_000)
    yield case("1 MB of comments", "1 #" + "x" * 1_000_000)
    yield case("1 MB of blanks", " " * 1_000_000 + "1")
    yield case("1 MB text", json.dumps("x" * 1_000_000))
    yield case("100,000 elements", "[" + ",".join("1" for _ in range(100_000)) + "]")
    yield case("100,000 keys", "{" + ",".join(f"k{n}: {n}" for n in range(50_000)) + "}")
    yield case("not closed", "((((((" * 10_000)
    yield case("only closed", "))))))" * 10_000)
    yield case("NUL", "\0")
    yield case("50,000 or alternatives", "." + " // ." * 20_000)
    yield case("50,000 commas", "." + ",." * 20_000)


def _sums() -> Iterator[Case]:
    case, once = _making("sum")

    quarter, half = SLOW.format(300_000), SLOW.format(1_200_000)
    yield case("60 conditions of 0.15 s", lambda: flow(switch([f"{counting(0.15)[0]} < 0"] * 60)))
    yield case("ten expressions of half a second", lambda: flow(computing(*[counting(0.5)[0]] * 10, into=".o")))
    yield once("60 conditions", lambda: flow(switch([f"{quarter} < 0"] * 60)))
    yield case("60 different conditions", lambda: flow(switch([f"{SLOW.format(300_000 + n)} < 0" for n in range(60)])))
    yield once("6,000 different expressions", lambda: flow(*(filtering(f"[{n}] | add", f"S{n}") for n in range(6_000))))
    yield once("ten slow actions", lambda: flow(computing(*[half] * 10, into=".o")))
    ten = {f"k{n}": f"${{ {half} }}" for n in range(10)}
    together = "{" + ",".join(f"k{n}: ({half})" for n in range(10)) + "}"
    yield once("ten in one template", lambda: flow(computing("null"), filtering(together)))
    yield once("ten in one arguments", lambda: flow(acting(action({"v": 1, **ten}))))
    yield case("100 in one text", lambda: flow(acting(action({"v": " ".join([f"${{ {half} }}"] * 100)}))))
    yield once("3,000 branches", lambda: flow(branches(3_000, "[.] | map(1) | length")))
    yield case("3,000 plain branches", lambda: flow(branches(3_000, ".a")))
    yield case("100 slow branches", lambda: flow(branches(100, quarter)))
    yield once(
        "4,000 expressions", lambda: flow(computing(*[f"[.,{n}] | map(1) | length" for n in range(4_000)], into=".o"))
    )
    many, few = put({"l": list(range(10_000))}), put({"l": list(range(100))})
    plus = "[$i] | map(. + 1) | .[0]"
    yield once("10,000 elements", lambda: flow(many, each(".l", plus)))
    yield once("10,000 elements at once", lambda: flow(many, each(".l", plus, "parallel")))
    yield case("100 slow elements", lambda: flow(few, each(".l", quarter)))
    yield case("100 slow elements at once", lambda: flow(few, each(".l", quarter, "parallel")))
    yield case("cycle", cycle({"n": 0}, ".n = .n + 1"))
    yield once("slow cycle", cycle({"n": 0}, f".n = ({quarter})"))
    yield case("500 states", lambda: flow(*(filtering(f"{quarter} | {{n: .}}", f"S{n}") for n in range(100))))
    yield case("5,000 states", lambda: flow(*(put({f"k{n}": n}, f"S{n}") for n in range(5_000))))
    yield case("5,000 states with text", lambda: flow(*(put({f"k{n}": "x" * 100}, f"S{n}") for n in range(5_000))))
    nothing, slow = f"${{ {half} | {{}} }}", [{"name": "same", "type": "expression", "operation": quarter}]
    yield case("slow filters", lambda: flow(put({}, stateDataFilter={"input": nothing, "output": nothing})))
    yield case("slow operations", lambda: flow(computing(*["1"] * 20), functions=slow))
    yield case("slow targets", lambda: flow(computing(*["1"] * 10, into=f".[({half} | tostring)]")))


def _sizes() -> Iterator[Case]:
    case, once = _making("size")

    for index in (1_000_000_000, 10_000_000, 2_000_000, 99_999, -1, 2**63, 2**64):
        yield (once if index == 1_000_000_000 else case)(f"target {index}", targeting(index))
    yield once("computed target", lambda: flow(computing("1", into=".o[1000000000 | floor]")))
    yield case("target in target", lambda: flow(computing("1", into=".o[1000000][1000000]")))
    far = {**each(".l", "1"), "outputCollection": "${ .o[1000000000] }"}
    yield case("output collection", lambda: flow(put({"l": [1]}), far))
    yield once("doubling text", cycle({"s": "x"}, ".s = .s + .s"))
    yield once("doubling text in Python", cycle({"s": "x"}, "{s: (.s + .s)}"))
    yield once("doubling array in Python", cycle({"s": [1]}, "{s: (.s + .s)}"))
    yield once("sharing in Python", cycle({"s": [1]}, "{s: [.s, .s]}"))
    yield case("sharing objects in Python", cycle({"s": {"a": 1}}, "{s: {a: .s, b: .s}}"))
    yield case("sharing written", cycle({"s": [1]}, f"{{s: [{', '.join(['.s'] * 16)}], n: ([1] | map(.))}}"))
    yield once("sharing compared", sharing_compared())
    yield case("sharing merged", sharing_merged())
    yield case("sharing given", lambda: flow(*sharing(40), computing(". | map_values(1)")))
    yield case("sharing in a text", lambda: flow(*sharing(40), computing("1", into=".o"), text()))
    yield case("sharing of a schema", sharing_output())
    yield case("many sums", cycle({"s": "x" * 1000}, "{s: .s, t: [" + ",".join(["(.s + .s)"] * 2_000) + "]}"))
    yield case("many wide texts", lambda: flow(*(wide(n) for n in range(200))))
    empty = [filtering(f".o{n} = [range(1000000) | {{}}]", f"S{n}") for n in range(40)]
    yield once("many empty objects", lambda: flow(*empty))
    yield case("text of text in Python", cycle({"s": "x"}, '{s: "\\(.s)\\(.s)"}'))
    twice = acting(action({"v": "${ .s }${ .s }"}, "${ .s }"), transition="A")
    yield once("template doubling", lambda: flow(put({"s": "x"}, "Start"), twice))

    def merging(one: Callable[[], Any], other: Callable[[], Any]) -> Made:
        return lambda: flow(put({"l": one()}, "A"), put({"l": other()}, "B"))

    yield once("merge of many", merging(lambda: list(range(150_000)), lambda: list(range(150_000, 290_000))))
    yield once("merge of many objects", merging(lambda: objects(60_000), lambda: [{"m": n} for n in range(60_000)]))
    row = list(range(1000))
    yield case("merge of wide arrays", merging(lambda: [row] * 200, lambda: [row] * 100))
    yield case("large results", lambda: flow(computing(*['"x" * 7000000'] * 40, into=".o")))
    large = [action({"v": '${ "x" * 7000000 }'}, f".o{n}") for n in range(60)]
    yield once("large different results", lambda: flow(acting(*large)))
    yield case("large output", expression('"x" * 3000000'))
    yield case("2 MB input", lambda: (flow(put({}), computing(".l | length")), {"l": "x" * 1_900_000}))
    keys, ones = {f"k{n}": n for n in range(100_000)}, {"l": [1] * 900_000}
    yield case("many numbers", lambda: (flow(put({"m": 1}), computing("[.l[] | . + 1] | length")), ones))
    yield case("many keys", lambda: (flow(put({"m": 1}), computing("[keys[]] | length")), keys))
    yield case("all in each action", lambda: (flow(computing(*[". | map_values(1) | length"] * 50)), keys))
    wide_ = {"l": list(range(200)), "x": "x" * 1_000_000}
    yield case("each with large data", lambda: (flow(each(".l", "[$i] | map(1) | length")), wide_))
    yield once("collection of 900,000", lambda: (flow(each(".l", "$i")), ones))
    yield case("collection of 900,000 at once", lambda: (flow(each(".l", "$i", "parallel")), ones))
    yield case("huge collection", lambda: flow(each("[range(1000000)]", "$i", "parallel")))
    ranging = each("[range(20000)]", "[$i] | map(1) | length", "parallel", 1_000_000_000)
    yield case("batch", lambda: flow(ranging))


def _depths() -> Iterator[Case]:
    case, once = _making("depth")
    for depth in (100, 500, 900, 3_000, 100_000):
        yield (once if depth in (900, 100_000) else case)(f"input {depth}", deep_input(depth, put({})))
        yield case(f"input {depth} and jq", deep_input(depth, computing("[..] | length")))
    yield case("inject 900", lambda: flow(put(deep(900))))
    yield case("merge 900", lambda: flow(put(deep(400), "A"), put(deep(450), "B")))
    yield once("growing", cycle({"d": 1}, "{d: .}"))
    yield case("growing array", cycle([1], "[.]"))
    yield once("growing by 500", cycle({"d": 1}, "reduce range(500) as $i (.; {d: .})"))
    yield once("target", lambda: flow(computing("1", into=".a" * 5_000)))
    yield case("nan input", lambda: (flow(put({})), RAW('{"n": NaN}')))
    yield case("infinity input", lambda: (flow(put({})), RAW('{"n": Infinity}')))
    yield once("5,000 digits", lambda: (flow(put({})), RAW('{"n": ' + "1" * 5_000 + "}")))
    yield once("1e400", lambda: (flow(computing(". | map_values(1)")), RAW('{"n": 1e400}')))
    yield case("no JSON", lambda: (flow(put({})), RAW("{")))


def _schemas() -> Iterator[Case]:
    case, once = _making("schema", schema)

    yield once("pattern", {"properties": {"s": {"pattern": EVIL}}}, {"s": EVIL_TEXT})
    yield once("patternProperties", {"patternProperties": {EVIL: {"type": "integer"}}}, {EVIL_TEXT: 1})
    evil: dict[str, Any] = {"^(a+)+$": {}}
    integer, text = {"type": "integer"}, {EVIL_TEXT + "!": 1}
    yield once("patternProperties (a+)+", {"patternProperties": {"^(a+)+$": integer}}, text)
    names = {f"{'a' * 20}{n}": 1 for n in range(2_000)}
    yield once("many names", {"patternProperties": {"^(a|a)*b$": integer}}, names)
    yield case("additionalProperties", {"patternProperties": evil, "additionalProperties": False}, text)
    yield case("unevaluatedProperties", {"patternProperties": evil, "unevaluatedProperties": False}, text)
    yield case("propertyNames", {"propertyNames": {"pattern": "^(a+)+$"}}, {EVIL_TEXT + "!": 1})
    unique = {"properties": {"l": {"uniqueItems": True}}}
    yield once("uniqueItems", unique, lambda: {"l": objects()})
    yield case("uniqueItems of arrays", unique, lambda: {"l": [[n] for n in range(WIDE)]})
    kinds = [*range(10_000), *objects(10_000), *map(str, range(10_000))]
    yield case("uniqueItems of all kinds", unique, {"l": kinds})
    yield once("24 levels of allOf", lambda: alternatives(24), {"n": 1})
    yield case("60 levels of allOf", lambda: alternatives(60), {"n": "x"})
    yield case("anyOf", lambda: json.loads(json.dumps(alternatives(24)).replace("allOf", "anyOf")), {"n": "x"})
    yield case("oneOf", lambda: json.loads(json.dumps(alternatives(24)).replace("allOf", "oneOf")), {"n": 1})
    yield once("cycle", {"$ref": "#"}, {"n": 1})
    two = {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}
    yield case("cycle of two", two, {})
    tree = {"items": {"anyOf": [{"$ref": "#/$defs/t"}, {"$ref": "#/$defs/t"}]}}
    recursive = {"$defs": {"t": tree}, "properties": {"d": {"$ref": "#/$defs/t"}}}
    yield case("recursive", recursive, lambda: {"d": json.loads(nested(40, inner='"x"'))})
    yield case("contains", {"properties": {"l": {"contains": {"const": {"n": -1}}}}}, lambda: {"l": objects(100_000)})

    def items(of: Callable[[], Any]) -> Callable[[], Any]:
        return lambda: {"properties": {"l": {"items": of()}}}

    yield once("enum", items(lambda: {"enum": objects(2_000)}), {"l": [{"n": -1}] * 20_000})
    yield case("const", items(lambda: {"const": objects(2_000)}), {"l": [[]] * 20_000})
    yield case("many errors", items(lambda: {"type": "string"}), lambda: {"l": list(range(200_000))})
    yield case("many required", lambda: {"required": [f"r{n}" for n in range(50_000)]}, {})
    yield case("deep schema", lambda: {"properties": json.loads(nested(300, '{"a": {"properties": ', "}}", "{}"))}, {})
    yield case("deeper schema", lambda: {"properties": nested_schema(900)}, {})

    def pattern(of: str) -> Any:
        return {"properties": {"s": {"pattern": of}}}

    yield once("large pattern", pattern("(((a{1,100}){1,100}){1,100}){1,100}b"), {"s": "a" * 10_000})
    yield case("pattern of 100,000", pattern("a?" * 5_000 + "a" * 5_000), {"s": "a" * 5_000})
    yield once("pattern 50,000 deep", pattern(nested(50_000, "(", ")", "a")), {"s": "a"})
    yield case("backreference", pattern(r"^(a*)*\1\1$"), {"s": EVIL_TEXT + "b"})
    yield case("lookahead", pattern("^(?=(a+)+$)b"), {"s": EVIL_TEXT + "!"})
    dependent = {"dependentSchemas": {f"k{n}": alternatives(10) for n in range(100)}}
    yield case("dependentSchemas", dependent, {"n": 1, **{f"k{n}": 1 for n in range(100)}})
    all_of = {"allOf": [{"prefixItems": [True]}] * 200, "unevaluatedItems": False}
    yield case("unevaluatedItems", {"properties": {"l": all_of}}, {"l": [1] * 500})
    yield case("multipleOf", {"properties": {"n": {"multipleOf": 1e-300}}}, {"n": 1e300})
    digits = RAW('{"n": ' + "1" * 4_000 + "}")
    yield case("multipleOf of 4,000 digits", {"properties": {"n": {"multipleOf": 3}}}, digits)
    yield case("dynamicRef", {"$dynamicAnchor": "a", "anyOf": [{"$dynamicRef": "#a"}]}, {})
    yield case("outside", {"$ref": "http://127.0.0.1:1/x.json"}, {})
    yield case("no schema", 5, {})


def _languages() -> Iterator[Case]:
    path, path_once = _making("jsonpath", jsonpath)
    case, once = _making("direktiv")
    draft, draft_once = _making("may 2020")

    tree: dict[str, Any] = {"l": [{"a": [{"b": list(range(30))} for _ in range(30)]} for _ in range(30)]}
    yield path_once("descents", "$..*..*..*", tree)
    yield path("more descents", "$..*..*..*..*..*..*", tree)
    yield path("names", "$..a..b", tree)
    yield path("selectors", f"$..[{','.join('*' for _ in range(200))}]", tree)
    yield path_once("selectors of selectors", f"${'[*,*]' * 20}", json.loads(nested(22)))
    yield path("filter in filter", "$..[?@..[?@..*]]", tree)
    yield path_once("pattern", f"$.l[?search(@, '{EVIL}')]", {"l": [EVIL_TEXT]})
    yield path_once("many patterns", f"$.l[?search(@, '{EVIL}')]", {"l": [EVIL_TEXT + str(n) for n in range(200)]})
    yield path_once("50,000 names", "$" + ".a" * 50_000, {})
    yield path("deep", f"$[?{nested(2_000, '(', ')', '@.a')}]", {})
    yield path("slice", "$.l[::1]", {"l": [1] * 500_000})
    yield path("large step", f"$.l[{2**52}:{2**53 - 1}:1]", {"l": [1]})
    yield path("comparison", "$.l[?@ == $.l]", {"l": [[1] * 1000 for _ in range(1_000)]})

    script, script_once = _making("direktiv", direktiv)

    yield script("endless", "jq(def f: f; f)")
    yield script_once("endless script", "js(for (;;) {})")
    yield script("memory of a script", "js(const a = []; for (;;) a.push(new Array(1000000)); return a)")
    yield script_once("pattern of a script", f"js(return /^(a+)+$/.test('{EVIL_TEXT}!'))")
    yield script("recursion of a script", "js(const f = () => f() + 1; return f())")
    yield script("long text of a script", "js(let s = 'x'; for (;;) s += s)")
    yield script_once("deep value of a script", "js(let a = 1; for (let i = 0; i < 100000; i++) a = [a]; return a)")
    yield script_once("deep script", f"js(return {nested(50_000)})")
    yield script("NaN of a script", "js(return {n: NaN})")
    yield script_once("many queries", {f"k{n}": f"jq([.,{n}] | map(1) | length)" for n in range(3_000)})
    yield script_once("slow queries", {f"k{n}": f"jq({SLOW.format(300_000 + n)})" for n in range(60)})
    yield script("slow texts", " ".join(f"jq({SLOW.format(300_000 + n)})" for n in range(60)))
    yield script("sharing", {"a": "jq([., .])", "b": "jq(.)"})
    again = {"id": "a", "type": "noop", "transition": "a"}
    yield once("sharing cycle", direktiv_states({**again, "transform": {"l": ["jq(.)", "jq(.)"]}}))
    conditions = [{"condition": f"jq({SLOW.format(300_000 + n)} < 0)"} for n in range(60)]
    yield once("slow conditions", direktiv_states({"id": "a", "type": "switch", "conditions": conditions}))
    evil = {"id": "a", "type": "validate", "schema": {"patternProperties": {"^(a+)+$": {}}}}
    yield once("validate", direktiv_states(evil, data={EVIL_TEXT + "!": 1}))
    unique = {"id": "a", "type": "validate", "schema": {"properties": {"l": {"uniqueItems": True}}}}
    yield case("validate uniqueItems", direktiv_states(unique, data={"l": objects()}))
    yield case("cycle", direktiv_states(again))
    caught = {"error": "*".join("a" * 30) + "*b", "transition": "b"}
    failing = {"id": "a", "type": "error", "error": EVIL_TEXT, "message": "m", "catch": [caught]}
    yield case("pattern of an error", direktiv_states(failing, {"id": "b", "type": "noop"}))
    large = {"id": "a", "type": "foreach", "array": "jq([range(200000)])", "action": {"function": "f"}}
    yield case("large collection", direktiv_states(large))

    def spel(*ways: dict[str, Any]) -> Made:
        state = {"name": "A", "type": "switch", "dataConditions": list(ways), "default": {"nextState": "End"}}
        return may_2020(state, {"s": EVIL_TEXT})

    matching = {"path": "$.s", "value": EVIL, "operator": "matches", "transition": {"nextState": "End"}}
    yield draft_once("patterns", spel(*[matching] * 60))
    custom = {"path": "$", "value": "1", "operator": "custom", "transition": {"nextState": "End"}}
    for name, text in (
        ("50,000 brackets", nested(50_000, "(", ")", "true")),
        ("50,000 and", "true" + " and true" * 50_000),
        ("50,000 not", "!" * 50_000 + "true"),
        ("pattern", f"s matches '{EVIL}'"),
        ("1,000 patterns", " or ".join([f"s matches '{EVIL}'"] * 1_000)),
        ("numbers", "9" * 5_000 + " gt 1"),
        ("power", "9 ^ 9 ^ 9 ^ 9 gt 1"),
    ):
        made = draft_once if name.startswith("50,000") else draft
        yield made(f"spel {name}", spel({**custom, "metadata": {"expression": text}}))


def _texts() -> Iterator[Case]:
    case, once = _making("text")

    head = "id: hostile\nversion: 1.0.0\nspecVersion: '0.8'\n"
    state = "states:\n- {name: A, type: inject, data: {}, end: true}\n"
    yield once("anchors", lambda: anchors(9))
    yield once("many anchors", lambda: anchors(30))
    yield case("anchors that double", lambda: anchors(40, 2))
    yield once("anchor in itself", lambda: head + "metadata: &a {b: *a}\n" + state)
    yield once("nested 50,000 deep", lambda: head + "metadata: " + nested(50_000) + "\n" + state)
    yield once("nested 900 deep", lambda: head + "metadata: " + nested(900) + "\n" + state)
    yield case("JSON nested 50,000 deep", lambda: nested(50_000, '{"a":', "}"))
    chain = "".join(f"- {{name: S{n}, type: inject, data: {{}}, transition: S{n + 1}}}\n" for n in range(5_000))
    last = "- {name: S5000, type: inject, data: {}, end: true}\n"
    yield once("5,000 states", lambda: f"{head}states:\n{chain}{last}")
    yield once("15,000 states", lambda: json.dumps(flow(*(put({}, f"S{n}") for n in range(15_000)))))
    yield case("1.5 MB of a text", lambda: head + f"description: {'x' * 1_500_000}\n" + state)
    yield case("1.5 MB of blanks", lambda: head + " " * 1_500_000 + "\n" + state)
    yield case("1.5 MB of comments", lambda: head + "# x\n" * 350_000 + state)
    yield once("100,000 keys", lambda: head + "metadata:\n" + "".join(f"  k{n}: {n}\n" for n in range(100_000)) + state)
    yield once("100,000 unknown keys", lambda: head + "".join(f"k{n}: {n}\n" for n in range(100_000)) + state)
    yield case("the same key", lambda: head + "id: a\n" * 50_000 + state)
    functions = [{"name": f"f{n}", "operation": "x.json#y"} for n in range(25_000)]
    yield case("50,000 functions", lambda: json.dumps(flow(put({}), functions=functions)))
    merges = "metadata:\n  a: &a {x: 1}\n  b: {" + ", ".join(["<<: *a"] * 5_000) + "}\n"
    yield case("merge keys", lambda: head + merges + state)
    yield case("a tag", lambda: head + "metadata: !!python/object/apply:os.system [true]\n" + state)
    yield once("a number of 5,000 digits", lambda: head + "metadata: {n: " + "1" * 5_000 + "}\n" + state)
    yield case("a number in base 60", lambda: head + "metadata: {n: " + ":".join(["59"] * 5_000) + "}\n" + state)
    yield case("NUL", lambda: head + "metadata: \0\n" + state)
    yield case("control characters", lambda: head + 'description: "\\x07\\ud800"\n' + state)
    yield case("no text", lambda: "")
    yield case("a number", lambda: "5")
    yield case("quotes", lambda: head + 'description: "' + "\\" * 100_000 + "\n" + state)
    yield once("brackets", lambda: "[" * 100_000)
    yield once("dashes", lambda: "- " * 50_000)
    yield case("questions", lambda: "? " * 50_000)
    yield once("long duration", lambda: flow({"name": "A", "type": "sleep", "duration": f"P{'9' * 5_000}D"}))
    yield case("long duration of a timeout", lambda: flow(put({}), timeouts={"workflowExecTimeout": "P999999999999D"}))
    unlike = [put({}, "s" * 5_000 + str(n)) for n in range(100)]
    yield case("unlike names", lambda: flow(put({}, transition="S" * 10_000), *unlike))


def _dsl() -> Iterator[Case]:
    case, once = _making("dsl")
    yield once("endless", dsl({"set": "${ def f: f; f }"}))
    yield once("cycle", dsl({"set": {}, "then": "t0"}))
    yield case("cycle of calculations", dsl({"set": f"${{ {SLOW.format(300_000)} }}"}, {"set": {}, "then": "t0"}))
    yield once("growing", dsl({"set": "${ [., .] }", "then": "t0"}))
    yield once("tasks 500 deep", dsl_nested(500))
    yield case("tasks 10,000 deep", dsl_nested(10_000))
    yield once("large loop", dsl({"for": {"in": "${ [range(1000000)] }"}, "do": [{"a": {"set": "${ $item }"}}]}))
    yield case("loop over loops", dsl({"for": {"in": "${ [range(3000)] }"}, "do": [
        {"b": {"for": {"in": "${ [range(3000)] }"}, "do": [{"a": {"set": "${ $item }"}}]}}]}))  # fmt: skip
    yield once("2,000 branches", dsl({"fork": {"branches": [{f"b{n}": {"set": {"n": n}}} for n in range(2_000)]}}))
    yield once(
        "retries without end",
        dsl(
            {
                "try": [{"a": {"raise": {"error": {"type": "https://example.com/x", "status": 500}}}}],
                "catch": {"retry": {}},
            }
        ),
    )
    yield case("backoff without end", dsl({
        "try": [{"a": {"raise": {"error": {"type": "https://example.com/x", "status": 500}}}}],
        "catch": {"retry": {"delay": {"days": 10**9}, "backoff": {"exponential": {}}}}}))  # fmt: skip
    yield once("function of itself", dsl({"call": "f"}, use={"functions": {"f": {"do": [{"a": {"call": "f"}}]}}}))
    yield once("workflow of itself", dsl({"run": {"workflow": {
        "namespace": "hostile", "name": "hostile", "version": "1.0.0"}}}))  # fmt: skip
    yield case("long wait", dsl({"wait": {"days": 10**12}}))
    yield once("calculated wait", dsl({"wait": f"P{'9' * 5_000}D"}))
    extension = {"extend": "all", "before": [{"a": {"for": {"in": "${ [range(2000)] }"}, "do": [{"b": {"set": {}}}]}}]}
    tasks: list[Any] = [{"set": {}} for _ in range(200)]
    yield case("extension of many tasks", dsl(*tasks, use={"extensions": [{"e": extension}]}))
    yield once("pattern of a filter", dsl({"listen": {"to": {"one": {"with": {"type": EVIL}}}}}))
    yield once("schema", dsl({"set": {}}, data=objects(), input={"schema": {"document": {"uniqueItems": True}}}))


def _subflows() -> Iterator[Case]:
    def itself(*actions: Any) -> Made:
        made = [{"name": f"B{n}", "actions": [action]} for n, action in enumerate(actions)]
        caught = [{"errorRef": "any", "end": True}]
        state = {"name": "A", "type": "parallel", "branches": made, "onErrors": caught}
        return lambda: flow(state, errors=[{"name": "any", "code": "*"}])

    case, once = _making("subflow")
    again = {"subFlowRef": "hostile"}
    left = {"subFlowRef": {"workflowId": "hostile", "invoke": "async", "onParentComplete": "continue"}}
    yield once("ten at once", itself(*[again] * 10))
    yield case("two at once", itself(again, again))
    yield case("left behind", itself(left))


def cases() -> list[Case]:
    families = (_expressions, _syntax, _sums, _sizes, _depths, _schemas, _languages, _dsl, _texts, _subflows)
    return [case for family in families for case in family()]


def arguments(definition: Any, data: Any) -> list[RawValue]:
    """Return the arguments of a run of *definition*, which it brings along, with *data* as its input."""
    text = definition if isinstance(definition, str) else json.dumps(definition)
    pin = {"definitions": [{"text": text, "name": "hostile"}]}
    return [_value(data if isinstance(data, RAW) else json.dumps(data)), _value(json.dumps(pin))]


def _value(text: str) -> RawValue:
    return RawValue(Payload(metadata={"encoding": b"json/plain"}, data=text.encode("utf-8", "surrogatepass")))
