"""What properties become in definitions: constants, secrets, and auths; and what is told of the others.

What services get of these auths is in `test_whole_projects`.
"""

from pathlib import Path
from typing import Any

import pytest

from swf_temporal import check
from swf_temporal.base.data import JSON
from swf_temporal.languages.loading import check_file
from swf_temporal.migration.migrate import migrate
from swf_temporal.migration.report import Migration
from swf_temporal.text.fetching.resources import in_mode
from swf_temporal.text.parsing import read_data
from swf_temporal.text.properties import is_secret
from swf_temporal.text.yaml_text import write_yaml
from tests.migration.shapes import calling, issuing, openapi
from tests.migration.test_manifests import project, texts

FLOW = """
id: flow
start: A
%sstates:
  - {name: A, type: inject, data: {}, stateDataFilter: {output: '%s'}, end: true}
"""
HIDDEN = "h7Rw-93Kd"


def written(folder: Path, properties: str, used: str, more: str = "") -> tuple[dict[str, Any], list[str]]:
    (folder / "application.properties").write_text(properties)
    (folder / "flow.sw.yaml").write_text(FLOW % (more, used))
    migration = migrate(folder)
    [definition] = [one.content.decode() for one in migration.files if one.path == "flow.sw.yaml"]
    assert HIDDEN not in definition
    assert not any(HIDDEN in f"{one.message}{one.hint}" for one in migration.findings)
    found: dict[str, Any] = read_data(definition)
    return found, [f"{one.message} ({one.hint})" for one in migration.findings if one.kind == "by hand"]


def output_of(definition: dict[str, Any]) -> str:
    return str(definition["states"][0]["stateDataFilter"]["output"])


@pytest.mark.parametrize(("used", "wanted"), [
    ("$SECRET.a", "${ $CONST.a }"),
    ("$SECRETS.a", "${ $CONST.a }"),
    ('${ $SECRET["a"] + .a }', "${ $CONST.a + .a }"),
    ("$SECRET.b.c", '${ $CONST["b.c"] }'),
    ('$SECRET."b.c" | length', '${ $CONST["b.c"] | length }'),
    ('"$SECRET.a is \\($SECRET.a)"', '${ "$SECRET.a is \\($CONST.a)" }'),
])  # fmt: skip
def test_properties_are_constants(used: str, wanted: str, tmp_path: Path) -> None:
    definition, hints = written(tmp_path, "a=1\nb.c=true\n%test.a=2", used)
    assert output_of(definition) == wanted
    assert definition["constants"] == ({"a": "1"} if "a" in wanted else {"b.c": "true"})
    assert hints == []
    told = [one.message for one in migrate(tmp_path).findings if one.file == "application.properties"]
    assert not any(one.startswith(f"{next(iter(definition['constants']))} ") for one in told)


@pytest.mark.parametrize(("properties", "hint"), [
    (f"a.password={HIDDEN}", "a secret would become data"),
    (f"a.password=${{b}}\nb={HIDDEN}", "a secret would become data"),
])  # fmt: skip
def test_secrets_by_name_are_not_written(properties: str, hint: str, tmp_path: Path) -> None:
    definition, hints = written(tmp_path, properties, "$SECRET.a.password")
    assert "constants" not in definition
    assert output_of(definition) == "${ $SECRETS.a.password }"
    assert any("$SECRET.a.password outside of arguments" in one and hint in one for one in hints)


@pytest.mark.parametrize(
    "value",
    [
        f"https://user:{HIDDEN}@host/",
        f"jdbc:postgresql://host/db?user=a&password={HIDDEN}",
        f"Bearer {HIDDEN}",
        f"jdbc:x?${{db.password:{HIDDEN}}}",
        "jdbc:x?${other}",
        f"${{no:${{db.password:{HIDDEN}}}}}",
        f"${{aes-gcm-nopadding::{HIDDEN}}}",
        "${unknown}",
        f"https://hooks.example/services/T0ab1cd2ef3gh4ij5kl6mn/{HIDDEN}",
    ],
)
def test_values_that_have_secrets_are_not_written(value: str, tmp_path: Path) -> None:
    properties = f"a={value}\nother=x${{db.password}}\ndb.password={HIDDEN}"
    definition, hints = written(tmp_path, properties, "$SECRET.a")
    assert "constants" not in definition
    hint = "$SECRET.a outside of arguments of functions (its value contains a credential, or"
    assert any(hint in one for one in hints)


