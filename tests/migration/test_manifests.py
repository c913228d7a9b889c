"""Projects with several files that belong together: manifests, folders, and several texts of one definition."""

from pathlib import Path
from typing import Any

import pytest

from swf_temporal.base.strict_json import write_json
from swf_temporal.languages.loading import files_in
from swf_temporal.migration.migrate import migrate, write
from swf_temporal.migration.report import Migration
from swf_temporal.sdk.definitions import catalogue_of
from swf_temporal.text.parsing import read_data
from swf_temporal.text.yaml_text import write_yaml

OPENAPI = "openapi: 3.0.3\ninfo: {title: %s, version: '1'}\npaths: {/: {post: {operationId: send, responses: {}}}}\n"


def flow(name: str, document: str = "specs/api.yaml", **more: Any) -> dict[str, Any]:
    """Return a definition that calls an operation of *document*."""
    return {
        "id": name, "start": "Send", "functions": [{"name": "send", "operation": f"{document}#send"}],
        "states": [{"name": "Send", "type": "operation", "actions": [{"functionRef": "send"}], "end": True}], **more,
    }  # fmt: skip


def resource(name: str, *mounts: tuple[str, str | None], **more: Any) -> dict[str, Any]:
    config_maps = [
        {"configMap": {"name": one}, **({} if folder is None else {"workflowPath": folder})} for one, folder in mounts
    ]
    definition = {key: value for key, value in flow(name, **more).items() if key != "id"}
    return {
        "apiVersion": "sonataflow.org/v1alpha08", "kind": "SonataFlow", "metadata": {"name": name},
        "spec": {"resources": {"configMaps": config_maps}, "flow": definition},
    }  # fmt: skip


