"""Are definitions that stand in documents of their own found, and missing ones tolerated?"""

import json
from pathlib import Path

import pytest

from swf_temporal.expressions.json_schema import DataSchemaValidator
from swf_temporal.languages.loading import check, check_file
from tests.languages.serverless_workflow.models import checked_model

WORKFLOW = """
id: a
functions: {functions}
states:
- name: A
  type: operation
  actions: [{functionRef: f}]
  end: true
""".lstrip()


def workflow(functions: str) -> str:
    return WORKFLOW.replace("{functions}", functions)


@pytest.mark.parametrize(("uri", "text"), [
    ("defs/functions.json", '{"functions": [{"name": "f", "operation": "a.json#f"}]}'),
    ("functions.yaml", "- name: f\n  operation: a.json#f\n"),
    ("file://functions.yml", "functions:\n- name: f\n  operation: a.json#f\n"),
])  # fmt: skip
def test_definitions_beside_the_workflow(tmp_path: Path, uri: str, text: str) -> None:
    """A relative URI names a file beside the definition, which holds a list or an object around one."""
    file = tmp_path / uri.removeprefix("file://")
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    checked = check(workflow(uri), folder=tmp_path)
    assert checked.errors == ()
    assert checked_model(checked).functions[0].operation == "a.json#f"
    assert checked_model(checked).externals["functions"].uri == uri


def test_the_text_that_travels_is_complete(tmp_path: Path) -> None:
    """A workflow's source holds what stood elsewhere, so that it means the same where those files are not."""
    (tmp_path / "f.yml").write_text("- {name: f, operation: a.json#f}")
    path = tmp_path / "a.yml"
    path.write_text(workflow("f.yml"))
    first = checked_model(check_file(path))
    again = checked_model(check(first.source.text))
    assert again.functions[0].operation == "a.json#f"
    assert again.digest == first.digest


def test_what_stood_elsewhere_may_show_a_draft(tmp_path: Path) -> None:
    (tmp_path / "f.yml").write_text("[{name: f, resource: r}]")
    text = (
        "id: a\nexpressionLanguage: spel\nfunctions: f.yml\n"
        "states: [{name: A, type: delay, timeDelay: PT1S, start: {kind: default}, end: {kind: default}}]\n"
    )
    first = check(text, folder=tmp_path).definition
    assert first is not None
    again = check(first.source.text).definition
    assert again is not None
    assert (first.language_version, again.language_version) == ("May 2020", "May 2020")


@pytest.mark.parametrize("uri", ["functions.json", "\\u0000", "defs/../functions.json", "classpath:functions.json"])
def test_missing_definitions(tmp_path: Path, uri: str) -> None:
    checked = check(workflow(f'"{uri}"'), folder=tmp_path)
    assert checked.errors == ()
    assert [warning.code for warning in checked.warnings] == ["spec-version", "external-missing"]
    assert checked.warnings[1].message.endswith(", which does not exist: references to them are not checked")


@pytest.mark.parametrize("uri", ["f.json", "file:///f.json", "classpath:f.json", "file://f.json"])
def test_texts_without_a_place(uri: str) -> None:
    assert [problem.code for problem in check(workflow(uri)).problems] == ["spec-version", "external-missing"]


def test_broken_definitions(tmp_path: Path) -> None:
    (tmp_path / "f.json").write_text('[{"name": "f",\n "operation" 1}]')
    (problem,) = check(workflow("f.json"), folder=tmp_path).errors
    assert problem.file == str(tmp_path / "f.json")
    assert (problem.position.line, problem.position.column) == (2, 14)


def test_definitions_that_are_not_text(tmp_path: Path) -> None:
    (tmp_path / "f.json").write_bytes(b'["\xff"]')
    (problem,) = check(workflow("f.json"), folder=tmp_path).errors
    assert str(problem) == f"{tmp_path / 'f.json'}:1:1  error  encoding  this is not text in UTF-8: byte 2 is 0xFF"


BROKEN = """
functions:
- name: f
  type: rest
- name: g
  type: expression
  operation: ".a["
- name: f
  operation: a.json#f
  kind: x
""".lstrip()


