"""`swf run` as a process: what it prints, its functions, and input that does not fit."""

import json
import re
import signal

import pytest

from tests.cli.conftest import PATIENCE, Dev, Swf, free_port, listens
from tests.definitions import definition

PARENT = definition("id: parent\nstates: [{name: Greet, type: operation, actions: [{subFlowRef: hello}], end: true}]\n")
SLEEPER = definition("id: sleeper\nstates: [{name: Nap, type: sleep, duration: PT1H, end: true}]\n")


def ports_in(text: str) -> list[int]:
    return [int(port) for port in re.findall(r"127\.0\.0\.1:(\d+)", text)]


@pytest.mark.temporal
def test_completes_on_a_server_of_its_own(swf: Swf) -> None:
    ended = swf("run", "hello.yaml", "--input", '{"name": "Ada"}')
    assert (ended.code, ended.out) == (0, '{"name": "Ada", "greeting": "Hello Ada!"}\n')
    link, *states = ended.err.splitlines()
    assert re.fullmatch(
        r"(hello-\w+)  http://127\.0\.0\.1:\d+/namespaces/default/workflows/\1/.+/history \(while this runs\)", link
    )
    assert states == ["Say"]
    assert not any(map(listens, ports_in(ended.err)))


@pytest.mark.temporal
def test_finds_the_server_that_is_named(swf: Swf, dev: Dev) -> None:
    given = swf(
        "run", "hello.yaml", "--input", "-", "--id", "by-address", "--address", dev.address, stdin='{"name": 1}'
    )
    assert json.loads(given.out) == {"name": 1, "greeting": "Hello 1!"}
    swf.write("in.yaml", "name: Eve\n")
    named = swf("run", "hello.yaml", "--input", "@in.yaml", env={"TEMPORAL_ADDRESS": dev.address})
    assert json.loads(named.out)["greeting"] == "Hello Eve!"
    again = swf("result", "by-address", "--address", dev.address)
    assert again.out == given.out


@pytest.mark.temporal
def test_calls_python_functions(swf: Swf, dev: Dev) -> None:
    run = ["run", "caller.yaml", "--functions", "functions.py", "--address", dev.address]
    assert json.loads(swf(*run, "--input", '{"n": 21}').out) == {"n": 21, "doubled": 42}
    failed = swf(*run, "--input", '{"n": "x"}')
    assert (failed.code, failed.out) == (1, "")
    assert "error: workflow 'caller' failed in state 'Work'" in failed.err
    assert "that is no number" in failed.err
    assert "Traceback" not in failed.err


@pytest.mark.temporal
def test_runs_sub_workflows(swf: Swf, dev: Dev) -> None:
    beside = swf("run", swf.write("parent.yaml", PARENT), "--input", '{"name": "Ada"}', "--address", dev.address)
    assert json.loads(beside.out)["greeting"] == "Hello Ada!"
    far = swf.write("far/parent.yaml", PARENT)
    named = swf("run", far, "--definitions", ".", "--input", '{"name": "Eve"}', "--address", dev.address)
    assert json.loads(named.out)["greeting"] == "Hello Eve!"
    unknown = swf("run", far, "--address", dev.address)
    assert unknown.code == 1
    assert "no definition 'hello' is known here" in unknown.err
    assert unknown.err.endswith("and in those of --definitions\n")


@pytest.mark.temporal
def test_takes_events(swf: Swf, dev: Dev) -> None:
    swf.write("paid.yaml", "- {type: com.paid, source: shop, data: {paid: 3}}\n")
    ended = swf("run", "waiter.yaml", "--event", "paid.yaml", "--address", dev.address)
    assert json.loads(ended.out) == {"paid": 3}
    assert "← event Paid up" in ended.err


@pytest.mark.temporal
def test_input_that_the_server_refuses(swf: Swf, dev: Dev) -> None:
    swf.write("large.json", json.dumps({"name": "x" * 3_000_000}))
    assert "an input of 3,000,011 bytes: more than 2,031,616 cannot be sent" in swf.refused(
        "run", "hello.yaml", "--input", "@large.json", "--address", dev.address
    )


@pytest.mark.temporal
def test_a_profile_that_is_not_there(swf: Swf) -> None:
    ended = swf("list", env={"TEMPORAL_PROFILE": "nosuch"})
    assert (ended.code, ended.out) == (2, "")
    assert "Profile 'nosuch' not found" in ended.err
    assert "see TEMPORAL_PROFILE and TEMPORAL_CONFIG_FILE" in ended.err


@pytest.mark.temporal
def test_a_database_that_cannot_be(swf: Swf) -> None:
    assert "the folder hello.yaml cannot be made" in swf.refused("dev", ".", "--db", "hello.yaml/instances.db")


