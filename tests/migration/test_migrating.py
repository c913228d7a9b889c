"""What is migrated, whatever it is: properties, lists of Kubernetes, reports, and projects that are broken."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from swf_temporal import load
from swf_temporal.base.errors import UsageError
from swf_temporal.cli.annotations import sarif_of_migration
from swf_temporal.migration.configuration import configuration
from swf_temporal.migration.migrate import migrate, write
from swf_temporal.migration.owners import Called
from swf_temporal.migration.report import Finding, MigratedFile, Migration, as_data, as_html, as_text
from swf_temporal.text.properties import PropertiesText, of_production, read_properties, resolved
from tests.migration.__main__ import outcome, tried
from tests.migration.many import broken_project, changed_again, project_of, reported
from tests.sampling import count, seeds

ROOT = Path(__file__).parent / "projects"
_CALL = "{name: A, type: operation, actions: [{functionRef: {refName: f, arguments: {a: %s}}}], end: true}"


def test_properties_are_read_as_java_does() -> None:
    text = "# c\n! c\na=1\nb : 2\nc 3\nd\\=e=4\nf=5, \\\n   6\n\ng=\\u0041\\tB\\\\\nh=\nk=a=b\n  a = 7"
    wanted = {"a": "7", "b": "2", "c": "3", "d=e": "4", "f": "5, 6", "g": "A\tB\\", "h": "", "k": "a=b"}
    assert read_properties(text) == wanted


def test_what_holds_in_production_counts_before_what_holds_always() -> None:
    given = {"a": "1", "%prod.a": "2", "%test.a": "3", "%dev,prod.b": "4", "%test.c": "5"}
    assert of_production(given) == {"a": "2", "b": "4"}


@pytest.mark.parametrize(("value", "wanted"), [
    ("${a}/x", "1/x"), ("${no:http://h:80/p}", "http://h:80/p"), ("${no}", "${no}"), ("${b}", "1"), ("${c}", "${c}"),
    ("${aes::b}", "${aes::b}"),
])  # fmt: skip
def test_values_name_others(value: str, wanted: str) -> None:
    assert resolved(value, {"a": "1", "b": "${a}", "c": "${c}"}) == wanted


@pytest.mark.parametrize(("key", "operation", "service"), [
    ("quarkus.rest-client.shop_yaml.url", "specs/shop.yaml#place", "shop.yaml"),
    ("quarkus.rest-client.shop_yaml.url", "https://shop.example/v1/shop.yaml?full#place", "shop.yaml"),
    ("quarkus.rest-client.my_shop_v1_json.url", "classpath:my-shop.v1.json#place", "my-shop.v1.json"),
    ("kogito.sw.openapi.shop_yaml.url", "shop.yaml#place", "shop.yaml"),
])  # fmt: skip
def test_services_are_known_by_their_documents(key: str, operation: str, service: str) -> None:
    made = configuration(
        PropertiesText("p", f"{key}=http://h"), [Called("order", operation), Called("other", "no.yaml#x")]
    )
    assert made.settings == {"services": {service: {"baseUrl": "http://h"}}}


def test_credentials_are_told_and_not_written() -> None:
    text = "quarkus.openapi-generator.s.auth.basic.password=hunter2\nkogito.sw.functions.f.access_token=hunter2"
    made = configuration(PropertiesText("p", text), [Called("f", "rest:get:/x", "custom"), Called("g", "s#g")])
    assert [one.kind for one in made.findings] == ["by hand", "by hand"]
    assert made.settings == {}
    assert not any("hunter2" in f"{one.message}{one.hint}" for one in made.findings)


def test_a_list_of_kubernetes_has_resources(tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(
        "apiVersion: v1\nkind: List\nitems:\n"
        "- {apiVersion: v1, kind: ConfigMap, data: {application.properties: 'quarkus.http.port=1'}}\n"
        "- apiVersion: sonataflow.org/v1alpha08\n  kind: SonataFlow\n  metadata: {name: a}\n"
        "  spec: {flow: {start: A, states: [{name: A, type: inject, data: {}, end: true}]}}\n"
    )
    migration = migrate(tmp_path)
    assert [one.path for one in migration.files] == ["a.sw.yaml"]
    assert [one.kind for one in migration.findings if "quarkus.http.port" in one.message] == ["differs"]


def test_files_are_not_replaced_nor_written_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("old")
    with pytest.raises(UsageError, match="exists already"):
        write(Migration((), (), (MigratedFile("a.yaml", b"new"),)), tmp_path)
    with pytest.raises(UsageError, match="is outside of"):
        write(Migration((), (), (MigratedFile("b/../../a.yaml", b"new"),)), tmp_path)
    assert (tmp_path / "a.yaml").read_text() == "old"


def test_reports_say_the_same() -> None:
    findings = (Finding("a.yaml", 3, "differs", "<b>", "do"), Finding("a.yaml", None, "by hand", "m"))
    migration = Migration(("a.yaml", "b.yaml"), findings, ())
    assert as_text(migration).splitlines() == [
        "a.yaml: needs a hand", "  differs    line 3: <b> (do)", "  by hand    m", "b.yaml: runs as it is", "",
        "2 definitions: 1 runs as it is, 1 needs a hand", "", "What is left to do:", "  1. a.yaml: m",
    ]  # fmt: skip
    many = as_text(
        Migration(("a.yaml", "b.yaml", "c.yaml", "d.yaml"), (*findings, replace(findings[1], file="c.yaml")), ())
    )
    assert many.partition("\n\nWhat")[0].splitlines()[-1] == "4 definitions: 2 run as they are, 2 need a hand"
    assert as_data(migration)["findings"][0] == {
        "file": "a.yaml", "kind": "differs", "message": "<b>", "line": 3, "hint": "do",
    }  # fmt: skip
    results = sarif_of_migration(migration)["runs"][0]["results"]
    assert [one["level"] for one in results] == ["warning", "error"]
    assert "&lt;b&gt;" in as_html(migration)
    assert "<b>" not in as_html(migration)


def test_a_folder_is_tried() -> None:
    counts, wrong = tried(ROOT)
    assert wrong == []
    assert counts["definitions"] == counts["accepted in the mode"] == counts["the same once written"]
    assert counts["accepted as they are"] < counts["accepted once written"]


def test_what_comes_to_something_else_is_told(tmp_path: Path) -> None:
    (tmp_path / "told").mkdir()
    (tmp_path / "told/a.sw.yaml").write_text(
        "{id: a, start: Put, functions: [{name: f, type: expression, operation: .item}], states: ["
        "{name: Put, type: inject, data: {list: [1, 2]}, transition: Each}, {name: Each, type: foreach, "
        "inputCollection: .list, outputCollection: .list, iterationParam: item, "
        "actions: [{functionRef: f}], end: true}]}"
    )
    counts, wrong = tried(tmp_path)
    assert (counts["different with a finding"], counts["the same once written"], wrong) == (1, 0, [])
    one = load("{id: a, specVersion: '0.8', functions: [{name: f, type: custom}], states: [" + _CALL % 1 + "]}")
    other = load("{id: a, specVersion: '0.8', functions: [{name: f, type: custom}], states: [" + _CALL % 2 + "]}")
    assert outcome(one) == outcome(one)
    assert outcome(one) != outcome(other)


@pytest.mark.parametrize("seed", seeds("broken projects", 40, 500))
def test_broken_projects_are_told(seed: int, tmp_path: Path) -> None:
    broken_project(seed, tmp_path / "project")
    assert re.search("definition|exists already", reported(tmp_path / "project", tmp_path / "migrated"))


def test_many_definitions_are_migrated_once(tmp_path: Path) -> None:
    project_of(count(60, 1500), tmp_path / "project")
    write(migrate(tmp_path / "project"), tmp_path / "migrated")
    assert changed_again(tmp_path / "migrated") == []


def test_what_is_by_hand_is_told_once(tmp_path: Path) -> None:
    """An expression function with a secret, or with a variable of an iteration, is not told of again as invalid."""
    (tmp_path / "a.sw.yaml").write_text(
        "{id: a, start: A, functions: [{name: f, type: expression, operation: $SECRET.api_key}, "
        "{name: g, type: expression, operation: $number * 2}], "
        "states: [{name: A, type: operation, actions: [{functionRef: f}, {functionRef: g}], end: true}]}"
    )
    assert [one.message for one in migrate(tmp_path).of("by hand")] == [
        "function 'f': $SECRET.api_key outside of arguments of functions",
        "function 'g': $number of an iteration that calls this workflow",
    ]


def test_functions_to_write_are_registered_as_what_is_called(tmp_path: Path) -> None:
    """One is for all scripts in Java, and methods of two classes are two, also with one name.

    One that is called with different arguments takes them as one.
    """
    operations = "script:java", "script", "camel:direct:a", "class:x", "service:java:a.A::x", "service:b.B::x"
    for name, operation in zip("abcdef", operations, strict=True):
        call = f"{{functionRef: {{refName: f, arguments: {{{name}: 1}}}}}}"
        (tmp_path / f"{name}.sw.yaml").write_text(
            f"{{id: {name}, start: A, functions: [{{name: f, type: custom, operation: '{operation}'}}], "
            f"states: [{{name: A, type: operation, actions: [{call}], end: true}}]}}"
        )
    files = {one.path: one.content.decode() for one in migrate(tmp_path).files}
    made: dict[str, Any] = {}
    exec(files["functions.py"], made)  # noqa: S102 - written by this migration
    registry = made["registry"]
    assert list(registry) == ["a.A::x", "b.B::x", "camel:direct:a", "class:x", "script:java"]
    assert made["camel_direct_a"] is registry["camel:direct:a"]
    with pytest.raises(NotImplementedError, match="script:java is to be written"):
        registry["script:java"]({"a": 1})
    with pytest.raises(NotImplementedError, match="camel:direct:a is to be written"):
        registry["camel:direct:a"](c=1)


def test_what_keeps_no_comments_is_told(tmp_path: Path) -> None:
    """A text that can be read, and not be rewritten with its comments, is a finding with its line."""
    (tmp_path / "a.sw.yaml").write_text(
        "id: a\nstates:\n  - {name: A, type: inject,\t\n     data: {}, end: true}\nstart:\tA\n"
    )
    [finding] = migrate(tmp_path).findings
    assert (finding.kind, finding.line) == ("by hand", 5)
    assert "cannot be rewritten" in finding.message


def _project(folder: Path) -> Path:
    folder.mkdir(parents=True)
    states = "states: [{name: A, type: inject, data: {}, end: true}]"
    (folder / "a.sw.yaml").write_text(f"id: a\nspecVersion: '0.8'\n{states}\n")
    (folder / "schema.json").write_text("{}")
    return folder


def test_links_are_not_followed_out_of_the_project(tmp_path: Path) -> None:
    """Nor in a circle, or nowhere: each is a finding. Links within the project are files like others."""
    project, elsewhere = _project(tmp_path / "project"), _project(tmp_path / "elsewhere")
    (project / "secret.json").symlink_to(elsewhere / "schema.json")
    (project / "folder").symlink_to(elsewhere)
    (project / "broken.json").symlink_to("nowhere.json")
    (project / "circle.yaml").symlink_to("circle.yaml")
    (project / "same.json").symlink_to("schema.json")
    migration = migrate(project)
    assert {one.file: one.message for one in migration.of("by hand")} == {
        "secret.json": f"left out: links lead from it out of {project}",
        "folder": f"left out: links lead from it out of {project}",
        "broken.json": "left out: it is a link to a file that does not exist",
        "circle.yaml": "left out: it is a link that leads in a circle",
    }
    assert [one.path for one in migration.files] == ["a.sw.yaml", "same.json", "schema.json"]


@pytest.mark.parametrize("place", ["schema.json", "inner/schema.json"])
def test_nothing_is_written_where_links_lead(tmp_path: Path, place: str) -> None:
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "migrated"
    elsewhere.mkdir()
    folder.mkdir()
    (folder / "inner").symlink_to(elsewhere)
    (folder / "schema.json").symlink_to(elsewhere / "new.json")
    with pytest.raises(UsageError, match=r"cannot be written: (it is a link|links lead)"):
        write(Migration((), (), (MigratedFile(place, b"{}"),)), folder)
    assert not list(elsewhere.iterdir())