def test_problems_stand_where_they_are_written(tmp_path: Path) -> None:
    (tmp_path / "f.yml").write_text(BROKEN)
    text = workflow("f.yml").replace("id: a", 'id: a\nspecVersion: "0.8"').replace("end: true", "transition: B")
    checked = check(text, folder=tmp_path)
    where = str(tmp_path / "f.yml")
    assert [(one.file, one.position.line, one.position.column, one.code) for one in checked.problems] == [
        ("<definition>", 8, 15, "transition-target"),
        (where, 2, 3, "function-operation"),
        (where, 6, 14, "expression-syntax"),
        (where, 7, 9, "duplicate-name"),
        (where, 9, 3, "unknown-property"),
    ]
    assert str(checked.problems[3]).splitlines() == [
        f"{where}:7:9  error  duplicate-name  there are several functions named 'f'",
        "    - name: f",
        "            ^ the first is at line 2",
    ]


@pytest.mark.parametrize(("text", "line", "column", "message"), [
    ("functions: 3", 1, 12, "the workflow: functions must be a list, not a number"),
    ('[{"name": "f"}, 3]', 1, 17, "function number 2 must be an object, not a number"),
    ("functions:\n- name: f\n  type: [1]\n", 3, 9, "function 'f': type must be a text, not a list"),
])  # fmt: skip
def test_the_form_of_definitions(tmp_path: Path, text: str, line: int, column: int, message: str) -> None:
    (tmp_path / "f.yml").write_text(text)
    problem = check(workflow("f.yml"), folder=tmp_path).errors[0]
    assert (problem.file, problem.position.line, problem.position.column) == (str(tmp_path / "f.yml"), line, column)
    assert (problem.code, problem.message) == ("type", message)


@pytest.mark.parametrize(("text", "column"), [('"g.json"', 1), ('{"functions": "g.json"}', 15)])
def test_documents_name_no_others(tmp_path: Path, text: str, column: int) -> None:
    """A document that is named by a URI and names another one is an error, at the place where it does."""
    (tmp_path / "f.json").write_text(text)
    (tmp_path / "g.json").write_text('[{"name": "f", "operation": "a.json#f"}]')
    (problem,) = check(workflow("f.json"), folder=tmp_path).errors
    assert str(problem).splitlines()[0] == (
        f"{tmp_path / 'f.json'}:1:{column}  error  external-nested  functions are in yet another document, 'g.json': "
        "an included document cannot include others"
    )


def test_every_kind_from_one_document(tmp_path: Path) -> None:
    """One document may hold definitions of all kinds, each under its key, and each kind finds its own."""
    shared = """
    functions: [{name: f, operation: "a.json#f", authRef: me}]
    events: [{name: e, type: t, source: s}]
    retries: [{name: r, delay: PT1S}]
    errors: [{name: x, code: "404"}]
    auth: [{name: me, scheme: bearer, properties: {token: "${ $SECRETS.token }"}}]
    secrets: [token]
    constants: {limit: 3}
    timeouts: {stateExecTimeout: PT1M}
    """
    (tmp_path / "all.yml").write_text(shared)
    names = ("functions", "events", "retries", "errors", "auth", "secrets", "constants", "timeouts")
    text = "".join(f"{name}: all.yml\n" for name in names) + workflow("all.yml").replace("functions: all.yml\n", "")
    checked = check(text, folder=tmp_path)
    assert [problem.code for problem in checked.problems] == ["spec-version"]  # and not what is unused here
    found = checked_model(checked)
    kinds = (found.functions, found.events, found.retries, found.errors, found.auth)
    assert [kind[0].name for kind in kinds] == ["f", "e", "r", "x", "me"]
    assert (found.secrets, found.constants) == (("token",), {"limit": 3})
    assert found.timeouts.state_exec_timeout == "PT1M"


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [("constants", '{"limit": 3}', {"limit": 3}), ("constants", "constants: {limit: 3}", {"limit": 3})],
)
def test_objects_with_and_without_their_key(tmp_path: Path, kind: str, text: str, expected: object) -> None:
    (tmp_path / "it.yml").write_text(text)
    checked = check(f"{kind}: it.yml\n" + workflow("[{name: f, operation: 'a.json#f'}]"), folder=tmp_path)
    assert checked_model(checked).constants == expected


