"""`swf describe` and `swf schema` as processes."""

import json

import pytest
from jsonschema import Draft202012Validator

from tests.cli.conftest import BROKEN, Swf
from tests.definitions import definition

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