def config_map(name: str, **files: str) -> dict[str, Any]:
    data = {key.replace("__", "."): text for key, text in files.items()}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def project(folder: Path, **files: Any) -> Path:
    """Write *files*, whose names have `__` for a dot and `___` for a slash; lists are several manifests in a file."""
    for name, content in files.items():
        path = folder / name.replace("___", "/").replace("__", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        parts = content if isinstance(content, list) else [content]
        path.write_text("---\n".join(one if isinstance(one, str) else write_yaml(one) for one in parts))
    return folder


def texts(migration: Migration) -> dict[str, str]:
    return {one.path: one.content.decode() for one in migration.files}


def told(migration: Migration) -> list[str]:
    return [f"{one.place}: {one.message}" for one in migration.tasks]


def test_files_of_config_maps_are_where_they_are_mounted(tmp_path: Path) -> None:
    """Two have the same key; one has no folder, one is mounted by a volume, and one is only named as tools do."""
    flow_ = resource("shop", ("01-shop-specs", "specs"), ("02-shop-more", "specs/more"), ("03-shop", None))
    flow_["spec"]["podTemplate"] = {
        "container": {"volumeMounts": [
            {"name": "v", "mountPath": "/home/kogito/serverless-workflow-project/src/main/resources/mounted"}
        ]},
        "volumes": [{"name": "v", "configMap": {"name": "by-volume"}}],
    }  # fmt: skip
    migration = migrate(project(
        tmp_path,
        manifests___shop__yaml=flow_,
        manifests___maps__yaml=[
            config_map("01-shop-specs", api__yaml=OPENAPI % "one"),
            config_map("02-shop-more", api__yaml=OPENAPI % "two"),
            config_map("03-shop", root__json="{}"), config_map("by-volume", b__json="{}"),
            config_map("04-shop-resources-schemas", s__json="{}"),
        ],
    ))  # fmt: skip
    written = texts(migration)
    assert "title: one" in written["manifests/specs/api.yaml"]
    assert "title: two" in written["manifests/specs/more/api.yaml"]
    assert written.keys() >= {"manifests/root.json", "manifests/mounted/b.json", "manifests/schemas/s.json"}
    assert told(migration) == []


def test_a_config_map_of_several_flows(tmp_path: Path) -> None:
    migration = migrate(project(
        tmp_path,
        a__yaml=resource("a", ("shared-specs", "specs")), b__yaml=resource("b", ("shared-specs", "specs")),
        maps__yaml=config_map("shared-specs", api__yaml=OPENAPI % "shared"),
    ))  # fmt: skip
    assert texts(migration).keys() == {"a.sw.yaml", "b.sw.yaml", "specs/api.yaml"}
    assert told(migration) == []


def test_files_with_one_name_do_not_replace_each_other(tmp_path: Path) -> None:
    """A definition whose files are others than those of another one has a folder of its own."""
    migration = migrate(project(
        tmp_path,
        all__yaml=[
            resource("a", ("a-specs", "specs")), config_map("a-specs", api__yaml=OPENAPI % "one"),
            resource("b", ("b-specs", "specs")), config_map("b-specs", api__yaml=OPENAPI % "two"),
        ],
    ))  # fmt: skip
    written = texts(migration)
    assert written.keys() == {"a.sw.yaml", "specs/api.yaml", "b/b.sw.yaml", "b/specs/api.yaml"}
    assert "title: one" in written["specs/api.yaml"]
    assert "title: two" in written["b/specs/api.yaml"]


def test_a_folder_of_its_own_has_what_lay_beside_the_manifest(tmp_path: Path) -> None:
    schema = '{"type": "object", "properties": {"a": {"$ref": "more/a.json"}}}'
    migration = migrate(project(
        tmp_path,
        all__yaml=[
            resource("a", ("a-specs", "specs")), config_map("a-specs", api__yaml=OPENAPI % "one"),
            resource("b", ("b-specs", "specs"), dataInputSchema="schemas/in.json"),
            config_map("b-specs", api__yaml=OPENAPI % "two"),
        ],
        schemas___in__json=schema, schemas___more___a__json="{}",
    ))  # fmt: skip
    assert texts(migration).keys() >= {"b/schemas/in.json", "b/schemas/more/a.json"}
    assert told(migration) == []


def test_sub_workflows_in_config_maps_are_definitions(tmp_path: Path) -> None:
    """Once, if several flows share them; their findings have the lines of the manifest."""
    child = write_yaml(flow("child", "specs/api.yaml", extra="{{ .x }}"))
    maps = [config_map("subflows", child__sw__yaml=child), config_map("specs", api__yaml=OPENAPI % "a")]
    mounts = ("subflows", "subflows"), ("specs", "specs"), ("specs", "subflows/specs")
    migration = migrate(project(tmp_path, a__yaml=resource("a", *mounts), b__yaml=resource("b", *mounts), m__yaml=maps))
    assert texts(migration).keys() == {
        "a.sw.yaml", "b.sw.yaml", "subflows/child.sw.yaml", "specs/api.yaml", "subflows/specs/api.yaml",
    }  # fmt: skip
    assert [one for one in migration.definitions if "child" in one] == ["m.yaml#1/child.sw.yaml"]


def test_what_is_missing_is_told(tmp_path: Path) -> None:
    migration = migrate(project(tmp_path, a__yaml=resource("a", ("a-specs", "specs"))))
    assert told(migration) == [
        "a.yaml:9: the ConfigMap 'a-specs' is not in the project",
        "a.sw.yaml:6: function-document: function 'send': its document 'specs/api.yaml' is not in the project",
    ]
    assert migration.tasks[0].start == "kubectl get configmap a-specs --output yaml > a-specs.yaml"
    assert migration.worst("a.yaml") == "by hand"


@pytest.mark.parametrize(("change", "kind", "message"), [
    ({}, "rewritten", "this is the definition of src/main/resources/shop.sw.yaml, which is written"),
    ({"keepActive": True}, "by hand",
     "this is another text of the definition 'shop' than src/main/resources/shop.sw.yaml, which is written"),
])  # fmt: skip
def test_a_generated_manifest_is_not_a_second_definition(
    change: dict[str, Any], kind: str, message: str, tmp_path: Path
) -> None:
    """Its ConfigMaps count: the properties, and files that are not in the project."""
    migration = migrate(project(
        tmp_path,
        src___main___resources___shop__sw__yaml=flow("shop", version="1.0"),
        src___main___resources___schemas___in__json="{}",
        src___main___resources___manifests___all__yaml=[
            resource("shop", ("shop-schemas", "schemas"), ("shop-specs", "specs"), **change),
            config_map("shop-schemas", in__json="{}"),
            config_map("shop-specs", api__yaml=OPENAPI % "a"),
            config_map("shop-props", application__properties="quarkus.rest-client.api_yaml.url=http://there"),
        ],
    ))  # fmt: skip
    written = texts(migration)
    assert written.keys() == {"shop.sw.yaml", "schemas/in.json", "specs/api.yaml", "swf.yaml"}
    assert read_data(written["swf.yaml"]) == {"services": {"api.yaml": {"baseUrl": "http://there"}}}
    found = [one for one in migration.findings if one.file == "src/main/resources/manifests/all.yaml#1"]
    assert [(one.kind, one.message) for one in found] == [(kind, message)]
    write(migration, tmp_path / "written")
    assert {one.id for one in catalogue_of([tmp_path / "written"])} == {"shop"}


def test_what_is_like_a_definition_by_its_name_is_none(tmp_path: Path) -> None:
    """Neither when it is migrated nor for a worker, which reads the folder that is written."""
    migration = migrate(project(
        tmp_path / "project",
        a__sw__yaml=flow("a"), specs___api__yaml=OPENAPI % "a",
        schemas___a__sw__input_schema__json='{"type": "object", "properties": {"states": {"type": "array"}}}',
        func__yaml="specVersion: 0.36.0\nname: a\nruntime: quarkus\n",
    ))  # fmt: skip
    assert migration.definitions == ("a.sw.yaml",)
    write(migration, tmp_path / "written")
    assert [one.name for one in files_in(tmp_path / "written")] == ["a.sw.yaml"]


def test_values_of_secrets_are_not_written(tmp_path: Path) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "creds"}, "stringData": {"TOKEN": "hunter2"}}
    migration = migrate(project(tmp_path, a__sw__yaml=flow("a"), specs___api__yaml=OPENAPI % "a", s__yaml=secret))
    assert told(migration) == ["s.yaml:1: the Secret 'creds' is not written: it has 'TOKEN'"]
    assert not any("hunter2" in text for text in texts(migration).values())


