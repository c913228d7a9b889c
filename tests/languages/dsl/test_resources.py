"""Documents that a definition in DSL 1.0 includes: schemas, and functions of catalogs and at URLs."""

from pathlib import Path
from typing import Any

import pytest

from swf_temporal import InvalidDefinition, load, simulate
from swf_temporal.languages.loading import check, check_file, load_pinned
from swf_temporal.text.fetching.resources import Resources, raw
from tests.fetching.conftest import Site

HEAD = "document: {dsl: 1.0.3, namespace: test, name: includes, version: 0.1.0}\n"
GREET = """
input: {schema: {resource: {endpoint: schema.json}}}
set: {greeting: "Hello, ${ .name }"}
"""
SCHEMA = '{"type": "object", "required": ["name"], "properties": {"name": {"$ref": "parts.json#/$defs/name"}}}'
PARTS = '{"$defs": {"name": {"type": "string"}}}'


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def catalog(folder: Path, *names: str) -> Path:
    """Make a catalog in *folder* with functions that greet."""
    places = [f"functions/{name}/1.0.0" for name in names or ("greet",)]
    texts = {"function.yaml": GREET, "schema.json": SCHEMA, "parts.json": PARTS}
    return write(folder, {f"{place}/{name}": text for place in places for name, text in texts.items()})


def loaded(folder: Path, text: str, **settings: Any) -> Any:
    """Return the definition *text*, which has no problems, as a run carries it."""
    (folder / "includes.yaml").write_text(HEAD + text)
    checked = check_file(folder / "includes.yaml", resources=Resources(**settings))
    assert [str(problem) for problem in checked.problems] == []
    assert checked.definition is not None
    return load_pinned(checked.definition.source.text, name="run")


def test_a_function_of_a_catalog_in_a_folder(tmp_path: Path) -> None:
    """The run carries the function, its schema, and what that refers to: it needs no other document."""
    catalog(tmp_path / "shared")
    definition = loaded(
        tmp_path,
        "use: {catalogs: {mine: {endpoint: shared}}}\ndo: [{a: {call: 'greet:1.0.0@mine', with: {name: Ada}}}]",
    )
    text = definition.source.text
    assert simulate(text).output == {"greeting": "Hello, Ada"}
    failed = simulate(text.replace('"Ada"', "3"))
    assert failed.error is not None
    assert failed.error.name.endswith("/validation")


def test_a_function_of_the_default_catalog(tmp_path: Path) -> None:
    """The operator has it in a folder; a function that is not there is one of the worker's own."""
    catalog(tmp_path / "shared")
    text = "do: [{a: {call: 'greet:1.0.0@default', with: {name: Ada}}}, {b: {call: 'other:1.0.0@default'}}]"
    definition = loaded(tmp_path, text, catalog=str(tmp_path / "shared"))
    run = simulate(definition.source.text, functions={"b": 3})
    assert (run.output, run.calls) == (3, (("b", {"greeting": "Hello, Ada"}),))
    without = load(HEAD + text)
    assert [use.function.operation for use in without.functions] == ["greet", "other"]


def test_the_default_catalog_is_a_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, site: Site) -> None:
    monkeypatch.setenv("SWF_RESOURCE_CATALOG", str(catalog(tmp_path / "shared")))
    text = f"{HEAD}do: [{{a: {{call: 'greet:1.0.0@default', with: {{name: Ada}}}}}}]"
    (tmp_path / "includes.yaml").write_text(text)
    assert load(tmp_path / "includes.yaml").functions == ()
    site.has("/catalog/functions/greet/1.0.0/function.yaml", b"set: {greeting: Hi}", kind="application/yaml")
    monkeypatch.setenv("SWF_RESOURCE_CATALOG", f"{site.url}/catalog/")
    monkeypatch.setenv("SWF_RESOURCE_HOSTS", site.host)
    assert simulate(load(tmp_path / "includes.yaml").source.text).output == {"greeting": "Hi"}


def test_a_catalog_that_the_definition_calls_default_comes_first(tmp_path: Path) -> None:
    catalog(tmp_path / "mine")
    text = (
        "use: {catalogs: {default: {endpoint: {uri: mine}}}}\ndo: [{a: {call: 'greet:1.0.0@default', with: {name: A}}}]"
    )
    definition = loaded(tmp_path, text, catalog=str(tmp_path / "nowhere"))
    assert simulate(definition.source.text).output == {"greeting": "Hello, A"}


def test_functions_call_functions(tmp_path: Path, site: Site) -> None:
    """One at a URL calls another beside it, and one of a catalog of the definition, which is in the next call, too."""
    catalog(tmp_path / "shared")
    calls = b"do: [{a: {call: ./b.yaml}}, {c: {call: 'greet:1.0.0@mine'}}]"
    site.has("/functions/a.yaml", calls, kind="application/yaml")
    site.has("/functions/b.yaml", b"set: {name: Bea}", kind="application/yaml")
    text = f"use: {{catalogs: {{mine: {{endpoint: shared}}}}}}\ndo: [{{a: {{call: '{site.url}/functions/a.yaml'}}}}]"
    definition = loaded(tmp_path, text, hosts=(site.host,))
    assert simulate(definition.source.text).output == {"greeting": "Hello, Bea"}
    assert len(site.requests) == 2