@pytest.mark.temporal
def test_says_how_to_send_what_it_waits_for(swf: Swf, dev: Dev) -> None:
    with swf.running("run", "waiter.yaml", "--address", dev.address) as run:
        command = run.until("swf event")
        assert "Wait waits for event 'Paid up' of type 'com.paid'" in run.output
        words = re.fullmatch(r"    swf event (\S+) --name 'Paid up' --data '\{\}' --address (\S+)\n", command)
        assert words is not None
        sent = swf("event", words[1], "--name", "Paid up", "--data", '{"a": 1}', "--address", words[2])
        assert sent.code == 0
        out, _ = run.process.communicate(timeout=PATIENCE)
        assert (run.process.returncode, json.loads(out)) == (0, {"a": 1})


@pytest.mark.temporal
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_told_to_stop(swf: Swf, number: signal.Signals, code: int) -> None:
    swf.write("sleeper.yaml", SLEEPER)
    with swf.running("run", "sleeper.yaml") as run:
        run.until("sleeping PT1H")
        ended = run.stop(number)
    assert (ended.code, ended.out) == (code, "")
    assert "cancelling the workflow" in ended.err
    assert "Traceback" not in ended.err
    assert not any(map(listens, ports_in(ended.err)))


@pytest.mark.temporal
def test_told_to_stop_cancels(swf: Swf, dev: Dev) -> None:
    swf.write("sleeper.yaml", SLEEPER)
    with swf.running("run", "sleeper.yaml", "--id", "stopped", "--address", dev.address) as run:
        run.until("sleeping PT1H")
        run.stop(signal.SIGINT)
    assert swf("result", "stopped", "--address", dev.address).err == "error: the workflow was cancelled\n"


@pytest.mark.temporal
def test_timeout(swf: Swf, dev: Dev) -> None:
    ended = swf("run", "waiter.yaml", "--timeout", "PT0.5S", "--address", dev.address)
    assert ended.code == 1
    assert "it did not end within 500 ms, and was cancelled" in ended.err


@pytest.mark.temporal
def test_simulation(swf: Swf) -> None:
    swf.write("script.yaml", "double: {doubled: 7}\n")
    assert json.loads(swf("run", "caller.yaml", "--simulate", "--script", "script.yaml").out) == {"doubled": 7}
    swf.write("script.yaml", "double: {then: [{raises: {code: 503}}, {returns: {doubled: 8}}]}\n")
    failed = swf("run", "caller.yaml", "--simulate", "--script", "script.yaml")
    assert (failed.code, "CallFailed" in failed.err) == (1, True)
    unscripted = swf("run", "caller.yaml", "--simulate")
    assert unscripted.code == 1
    assert "function 'double' has no scripted result" in unscripted.err
    assert "pass that with --script" in unscripted.err
    waiting = swf("run", "waiter.yaml", "--simulate")
    assert waiting.code == 1
    assert "waits in state 'Wait' for Paid up" in waiting.err


@pytest.mark.temporal
def test_secrets_of_a_simulation(swf: Swf) -> None:
    swf.write(
        "secretive.yaml",
        """\
id: secretive
specVersion: "0.8"
secrets: [TOKEN]
functions: [{name: echo, type: custom}]
states:
  - name: Echo
    type: operation
    actions: [{functionRef: {refName: echo, arguments: {t: "${ $SECRETS.TOKEN }"}}}]
    end: true
""",
    )
    swf.write("script.yaml", 'echo: {computes: "${ {length: (.t | length), token: .t} }"}\n')
    simulated = ("run", "secretive.yaml", "--simulate", "--script", "script.yaml")

    given = swf(*simulated, env={"SWF_SECRET_TOKEN": "made-up"})
    assert json.loads(given.out) == {"length": 7, "token": "***"}

    missing = swf(*simulated)
    assert missing.code == 1
    assert "CallFailed: the secret 'TOKEN' is not known here\n  set it as for a worker, by SWF_SECRET_" in missing.err


@pytest.mark.temporal
def test_no_server_where_one_was_named(swf: Swf) -> None:
    address = f"127.0.0.1:{free_port()}"
    for ended in (
        swf("run", "hello.yaml", "--address", address),
        swf("run", "hello.yaml", env={"TEMPORAL_ADDRESS": address}),
    ):
        assert ended.code == 2
        assert f"no Temporal server answers at {address}" in ended.err


@pytest.mark.temporal
def test_what_happened_is_told_before_how_it_ended(swf: Swf, dev: Dev) -> None:
    ended = swf("run", "hello.yaml", "--input", "3", "--address", dev.address)
    assert ended.code == 1
    assert ended.err.splitlines()[1:3] == ["Say", "error: workflow 'hello' failed in state 'Say'"]