def test_templates_are_told(tmp_path: Path) -> None:
    template = "apiVersion: sonataflow.org/v1alpha08\nkind: SonataFlow\nmetadata:\n  name: {{ .Values.name }}\n"
    migration = migrate(project(tmp_path, a__sw__yaml=flow("a"), specs___api__yaml=OPENAPI % "a", t__yaml=template))
    assert told(migration) == ["t.yaml:1: this is a template of a manifest, and not a manifest"]


def test_documents_of_the_class_path(tmp_path: Path) -> None:
    """A definition in a folder names them from the root, and they are put where it finds them here."""
    migration = migrate(project(
        tmp_path,
        src___main___resources___sub___a__sw__yaml=flow("a", "classpath:specs/api.yaml"),
        src___main___resources___specs___api__yaml=OPENAPI % "a",
    ))  # fmt: skip
    assert texts(migration)["sub/specs/api.yaml"] == OPENAPI % "a"
    assert told(migration) == []


def test_applications_have_their_own_properties(tmp_path: Path) -> None:
    """Folders with properties are applications; what each says of a service with one name is that one's."""
    files: dict[str, Any] = {}
    for name, port in (("shop", 1), ("crew", 2)):
        files[f"{name}___src___main___resources___{name}__sw__yaml"] = flow(name)
        files[f"{name}___src___main___resources___specs___api__yaml"] = OPENAPI % name
        files[f"{name}___src___main___resources___application__properties"] = (
            f"quarkus.rest-client.api_yaml.url=http://{name}\nquarkus.rest-client.read-timeout={port}000\n"
        )
    written = texts(migrate(project(tmp_path, **files)))
    assert read_data(written["swf.yaml"])["services"] == {
        "shop/api.yaml": {"baseUrl": "http://shop", "timeout": "PT1S"},
        "crew/api.yaml": {"baseUrl": "http://crew", "timeout": "PT2S"},
    }
    [function] = read_data(written["shop/src/main/resources/shop.sw.yaml"])["functions"]
    assert function["metadata"] == {"configuredAs": "shop/api.yaml"}


