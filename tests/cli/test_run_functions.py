"""`swf run` with functions that a definition, a file and an installed package bring."""

import json

from tests.cli.conftest import Dev, Swf
from tests.definitions import definition

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