@pytest.mark.parametrize(("constants", "hint"), [
    ("{a: 7}", "there is another constant 'a': write it into 'constants' under a different name"),
    ("constants.json", "if it is not a secret, write it into 'constants' and use $CONST.a"),
])  # fmt: skip
def test_constants_that_are_there_stay(constants: str, hint: str, tmp_path: Path) -> None:
    (tmp_path / "constants.json").write_text("{}")
    definition, hints = written(tmp_path, "a=1", "$SECRET.a", f"constants: {constants}\n")
    assert definition["constants"] == read_data(constants)
    assert any(hint in one for one in hints)


@pytest.mark.parametrize("properties", ["", "a=", "%test.a=1"])
def test_properties_that_are_not_there_are_told(properties: str, tmp_path: Path) -> None:
    definition, hints = written(tmp_path, properties, "$SECRET.a")
    assert output_of(definition) == "${ $SECRETS.a }"
    assert any("if it is not a secret, write it into 'constants' and use $CONST.a" in one for one in hints)


@pytest.mark.parametrize(("properties", "used", "written", "secrets", "told"), [
    ("a=1", "$SECRET.a", "$CONST.a", None, None),
    ("api.token=x", "$SECRET.api.token", "$SECRETS.api.token", {"api": {"token": "…"}},
     ("application.properties:1", "api.token is the property 'token' of the secret 'api', which functions are given",
      """export SWF_SECRET_API='{"token": "…"}'""")),
    ("a=${DB_PASSWORD}", "$SECRET.a", "$SECRETS.a", {"a": "…"},
     ("application.properties:1", "a is the secret 'a', which functions are given", "export SWF_SECRET_A='…'")),
    ("", '$SECRET."b.c"', '$SECRETS."b.c"', {"b.c": "…"},
     ("secrets.example.yaml:1", "$SECRET.b.c of flow.sw.yaml is not among the properties: functions are given a secret",
      "export SWF_SECRET_B_C='…'")),
])  # fmt: skip
def test_arguments_of_functions_have_secrets(
    properties: str, used: str, written: str, secrets: Any, told: tuple[str, ...] | None, tmp_path: Path
) -> None:
    """A property that is no secret is a constant there as well."""
    (tmp_path / "application.properties").write_text(properties)
    (tmp_path / "flow.sw.yaml").write_text(
        "{id: flow, start: A, functions: [{name: f, type: custom}], states: [{name: A, type: operation, "
        f"actions: [{{functionRef: {{refName: f, arguments: {{list: [{{a: '{used}'}}]}}}}}}], end: true}}]}}"
    )
    migration = migrate(tmp_path)
    files = {one.path: read_data(one.content.decode()) for one in migration.files}
    assert written in str(files["flow.sw.yaml"]["states"])
    assert files["flow.sw.yaml"].get("secrets") == (None if secrets is None else [*secrets])
    assert files.get("secrets.example.yaml") == secrets
    assert [(one.place, one.message, one.start) for one in migration.tasks] == ([] if told is None else [told])
    assert not any("application's own" in one.message for one in migration.findings)


