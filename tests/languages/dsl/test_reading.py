"""Which texts are definitions in DSL 1.0, what editors are told of them, and their JSON Schema."""

from functools import cache
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from swf_temporal.languages.dsl.language import LANGUAGE
from swf_temporal.languages.known import is_definition, looks_like_definition
from swf_temporal.languages.loading import check, check_file
from swf_temporal.languages.marks import Kind
from swf_temporal.text.fetching.resources import Resources
from swf_temporal.text.origin import Source, plain
from swf_temporal.text.parsing import read_object

HEAD = "document: {dsl: 1.0.3, namespace: test, name: a, version: 0.1.0}\n"
TEXTS = Path(__file__).parents[3].parent / "shared" / "spec"
EXAMPLES = sorted(TEXTS.glob("dsl-1.0*/examples/*.yaml"))


@pytest.mark.parametrize("text", [
    f"{HEAD}do: [{{a: {{set: {{x: 1}}}}}}]",
    f"{HEAD}do: []\nstates: []\nspecVersion: '0.8'",
    "document: {namespace: test}\ndo: {a: {set: {x: 1}}}",
    "do:\n- a: {call: http}",
    "document: {dsl: 1.0.0-alpha1}",
])  # fmt: skip
def test_definitions_of_the_language(text: str) -> None:
    assert LANGUAGE.recognises(read_object(Source(text))[0])
    assert is_definition(text) == looks_like_definition(text)


@pytest.mark.parametrize(("text", "code"), [
    ("id: a\nspecVersion: '1.0'\nstates: []\ndocument: x", "spec-version"),
    ("apiVersion: v1\nkind: SonataFlow\nspec: {flow: {}}\ndo: []", "dialect"),
    ("StartAt: A\nStates: {}\ndo: []", "dialect"),
    ("document: {name: x}\nstates: []", "missing"),
])  # fmt: skip
def test_texts_of_other_languages(text: str, code: str) -> None:
    assert not LANGUAGE.recognises(read_object(Source(text))[0])
    assert code in [problem.code for problem in check(text).problems]


@pytest.mark.parametrize(("text", "expected"), [
    (f"{HEAD}do:\n- a: {{set: {{x: 1}}}}\n- broken: {{", True),
    ('{"document": {"dsl": "1.0.3"}, "do": [{"a": {}}', True),
    ("document:\n  namespace: test\n  name: a\ndo:\n  - a", True),
    ("name: what to do\ndocument: a page\n", False),
    ("document: {dsl: x}\nwhat: to\n", False),
])  # fmt: skip
def test_texts_that_look_like_one(text: str, *, expected: bool) -> None:
    """A file may be half written: it is known all the same."""
    assert LANGUAGE.looks_like(text) is expected


NAMES = f"""{HEAD}use:
  functions: {{greet: {{call: other}}}}
  errors: {{late: {{type: https://e.com/late, status: 400}}}}
  retries: {{often: {{}}}}
  authentications: {{me: {{basic: {{use: login}}}}}}
do:
  - a: {{call: greet, then: b}}
  - b: {{switch: [{{yes: {{when: .x, then: c}}}}, {{no: {{then: end}}}}]}}
  - c: {{try: [{{d: {{raise: {{error: late}}}}}}], catch: {{retry: often, then: a}}}}
  - e: {{call: http, with: {{endpoint: {{uri: x, authentication: {{use: me}}}}, body: {{authentication: {{use: n}}}}}}}}
"""


def test_names_for_editors() -> None:
    marks = LANGUAGE.marks(read_object(Source(NAMES))[0])
    defined = [(one.kind.value, one.name, one.position.line) for one in marks if one.defines]
    referred = [(one.kind.value, one.name, one.position.line) for one in marks if not one.defines]
    assert defined == [
        ("function", "greet", 3), ("error", "late", 4), ("retry", "often", 5), ("auth", "me", 6), ("state", "a", 8),
        ("state", "b", 9), ("state", "c", 10), ("state", "d", 10), ("state", "e", 11),
    ]  # fmt: skip
    assert referred == [
        ("function", "other", 3), ("function", "greet", 8), ("state", "b", 8), ("state", "c", 9),
        ("error", "late", 10), ("retry", "often", 10), ("state", "a", 10), ("auth", "me", 11),
    ]  # fmt: skip
    assert LANGUAGE.kind_of_names("then") is Kind.STATE
    assert LANGUAGE.kind_of_names("when") is None


def test_values_of_expressions_for_editors() -> None:
    line = '  - a: {set: {x: "${ .n + 1 }", y: "${ $item }"}}'
    shown = LANGUAGE.expression_at(line, 22)
    assert shown is not None
    assert (line[shown.start : shown.end], shown.evaluate({"n": 2})) == ("${ .n + 1 }", 3)
    assert LANGUAGE.expression_at(line, 3) is None


OURS = Draft202012Validator(LANGUAGE.json_schema())


@cache
def official(folder: Path) -> Draft202012Validator:
    text = (folder / "workflow.schema.yaml").read_text()
    return Draft202012Validator(plain(read_object(Source(text))[0]))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: f"{one.parts[-3]}/{one.stem}")
@pytest.mark.spec
def test_the_examples_of_the_text_are_valid(example: Path) -> None:
    """By the official schema, by ours, and by the rules; one calls a function on the web."""
    document = plain(read_object(Source(example.read_text()))[0])
    for schema in (OURS, official(example.parents[1])):
        assert [error.message for error in schema.iter_errors(document)] == []
    expected = ["external-forbidden"] if "call: https://" in example.read_text() else []
    assert [problem.code for problem in check_file(example, resources=Resources()).errors] == expected


@pytest.mark.spec
def test_the_examples_are_there() -> None:
    if not TEXTS.is_dir():
        pytest.skip("the texts of the specification are not beside this checkout")
    assert len(EXAMPLES) > 100


@pytest.mark.parametrize("change", [
    {"do": {"a": {"set": {"x": 1}}}},
    {"do": [{"a": {"set": {"x": 1}}, "b": {"set": {"x": 1}}}]},
    {"do": [{"a": {"set": {"x": 1}, "transition": "b"}}]},
    {"do": [{"a": {"call": "http", "with": {"method": "get"}}}]},
    {"do": [{"a": {"run": {"shell": {"command": "ls"}, "script": {"language": "js", "code": ""}}}}]},
    {"do": [{"a": {"wait": {"second": 5}}}]},
    {"document": {"dsl": "1.0.3", "namespace": "a_b", "name": "a", "version": "1.0.0"}},
    {"schedule": {"every": "PT1H", "cron": "* * * * *"}},
    {"states": []},
])  # fmt: skip
def test_the_schema_refuses_what_the_official_one_refuses(change: dict[str, object]) -> None:
    document = {**plain(read_object(Source(f"{HEAD}do: []"))[0]), **change}
    assert not OURS.is_valid(document)
    assert check(yaml.safe_dump(document)).errors