def test_a_function_that_calls_itself_is_included_once(tmp_path: Path) -> None:
    write(tmp_path, {"f.yaml": "do: [{again: {if: .n > 0, call: ./f.yaml, with: {n: '${ .n - 1 }'}}}]"})
    definition = loaded(tmp_path, "do: [{a: {call: ./f.yaml}}]")
    assert simulate(definition.source.text, {"n": 2}).output == {"n": 0}


def test_there_is_a_limit_of_functions(tmp_path: Path) -> None:
    """Each function calls the next one: it ends at some time."""
    for number in range(202):
        (tmp_path / f"f{number}.yaml").write_text(f"call: ./f{number + 1}.yaml")
    (tmp_path / "includes.yaml").write_text(f"{HEAD}do: [{{a: {{call: ./f0.yaml}}}}]")
    (problem,) = check_file(tmp_path / "includes.yaml", resources=Resources()).problems
    assert problem.code == "external-unreadable"
    assert "a definition may include 200 functions" in problem.message
    assert Path(problem.file).name == "f199.yaml"


def test_schemas_are_included_wherever_they_are(tmp_path: Path) -> None:
    write(tmp_path, {"schema.json": SCHEMA, "parts.json": PARTS})
    schema = "{schema: {format: json, resource: {name: s, endpoint: {uri: schema.json}}}}"
    definition = loaded(
        tmp_path, f"input: {schema}\noutput: {schema}\ndo: [{{a: {{set: '${{ . }}', export: {schema}}}}}]"
    )
    assert definition.input_schema["required"] == definition.output_schema["required"] == ["name"]
    failed = simulate(definition.source.text, {"name": 3})
    assert failed.error is not None
    assert simulate(definition.source.text, {"name": "Ada"}).output == {"name": "Ada"}


def test_data_that_look_like_a_schema_are_left_alone() -> None:
    text = f"{HEAD}do: [{{a: {{set: {{input: {{schema: {{resource: {{endpoint: x.json}}}}}}}}}}}}]"
    assert check(text).problems == ()
    assert simulate(text).output == {"input": {"schema": {"resource": {"endpoint": "x.json"}}}}


def test_credentials_of_a_catalog_are_settings(tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own policy is no use: it may need secrets, which only a run has."""
    site.has("/functions/greet/1.0.0/function.yaml", b"set: {greeting: Hi}", kind="application/yaml")
    monkeypatch.setenv("SWF_RESOURCE_HOSTS", site.host)
    monkeypatch.setenv(f"SWF_RESOURCE_AUTH_{site.variable}", "Bearer x")
    policy = f"{{uri: '{site.url}', authentication: {{basic: {{username: a, password: b}}}}}}"
    text = f"{HEAD}use: {{catalogs: {{mine: {{endpoint: {policy}}}}}}}\ndo: [{{a: {{call: 'greet:1.0.0@mine'}}}}]"
    (tmp_path / "includes.yaml").write_text(text)
    checked = check_file(tmp_path / "includes.yaml")
    assert [problem.code for problem in checked.problems] == ["external-credentials"]
    assert site.authorizations() == ["Bearer x"]


def test_a_text_fetches_nothing() -> None:
    with pytest.raises(InvalidDefinition, match="and this definition may not fetch anything"):
        load(f"{HEAD}do: [{{a: {{call: 'https://example.com/function.yaml'}}}}]")


@pytest.mark.parametrize(("page", "content"), [
    ("https://github.com/acme/catalog/tree/main/functions/log/1.0.0/function.yaml",
     "https://raw.githubusercontent.com/acme/catalog/refs/heads/main/functions/log/1.0.0/function.yaml"),
    ("https://github.com/acme/catalog/blob/v1.2.0/schema.json",
     "https://raw.githubusercontent.com/acme/catalog/v1.2.0/schema.json"),
    ("https://github.com/acme/catalog/tree/main", "https://raw.githubusercontent.com/acme/catalog/refs/heads/main"),
    ("https://github.com/acme/catalog", "https://raw.githubusercontent.com/acme/catalog/HEAD"),
    ("https://github.com/acme/functions/greet@v1.0.0", "https://raw.githubusercontent.com/acme/functions/v1.0.0/greet"),
    ("https://gitlab.com/acme/tools/catalog/-/tree/main/functions",
     "https://gitlab.com/acme/tools/catalog/-/raw/main/functions"),
    ("https://git.example.com/acme/catalog/-/blob/main/schema.json",
     "https://git.example.com/acme/catalog/-/raw/main/schema.json"),
    ("https://gitlab.com/acme/catalog", "https://gitlab.com/acme/catalog/-/raw/HEAD"),
    ("https://example.com/tree/main/function.yaml", "https://example.com/tree/main/function.yaml"),
    ("https://raw.githubusercontent.com/a/b/main/c.json", "https://raw.githubusercontent.com/a/b/main/c.json"),
    ("schemas/order.json", "schemas/order.json"),
    ("https://[", "https://["),
])  # fmt: skip
def test_pages_of_hosts_of_code(page: str, content: str) -> None:
    assert raw(page) == content
