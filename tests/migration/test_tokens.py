"""Clients of OpenID Connect in properties: which auths they become, and what is told of those that become none.

What services get of them is in `test_whole_projects`.
"""

from pathlib import Path
from typing import Any

import pytest

from swf_temporal.base.data import JSON
from swf_temporal.migration.migrate import migrate
from swf_temporal.migration.report import Migration
from swf_temporal.text.parsing import read_data
from swf_temporal.text.yaml_text import write_yaml
from tests.migration.shapes import calling, issuing, openapi
from tests.migration.test_manifests import project, texts

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
