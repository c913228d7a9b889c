"""`swf describe` and `swf schema` as processes."""

import json

from jsonschema import Draft202012Validator

from tests.cli.conftest import BROKEN, Swf

PARENT = """\
id: parent
specVersion: "0.8"
version: "1.0"
states: [{name: Run, type: operation, actions: [{subFlowRef: hello}, {subFlowRef: waiter}], end: true}]
"""


def test_text(swf: Swf) -> None:
    ended = swf("describe", "hello.yaml")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == (
        "hello 1.0\n" "  file hello.yaml, serverless-workflow 0.8\n" "  starts in Say\n" "\n" "states\n"
        "  Say: inject\n" '    puts in {"greeting": "Hello ${ .name }!"}\n' "    → end\n"
    )  # fmt: skip


def test_json(swf: Swf) -> None:
    ended = swf("describe", "waiter.yaml", "--output", "json")
    facts = json.loads(ended.out)
    assert ended.code == 0
    assert (facts["id"], facts["start"], facts["events"][0]["name"]) == ("waiter", "Wait", "Paid up")


def test_mermaid(swf: Swf) -> None:
    ended = swf("describe", "waiter.yaml", "--output", "mermaid")
    assert ended.code == 0
    assert ended.out.splitlines()[0] == "stateDiagram-v2"


def test_finds_sub_workflows(swf: Swf) -> None:
    """Sub-workflows are looked for beside the file, and in the folders that are named."""
    swf.write("apart/parent.yaml", PARENT)
    swf.write("apart/hello.yaml", (swf.folder / "hello.yaml").read_text())
    alone = json.loads(swf("describe", "apart/parent.yaml", "--output", "json").out)
    assert [(one["id"], one["found"]) for one in alone["subWorkflows"]] == [("hello", True), ("waiter", False)]
    both = json.loads(swf("describe", "apart/parent.yaml", "--definitions", ".", "--output", "json").out)
    assert [one["found"] for one in both["subWorkflows"]] == [True, True]


def test_broken_definition(swf: Swf) -> None:
    """A definition that cannot run is not described, and it is told why."""
    assert "transition-target" in swf.refused("describe", swf.write("broken.yaml", BROKEN))


def test_schema(swf: Swf) -> None:
    """The schema is printed as JSON, with the title that is asked for, and definitions fit it."""
    ended = swf("schema", "--title", "Orders")
    schema = json.loads(ended.out)
    assert (ended.code, ended.err, schema["title"]) == (0, "", "Orders")
    Draft202012Validator(schema).validate({"id": "a", "states": []})


def test_the_schema_of_scenarios(swf: Swf) -> None:
    """Scenario files have one schema, whatever the language and the version of their definitions."""
    ended = swf("schema", "--scenarios", "--title", "Orders")
    schema = json.loads(ended.out)
    assert (ended.code, ended.err, schema["title"]) == (0, "", "Orders")
    Draft202012Validator(schema).validate({"scenario": "Ships", "workflow": "orders.yaml", "expect": {"output": {}}})
    refused = swf("schema", "--scenarios", "--version", "0.8")
    assert (refused.code, refused.err) == (
        2, "error: --scenarios is for definitions of every language\n  leave out --language and --version\n",
    )  # fmt: skip


def test_the_schema_of_a_language_and_a_version(swf: Swf) -> None:
    named = swf("schema", "--language", "serverless-workflow", "--version", "0.9")
    assert (named.code, named.out) == (0, swf("schema").out)
    unknown = swf("schema", "--language", "bpmn")
    assert (unknown.code, unknown.err) == (
        2, "error: 'bpmn' is not a known language; known: direktiv, serverless-workflow\n",
    )  # fmt: skip
    later = swf("schema", "--version", "1.0")
    assert (later.code, later.err) == (
        2,
        ("error: there is no schema of version '1.0' of serverless-workflow\n"
         "  there is one for November 2019, May 2020, 0.5, 0.6, 0.7, 0.8, 0.9, 0.8-next, 0.8-sonataflow\n"),
    )  # fmt: skip
