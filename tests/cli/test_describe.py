"""Commands that describe, draw, upgrade and migrate definitions."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.cli.conftest import BROKEN, HELLO, Swf
from tests.definitions import definition
from tests.replay import corpus

PARENT = definition("""\
id: parent
states: [{name: Run, type: operation, actions: [{subFlowRef: hello}, {subFlowRef: waiter}], end: true}]
""")


def test_text(swf: Swf) -> None:
    ended = swf("describe", "hello.yaml")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == (
        "hello 1.0\n" "  file hello.yaml, serverless-workflow 0.8\n" "  starts in Say\n" "\n" "states\n"
        "  Say: inject\n" '    puts in {"greeting": "Hello ${ .name }!"}\n' "    → end\n"
    )  # fmt: skip


def test_json_and_mermaid(swf: Swf) -> None:
    facts = json.loads(swf("describe", "waiter.yaml", "--output", "json").out)
    assert (facts["id"], facts["start"], facts["events"][0]["name"]) == ("waiter", "Wait", "Paid up")
    ended = swf("describe", "waiter.yaml", "--output", "mermaid")
    assert (ended.code, ended.out.splitlines()[0]) == (0, "stateDiagram-v2")
    assert "transition-target" in swf.refused("describe", swf.write("broken.yaml", BROKEN))


def test_finds_sub_workflows(swf: Swf) -> None:
    swf.write("apart/parent.yaml", PARENT)
    swf.write("apart/hello.yaml", (swf.folder / "hello.yaml").read_text())
    alone = json.loads(swf("describe", "apart/parent.yaml", "--output", "json").out)
    assert [(one["id"], one["found"]) for one in alone["subWorkflows"]] == [("hello", True), ("waiter", False)]
    both = json.loads(swf("describe", "apart/parent.yaml", "--definitions", ".", "--output", "json").out)
    assert [one["found"] for one in both["subWorkflows"]] == [True, True]


@pytest.mark.parametrize(("options", "fits"), [
    ([], {"id": "a", "states": []}),
    (["--scenarios"], {"scenario": "Ships", "workflow": "orders.yaml", "expect": {"output": {}}}),
])  # fmt: skip
def test_schema(swf: Swf, options: list[str], fits: object) -> None:
    ended = swf("schema", *options, "--title", "Orders")
    schema = json.loads(ended.out)
    assert (ended.code, ended.err, schema["title"]) == (0, "", "Orders")
    Draft202012Validator(schema).validate(fits)


def test_the_schema_of_a_language_and_a_version(swf: Swf) -> None:
    named = swf("schema", "--language", "serverless-workflow", "--version", "0.9")
    assert (named.code, named.out) == (0, swf("schema").out)


@pytest.mark.parametrize(("options", "told"), [
    ("--language bpmn", "'bpmn' is not a known language; known: direktiv, dsl, serverless-workflow\n"),
    ("--version 1.0",
     ("there is no schema of version '1.0' of serverless-workflow\n"
      "  there is one for November 2019, May 2020, 0.5, 0.6, 0.7, 0.8, 0.9, 0.8-next, 0.8-sonataflow\n")),
    ("--scenarios --version 0.8",
     "--scenarios is for definitions of every language\n  leave out --language and --version\n"),
])  # fmt: skip
def test_a_schema_that_is_not_there(swf: Swf, options: str, told: str) -> None:
    assert swf.refused("schema", *options.split()) == f"error: {told}"


@pytest.mark.parametrize(("name", "first"), [
    ("a.svg", b"<svg "), ("a.html", b"<!doctype html>"), ("a.png", b"\x89PNG"),
])  # fmt: skip
def test_saves_in_the_form_of_the_ending(swf: Swf, name: str, first: bytes) -> None:
    ended = swf("graph", "waiter.yaml", "--save", name)
    if "needs a font" in ended.err:
        pytest.skip(f"NOT TRIED: {ended.err}")
    assert (ended.code, ended.out) == (0, "")
    assert (swf.folder / name).read_bytes().startswith(first)


def test_on_stdout(swf: Swf) -> None:
    ended = swf("graph", "waiter.yaml")
    assert (ended.code, ended.err, ended.out[:5]) == (0, "", "<svg ")
    assert 'data-path="Wait"' in ended.out
    assert swf("graph", "waiter.yaml", "hello.yaml", "-o", "html").out.count("<svg ") == 2
    assert "holds one picture" in swf.refused("graph", "waiter.yaml", "hello.yaml")
    assert "cannot be written" in swf.refused("graph", "waiter.yaml", "--save", "not/there.svg")


def test_an_instance_from_its_history(swf: Swf) -> None:
    recorded = next(one.execution for one in corpus.read(corpus.releases()[-1]).executions if not one.is_virtual)
    swf.write("history.json", json.dumps(recorded.history))
    ended = swf("graph", "--history", "history.json")
    assert (ended.code, ended.err) == (0, "")
    assert f"instance {recorded.workflow_id}: " in ended.out
    page = swf("graph", "--history", "history.json", "-o", "html").out
    assert page.count("<svg ") == 2
    assert 'class="bar"' in swf("graph", "--history", "history.json", "--timeline").out


OLD = "id: old\nstates:\n  - {name: A, type: delay, timeDelay: PT1S, end: true}\n"
NEW = "id: old\nspecVersion: '0.8'\nstates:\n  - {name: A, type: sleep, duration: PT1S, end: true}\n"
PARTIAL = "id: old\nstates:\n  - {name: A, type: subflow, workflowId: w, repeat: {max: 2}, end: true}\n"


def test_prints_the_definition(swf: Swf) -> None:
    ended = swf("upgrade", swf.write("old.yaml", OLD))
    assert (ended.code, ended.out) == (0, NEW)
    assert "old.yaml:3: respelled: timeDelay is duration\n" in ended.err
    assert ended.err.endswith("old.yaml: 0.6 to 0.8, rewritten\n")
    several = swf.refused("upgrade", "old.yaml", swf.write("hello2.yaml", HELLO))
    assert "use --write, --diff or --check for more than one definition" in several
    assert "exclude" in swf.refused("upgrade", "old.yaml", "--check", "--write")
    [facts] = json.loads(swf("upgrade", "old.yaml", "--check", "-o", "json").out)
    told = {"file": "old.yaml", "from": "0.6", "to": "0.8", "changed": True, "replaced": False}
    assert facts.items() >= told.items()
    assert {"kind": "respelled", "message": "timeDelay is duration", "line": 3} in facts["changes"]


def test_writes_files_or_shows_a_difference(swf: Swf) -> None:
    file = swf.write("old.yaml", OLD)
    shown = swf("upgrade", file, "--diff")
    assert (shown.code, (swf.folder / "old.yaml").read_text()) == (0, OLD)
    assert "-  - {name: A, type: delay, timeDelay: PT1S, end: true}\n" in shown.out
    assert swf("upgrade", file, "--check").code == 1
    assert swf("upgrade", file, "--write").code == 0
    assert (swf.folder / "old.yaml").read_text() == NEW
    assert swf("upgrade", file, "--check") == (0, "", "old.yaml: 0.8, nothing to change\n")


def test_what_cannot_be_said_is_not_written(swf: Swf) -> None:
    ended = swf("upgrade", swf.write("old.yaml", PARTIAL), "--write")
    assert (ended.code, (swf.folder / "old.yaml").read_text()) == (1, PARTIAL)
    assert "old.yaml:3: cannot be expressed: the repeat of state 'A', which has max\n" in ended.err


def test_another_language_is_in_a_namespace(swf: Swf) -> None:
    ended = swf("upgrade", swf.write("new.yaml", NEW), "--to", "1.0", "--namespace", "shop")
    assert ended.code == 0
    assert "namespace: shop\n" in ended.out
    assert ended.out.endswith("do:\n  - A:\n      wait: PT1S\n")
    told = swf("upgrade", swf.write("kept.yaml", f"{NEW}keepActive: true\n"), "--to", "1.0")
    assert (told.code, told.err.splitlines()[0]) == (
        0,
        "kept.yaml:5: differs: 1.0 has no keepActive: an instance completes at its end",
    )
    late = swf("upgrade", swf.write("late.yaml", f"{NEW}version: 2\nkeepActive: true\n"), "--to", "1.0")
    lines = [int(one.split(":")[1]) for one in late.err.splitlines()[:-1]]
    assert lines == sorted(lines)
    assert len(lines) > 1
    each = "  - {name: %s, type: foreach, inputCollection: .a, iterationParam: b, actions: [{subFlowRef: c}], %s}\n"
    states = each % ("A", "transition: B") + each % ("B", "transition: C") + each % ("C", "end: true")
    twice = swf("upgrade", swf.write("twice.yaml", f"id: one\nspecVersion: '0.8'\nstates:\n{states}"), "--to", "1.0")
    also = "twice.yaml:4: differs: an iteration sees what those before it merged into the data (also in lines 5 and 6)"
    assert also in twice.err
    text = f"{NEW}expressionLang: jsonpath\n"
    refused = swf("upgrade", swf.write("paths.yaml", text), "--to", "1.0", "--write")
    assert (refused.code, (swf.folder / "paths.yaml").read_text()) == (1, text)
    assert "paths.yaml:1: cannot be expressed: expressionLang jsonpath\n" in refused.err


def test_links_out_of_a_folder_are_not_replaced(swf: Swf) -> None:
    swf.write("elsewhere/old.yaml", OLD)
    swf.write("flows/other.yaml", OLD)
    (swf.folder / "flows" / "old.yaml").symlink_to("../elsewhere/old.yaml")
    refused = swf.refused("upgrade", "flows", "--write")
    assert "flows/old.yaml is not replaced: links lead from it out of flows" in refused
    assert (swf.folder / "elsewhere" / "old.yaml").read_text() == OLD
    assert (swf.folder / "flows" / "other.yaml").read_text() == OLD


@pytest.mark.parametrize(
    "options", [["graph", "--save"], ["test", "--report"], ["test", "--junit"]], ids=["a picture", "a page", "a report"]
)
def test_nothing_is_written_through_a_link(swf: Swf, options: list[str]) -> None:
    swf.write("scenarios.yaml", "scenario: Says hello\nworkflow: hello.yaml\nexpect: {calls: {}}\n")
    (swf.folder / "there.svg").symlink_to("nowhere.svg")
    command, option = options
    ended = swf(command, "hello.yaml" if command == "graph" else "scenarios.yaml", option, "there.svg")
    assert ended.code == 2
    assert "there.svg cannot be written: it is a link to a file that does not exist" in ended.err
    assert not (swf.folder / "nowhere.svg").exists()


FLOW = """\
id: shop
start: Send
functions:
  - {name: send, operation: specs/shop.yaml#send}
  - {name: greet, type: custom, operation: 'service:java:org.acme.Greeter::greet'}
states:
  - name: Send
    type: operation
    actions: [{functionRef: send}, {functionRef: {refName: greet, arguments: {name: .name}}}]
    end: true
"""
PROPERTIES = """\
quarkus.rest-client.shop_yaml.verify-host=false
quarkus.openapi-generator.shop_yaml.auth.basic.username=ann
quarkus.openapi-generator.shop_yaml.auth.basic.password=hunter2
"""
LEFT = """\
What is left to do:
  1. migrated/shop.sw.yaml:7: function-document: function 'send': its document 'specs/shop.yaml' is not in the project \
(put the file at specs/shop.yaml)
  2. migrated/functions.py:13: the function 'org.acme.Greeter::greet' is to be written
       @registry.custom("org.acme.Greeter::greet")
       def org_acme_Greeter_greet(name: Any) -> Any:
  3. application.properties:1: quarkus.rest-client.shop_yaml.verify-host: names of servers are verified \
(write 'tls: {verify: false}' under 'hosts' and the name of that one host)
       hosts:
         NAME: {tls: {verify: false}}
  4. application.properties:2: quarkus.openapi-generator.shop_yaml.auth.basic.username is the property 'username' of \
the secret 'shop.yaml.basic' (set SWF_SECRET_SHOP_YAML_BASIC, an object with this property)
  5. application.properties:3: quarkus.openapi-generator.shop_yaml.auth.basic.password is the property 'password' of \
the secret 'shop.yaml.basic' (set SWF_SECRET_SHOP_YAML_BASIC, an object with this property)
       export SWF_SECRET_SHOP_YAML_BASIC='{"username": "…", "password": "…"}'
"""
DONE = "{id: done, specVersion: '0.8', start: A, states: [{name: A, type: inject, data: {}, end: true}]}"


def project(folder: Path) -> None:
    folder.mkdir()
    (folder / "shop.sw.yaml").write_text(FLOW)
    (folder / "application.properties").write_text(PROPERTIES)


def test_ends_with_what_is_left_to_do(swf: Swf) -> None:
    project(swf.folder / "project")
    ended = swf("migrate", "project", "--write", "migrated")
    assert ended.code == 1
    assert ended.out.endswith(f"1 definition: 1 needs a hand\n\n{LEFT}")


def test_checks_without_writing(swf: Swf) -> None:
    """The exit code says whether anything would change, or is left to do."""
    project(swf.folder / "project")
    ended = swf("migrate", "project", "--check")
    assert ended.code == 1
    assert ended.out.startswith(
        "shop.sw.yaml would be rewritten\n1 definition: 1 needs a hand\n\nWhat is left to do:\n"
    )
    (swf.folder / "done").mkdir()
    (swf.folder / "done" / "done.sw.yaml").write_text(DONE)
    assert swf("migrate", "done", "--check") == (0, "1 definition: 1 runs as it is\n", "")
    (swf.folder / "done" / "done.sw.yaml").write_text(DONE.replace("specVersion: '0.8', ", ""))
    assert swf("migrate", "done", "--check").code == 1
    assert swf("migrate", "done").code == 0
    assert "leave out --write" in swf.refused("migrate", "done", "--check", "--write", "there")