def test_two_files_of_a_definition(tmp_path: Path) -> None:
    """A copy is written once; with another text both are, and the report says that a worker takes one only."""
    one, other = flow("a", "http://there/api.yaml"), flow("a", "http://there/api.yaml", keepActive=True)
    migration = migrate(project(tmp_path / "copy", a__sw__yaml=one, old___a__sw__json=write_json(one)))
    assert texts(migration).keys() == {"a.sw.yaml"}
    assert told(migration) == []
    migration = migrate(project(tmp_path / "other", a__sw__yaml=one, old___a__sw__yaml=other))
    assert texts(migration).keys() == {"a.sw.yaml", "old/a.sw.yaml"}
    [task] = migration.tasks
    assert task.message.startswith("duplicate-definition: there are several definitions with the id 'a'")


def test_generated_properties_are_told_once(tmp_path: Path) -> None:
    """A ConfigMap that is not there matters only if a file is missing then."""
    properties = (
        "quarkus.rest-client.api_yaml.url=${URL}\nquarkus.openapi-generator.api_yaml.auth.a.bearer-token=${T}\n"
    )
    migration = migrate(project(
        tmp_path,
        shop__sw__yaml=flow("shop"), specs___api__yaml=OPENAPI % "a", application__properties=properties,
        manifests___all__yaml=[
            resource("shop", ("specs", "specs")), config_map("shop-props", application__properties=properties)
        ],
    ))  # fmt: skip
    assert [(one.place, one.hint, one.start) for one in migration.tasks] == [
        ("application.properties:1", "write the value that it has there into swf.yaml",
         "sed -i 's|${URL[^}]*}|…|' swf.yaml"),
        ("application.properties:2", "set SWF_SECRET_API_YAML_A, an object with this property: there it was T",
         """export SWF_SECRET_API_YAML_A='{"token": "…"}'"""),
    ]  # fmt: skip


def test_a_single_file_has_its_documents(tmp_path: Path) -> None:
    """Those that it names, and that these refer to, and nothing else of the folder."""
    folder = project(
        tmp_path / "project",
        a__sw__yaml=flow("a", dataInputSchema="schemas/in.json"), specs___api__yaml=OPENAPI % "a",
        schemas___in__json='{"$ref": "more.json"}', schemas___more__json="{}", other__json="{}",
    )  # fmt: skip
    migration = migrate(folder / "a.sw.yaml")
    assert texts(migration).keys() == {"a.sw.yaml", "specs/api.yaml", "schemas/in.json", "schemas/more.json"}
    assert told(migration) == []


def test_a_schema_that_is_missing_is_told(tmp_path: Path) -> None:
    """It would only be a warning of the definition, whose data were not validated then."""
    definition = flow("a", dataInputSchema="schemas/in.json")
    migration = migrate(project(tmp_path, a__sw__yaml=definition, specs___api__yaml=OPENAPI % "a"))
    [task] = migration.tasks
    assert "external-missing: dataInputSchema is 'schemas/in.json', which does not exist" in task.message
    assert task.task == "files"


def test_a_file_that_a_worker_would_refuse_is_told(tmp_path: Path) -> None:
    """It is like a definition, and is none: a worker that reads the folder stops there."""
    schema = "type: object\nproperties:\n  states:\n    - {name: A}\n"
    migration = migrate(project(
        tmp_path, a__sw__yaml=flow("a"), specs___api__yaml=OPENAPI % "a", schemas___in__yaml=schema
    ))  # fmt: skip
    assert told(migration) == [
        "schemas/in.yaml:1: no-definition: a worker takes this file for a definition, and refuses it"
    ]