@pytest.mark.parametrize(
    "written", ["in.json", "{schema: in.json}", "{schema: in.json, failOnValidationErrors: false}"]
)
def test_data_schemas(tmp_path: Path, written: str) -> None:
    """A data schema that is the URI of a document is that document, and travels with the text."""
    (tmp_path / "in.json").write_text('{"type": "object", "required": ["n"]}')
    text = f"dataInputSchema: {written}\n" + workflow("[{name: f, operation: 'a.json#f'}]")
    first = checked_model(check(text, folder=tmp_path))
    for found in (first, checked_model(check(first.source.text))):
        assert found.data_input_schema is not None
        assert found.data_input_schema.schema_ == {"type": "object", "required": ["n"]}
        assert found.data_input_schema.fail_on_validation_errors == ("false" not in written)


def test_data_schemas_that_refer_to_documents_beside_them(tmp_path: Path) -> None:
    """Each is taken once, with what it refers to in its turn, and what travels with a run says the same."""
    files = {
        "schemas/in.json": """{"$id": "classpath:/schemas/in.json", "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object", "properties": {"to": {"$ref": "parts/address.json"},
            "from": {"$ref": "parts/address.json#/definitions/zip"}, "in": {"$ref": "in.json#/definitions/none"}},
            "definitions": {"none": {"type": "null"}}, "examples": [{"$ref": "data.json"}]}""",
        "schemas/parts/address.json": """{"$id": "classpath:/schemas/address.json", "required": ["zip"],
            "properties": {"zip": {"$ref": "#/definitions/zip"}, "land": {"$ref": "../land.yaml"}},
            "definitions": {"zip": {"type": "string"}}}""",
        "schemas/land.yaml": "anyOf: [{enum: [de]}, {$ref: parts/address.json}]",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    inline = "{type: object, properties: {to: {$ref: schemas/parts/address.json}}, $defs: {a: true}}"
    for schema in ("schemas/in.json", inline):
        text = f"dataInputSchema: {schema}\n" + workflow("[{name: f, operation: 'a.json#f'}]")
        checked = check(text, folder=tmp_path)
        assert checked.errors == ()
        assert checked.definition is not None
        travels = check(checked.definition.source.text).definition
        assert travels is not None
        for found in (checked.definition, travels):
            validator = DataSchemaValidator(found.input_schema)
            assert validator.violations({"to": {"zip": "1", "land": "de"}}) == []
            assert validator.violations({"to": {"zip": "1", "land": {"zip": "2"}}}) == []
            assert validator.violations({"to": {"zip": 1}}) == ["$.to.zip: 1 is not of type 'string'"]
            assert len(validator.violations({"to": {"zip": "1", "land": {"zip": 2}}})) == 1


def test_dangling_references_name_the_document(tmp_path: Path) -> None:
    """Each is reported at its own place, also one into a document that exists."""
    (tmp_path / "schemas").mkdir()
    references = ["gone.json", "gone.json#/$defs/zip", "there.json#/$defs/zip"]
    (tmp_path / "schemas/in.json").write_text(json.dumps({"anyOf": [{"$ref": one} for one in references]}))
    (tmp_path / "schemas/there.json").write_text("{}")
    checked = check("dataInputSchema: schemas/in.json\n" + workflow("[{name: f, type: custom}]"), folder=tmp_path)
    unusable = "dataInputSchema is not a usable JSON Schema: /anyOf/2/$ref"
    nothing = "the reference 'schemas/there.json#/$defs/zip' leads to nothing within the schema"
    assert [(one.code, one.message) for one in checked.errors] == [
        ("data-schema", "dataInputSchema refers to 'schemas/gone.json', which does not exist"),
        ("data-schema", "dataInputSchema refers to 'schemas/gone.json', which does not exist"),
        ("data-schema", f"{unusable}: {nothing}"),
    ]
    assert len({one.position.column for one in checked.errors}) == len(references)


def test_missing_data_schemas(tmp_path: Path) -> None:
    """A data schema that is not found is a warning, and remains a URI."""
    text = "dataOutputSchema: out.json\n" + workflow("[{name: f, operation: 'a.json#f'}]")
    checked = check(text, folder=tmp_path)
    problem = next(problem for problem in checked.problems if problem.code != "spec-version")
    assert (problem.code, problem.position.column) == ("external-missing", 19)
    assert problem.message == "dataOutputSchema is 'out.json', which does not exist: no data is validated by it"
    schema = checked_model(checked).data_output_schema
    assert schema is not None
    assert schema.schema_ == "out.json"