@pytest.mark.parametrize(
    "name",
    ["password", "db.password", "dbPassword", "dbpassword", "DB_PASSWD", "api-key", "api.key", "apiKey", "APIKEY",
     "accessToken", "client-secret.value", "my.credentials", "private.x", "ssh_private_key", "user.pwd", "smtp.pass",
     "slack.webhook",
     "pin.code", "signing.cert.pem", "session.seed"],
)  # fmt: skip
def test_words_that_are_secret(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize(
    "name", ["my_name", "secretary", "tokenizer.url", "passage", "compass", "key", "a.place", "pinned", "certain"]
)
def test_words_that_are_not(name: str) -> None:
    assert not is_secret(name)


def test_a_config_map_is_of_its_workflow(tmp_path: Path) -> None:
    """What others have is not seen; a ConfigMap of another name is of all."""
    maps = {"one-props": "which=one", "two-props": "which=two", "more": "all=1"}
    parts = [
        f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{application.properties: '{text}'}}\n"
        for name, text in maps.items()
    ]
    for name in ("one", "two"):
        flow = (FLOW % ("", "$SECRET.which + $SECRET.all")).replace("id: flow\n", "").replace("\n", "\n    ")
        head = f"apiVersion: sonataflow.org/v1alpha08\nkind: SonataFlow\nmetadata: {{name: {name}}}"
        parts.append(f"{head}\nspec:\n  flow:\n    {flow.rstrip()}\n")
    (tmp_path / "all.yaml").write_text("---\n".join(parts))
    files = {one.path: read_data(one.content.decode()) for one in migrate(tmp_path).files}
    for name in ("one", "two"):
        assert files[f"{name}.sw.yaml"]["constants"] == {"which": name, "all": "1"}


def test_the_mode_reads_what_stands_beside_a_file(tmp_path: Path) -> None:
    """Or around it, within the folder that a worker is given."""
    text = FLOW % ("", "$SECRET.a")
    (tmp_path / "application.properties").write_text("a=1")
    for folder in (tmp_path, tmp_path / "below"):
        folder.mkdir(exist_ok=True)
        (folder / "flow.sw.yaml").write_text(text)
    for there in (
        check_file(tmp_path / "flow.sw.yaml", resources=in_mode("sonataflow")),
        check_file(tmp_path / "below" / "flow.sw.yaml", resources=in_mode("sonataflow"), folder=tmp_path),
    ):
        assert there.definition is not None
        assert "$CONST.a" in there.definition.source.text
    for other in (
        check_file(tmp_path / "below" / "flow.sw.yaml", resources=in_mode("sonataflow")),
        check_file(tmp_path / "below" / "flow.sw.yaml", resources=in_mode("sonataflow"), folder=tmp_path / "below"),
        check(text, resources=in_mode("sonataflow")),
    ):
        assert [one.code for one in other.problems if one.severity == "error"] == ["secrets-in-expression"]


URL = "auth-server-url=https://login.example/realms/shop"
SECRET = "credentials.secret=h7Rw-93Kd"  # noqa: S105 - made up
AUTHORITY = "https://login.example/realms/shop"


def secret(name: str) -> str:
    return f"${{ $SECRETS.shop.{name} }}"


def made(folder: Path, *options: str, schemes: tuple[str, ...] = ("shop",), more: str = "") -> tuple[Any, Migration]:
    migration = migrate(project(
        folder, a__sw__yaml=calling("a"), specs___api__yaml=openapi("/a", "https://a.example", *schemes),
        application__properties=issuing("shop", *options) + more,
    ))  # fmt: skip
    assert "h7Rw-93Kd" not in f"{migration.findings}{texts(migration)}"
    return read_data(texts(migration)["a.sw.yaml"]), migration


@pytest.mark.parametrize(("options", "scheme", "properties"), [
    ((URL, SECRET), "oidc", {"authority": AUTHORITY, "grant": "client_credentials"}),
    ((URL, SECRET, "token-path=/token"), "oauth2", {"authority": AUTHORITY, "endpoints": {"token": "/token"}}),
    (("auth-server-url=${LOGIN}", SECRET), "oidc", {"authority": secret("authority")}),
    (("auth-server-url=https://ann:h7Rw-93Kd@login.example", SECRET), "oidc", {"authority": secret("authority")}),
    ((URL, SECRET, "scopes=read, write"), "oidc", {"scopes": ["read", "write"]}),
    (
        (URL, "credentials.jwt.secret=h7Rw-93Kd"), "oidc",
        {"client": {"id": "shop", "secret": secret("clientSecret"), "authentication": "client_secret_jwt"}},
    ),
    (
        (URL, "credentials.client-secret.value=h7Rw-93Kd", "credentials.client-secret.method=post-jwt"), "oidc",
        {"client": {"id": "shop", "secret": secret("clientSecret"), "authentication": "client_secret_jwt"}},
    ),
    (
        (
            URL, "grant.type=password", "grant-options.password.username=ann",
            "grant-options.password.password=h7Rw-93Kd",
        ),
        "oidc",
        {
            "grant": "password", "username": "ann", "password": secret("password"),
            "client": {"id": "shop", "authentication": "none"},
        },
    ),
])  # fmt: skip
def test_a_client_is_an_auth(
    options: tuple[str, ...], scheme: str, properties: dict[str, JSON], tmp_path: Path
) -> None:
    definition, migration = made(tmp_path, *options)
    [auth] = definition["auth"]
    assert (auth["name"], auth["scheme"], definition["functions"][0]["authRef"]) == ("shop", scheme, "shop")
    assert auth["properties"].items() >= properties.items()
    assert {one.task for one in migration.tasks} == {"secrets"}