@pytest.mark.temporal
def test_a_simulated_circle_is_given_up(swf: Swf) -> None:
    nap = "{name: Nap, type: sleep, duration: PT1S, transition: Nap}"
    swf.write("naps.yaml", f"id: naps\nversion: '1.0'\nspecVersion: '0.8'\nstates: [{nap}]\n")
    ended = swf("run", "naps.yaml", "--simulate", "--max-steps", "20")
    assert (ended.code, ended.out) == (1, "")
    assert "StepLimitExceeded: 20 states and retries ran" in ended.err
    assert swf("run", "naps.yaml", "--max-steps", "20").err.startswith(
        "error: --max-steps is the limit of a simulation"
    )


DEFINITION = definition("""\
id: several
functions:
  - {name: sum, type: custom, operation: "script:python:sum(lines)"}
  - {name: tell, type: custom, operation: "sysout:WARN"}
  - {name: quote, type: soap, operation: "quotes#Get"}
  - {name: greet, type: custom}
states:
  - name: Work
    type: operation
    actions:
      - functionRef: {refName: sum, arguments: {lines: [1, 2]}}
        actionDataFilter: {toStateData: "${ .sum }"}
      - functionRef: {refName: tell, arguments: {message: "the sum is ${ .sum }"}}
      - functionRef: {refName: quote, arguments: {symbol: SWF}}
      - functionRef: {refName: greet, arguments: {name: Ada}}
    end: true
""")

SOAP = """\
from swf_temporal import Registry

registry = Registry()


@registry.type("soap")
class Soap:
    async def perform(self, call):
        return {"quoted": [call.function.operation, call.arguments["symbol"]]}
"""


def test_functions_of_all_kinds(swf: Swf, dev: Dev) -> None:
    swf.write("several.yaml", DEFINITION)
    swf.write("soap.py", SOAP)
    swf.write("installed/greeting.py", 'def greet(name):\n    return {"greeting": f"Hello, {name}!"}\n')
    swf.write("installed/greeting-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n")
    swf.write("installed/greeting-1.0.dist-info/entry_points.txt", "[swf_temporal.functions]\ngreet = greeting:greet\n")
    env = {"PYTHONPATH": str(swf.folder / "installed"), "TEMPORAL_ADDRESS": dev.address}
    ended = swf("run", "several.yaml", "--functions", "soap.py", env=env)
    assert json.loads(ended.out) == {"sum": 3, "quoted": ["quotes#Get", "SWF"], "greeting": "Hello, Ada!"}
    assert "WARNING tell: the sum is 3 [several-" in ended.err
    refused = swf("run", "several.yaml", "--functions", "soap.py", env={**env, "SWF_SCRIPTS": "false"})
    assert refused.code == 1
    assert "function 'sum' is a script, and this worker does not run scripts" in refused.err
    limited = swf("run", "several.yaml", "--functions", "soap.py", env={**env, "SWF_FUNCTION_MODULES": "other"})
    assert "no custom function 'greet' is known" in limited.err
    assert limited.err.endswith("--functions names the module of your own functions and types\n")


NAMED = definition("""\
id: named
functions: [{name: greet, type: custom, operation: "greeting:greet"}]
states:
  - {name: Greet, type: operation, actions: [{functionRef: {refName: greet, arguments: {name: Ada}}}], end: true}
""")


def test_a_module_beside_the_definition_is_named(swf: Swf, dev: Dev) -> None:
    swf.write("named.yaml", NAMED)
    swf.write("greeting.py", 'def greet(name):\n    return {"greeting": f"Hello, {name}!"}\n')
    refused = swf("run", "named.yaml", "--address", dev.address)
    ended = swf("run", "named.yaml", "--functions", "greeting.py", "--address", dev.address)
    assert refused.code == 1
    assert "the worker was not given the module 'greeting': start it with --functions greeting" in refused.err
    assert json.loads(ended.out) == {"greeting": "Hello, Ada!"}


ORDERS = definition("""\
id: orders
dataInputSchema: order.json
states: [{name: Pass, type: inject, data: {}, end: true}]
""")
SCHEMA = '{"type": "object", "required": ["id"], "properties": {"n": {"type": "integer"}}}'


@pytest.mark.parametrize("command", [("run",), ("run", "--simulate"), ("start", "--address", "127.0.0.1:1")])
def test_refuses_what_does_not_fit(swf: Swf, command: tuple[str, ...]) -> None:
    swf.write("orders.yaml", ORDERS)
    swf.write("order.json", SCHEMA)
    ended = swf(*command, "orders.yaml", "--input", '{"n": "x"}')
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        "error: the input does not fit the workflow's schema: "
        "$: 'id' is a required property; $.n: 'x' is not of type 'integer'\n"
        "  dataInputSchema of 'orders' describes the required input\n"
    )


def test_accepts_what_fits(swf: Swf) -> None:
    swf.write("orders.yaml", ORDERS)
    swf.write("order.json", SCHEMA)
    ended = swf("run", "--simulate", "orders.yaml", "--input", '{"id": 1}')
    assert (ended.code, ended.out) == (0, '{"id": 1}\n')