@pytest.mark.parametrize(("options", "reason"), [
    ((URL,), "no secret of the client is among the properties"),
    ((SECRET,), "auth-server-url is not among the properties"),
    ((URL, SECRET, "discovery-enabled=false"), "no token-path is among the properties"),
    ((URL, SECRET, "grant.type=exchange"), "quarkus.oidc-client.shop.grant.type has no counterpart"),
    ((URL, SECRET, "grant-options.client.resource=x"), "quarkus.oidc-client.shop.grant-options.client.resource has no"),
    ((URL, SECRET, "credentials.client-secret.method=query"), "quarkus.oidc-client.shop.credentials.client"),
    ((URL, SECRET, "client-enabled=false"), "quarkus.oidc-client.shop.client-enabled has no counterpart"),
    ((URL, SECRET, "scopes=${SCOPES}"), "quarkus.oidc-client.shop.scopes names what is not among the properties"),
])  # fmt: skip
def test_what_does_not_say_enough_is_by_hand(options: tuple[str, ...], reason: str, tmp_path: Path) -> None:
    definition, migration = made(tmp_path, *options)
    assert "auth" not in definition
    assert [one.hint for one in migration.tasks if f"the tokens of 'shop': {reason}" in one.message]
    told = [one.line for one in migration.findings if one.file == "application.properties"]
    assert told == [*range(1, len(options) + 2)], "each property has a finding"


@pytest.mark.parametrize(("key", "is_passed_on"), [("api_yaml", True), ("other_yaml", False)])
def test_tokens_of_the_caller_are_not_replaced(key: str, *, is_passed_on: bool, tmp_path: Path) -> None:
    passed = f"quarkus.openapi-generator.{key}.auth.shop.token-propagation=true\n"
    definition, _ = made(tmp_path, URL, SECRET, more=passed)
    assert ("auth" not in definition) is is_passed_on


def test_a_document_elsewhere_may_need_tokens(tmp_path: Path) -> None:
    (tmp_path / "a.sw.yaml").write_text(write_yaml(calling("a", document="https://a.example/api.yaml")))
    (tmp_path / "application.properties").write_text(issuing("shop", URL, SECRET))
    told = [one.message for one in migrate(tmp_path).tasks]
    assert "function 'send': its document cannot be read here, and may ask for tokens of 'shop'" in told


def test_an_auth_of_the_definition_stays(tmp_path: Path) -> None:
    """One of another name is joined by that of the client; a function that names one keeps it."""
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "api.yaml").write_text(openapi("/a", "https://a.example", "shop"))
    functions = [{"name": "send", "operation": "specs/api.yaml#send"}, {
        "name": "own", "operation": "specs/api.yaml#send", "authRef": "shop"
    }]  # fmt: skip
    own = {"name": "shop", "scheme": "bearer", "properties": {"token": "${ $SECRETS.mine }"}}
    (tmp_path / "a.sw.yaml").write_text(write_yaml(calling("a", functions=functions, auth=[own])))
    (tmp_path / "application.properties").write_text(issuing("shop", URL, SECRET))
    definition = read_data(texts(migrate(tmp_path))["a.sw.yaml"])
    assert [one["authRef"] for one in definition["functions"]] == ["shop 2", "shop"]
    assert [one["name"] for one in definition["auth"]] == ["shop", "shop 2"]
    assert definition["auth"][0] == own
