"""Whose service, and whose credentials: the key is the document, and what cannot be told apart is a finding."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from swf_temporal.migration.configuration import configuration
from swf_temporal.migration.migrate import migrate
from swf_temporal.migration.owners import Called
from swf_temporal.migration.report import Migration
from swf_temporal.text.parsing import read_data
from swf_temporal.text.properties import PropertiesText
from swf_temporal.text.yaml_text import write_yaml
from tests.migration.whose import Servers, line, servers, tried
from tests.sampling import seeds

_DOCUMENT = "{openapi: 3.0.3, info: {title: t, version: '1'}, paths: {/: {post: {operationId: send, responses: {}}}}}"
A, B = Called("send", "a.yaml#send"), Called("send", "b.yaml#send")


@pytest.fixture(scope="module")
def there() -> Iterator[Servers]:
    with servers() as found:
        yield found


@pytest.mark.parametrize("seed", seeds("whose services", 6, 200))
def test_each_call_reaches_its_service(seed: int, there: Servers, tmp_path: Path) -> None:
    counts, wrong = tried(seed, tmp_path, there)
    assert wrong == [], line(counts)


def made(text: str, *functions: Called) -> tuple[dict[str, Any], list[str]]:
    found = configuration(PropertiesText("p", text), list(functions))
    return found.settings, [f"{one.message} ({one.hint})" for one in found.findings if one.kind == "by hand"]


def test_all_that_is_said_of_a_client_is_of_its_document() -> None:
    text = "".join(
        f"quarkus.rest-client.{key}.url=http://{key}\nquarkus.rest-client.{key}.read-timeout={seconds}000\n"
        f"quarkus.rest-client.{key}.proxy-address={key}:1\nquarkus.rest-client.{key}.trust-store={key}.pem\n"
        for key, seconds in (("a_yaml", 1), ("b_yaml", 2))
    )
    settings, _ = made(text, A, B)
    assert settings == {
        "services": {
            f"{name}.yaml": {
                "baseUrl": f"http://{name}_yaml", "timeout": f"PT{seconds}S", "proxy": f"http://{name}_yaml:1",
                "tls": {"ca": f"{name}_yaml.pem"},
            }
            for name, seconds in (("a", 1), ("b", 2))
        }
    }  # fmt: skip


@pytest.mark.parametrize(("text", "functions", "told"), [
    ("quarkus.rest-client.a.url=http://a", (A,), "the key of 'a.yaml' is 'a_yaml'"),
    ("quarkus.rest-client.send.url=http://a", (A, B), "the key of 'a.yaml' is 'a_yaml'"),
    ("quarkus.rest-client.a_yaml.url=http://a\nkogito.sw.openapi.a_yaml.url=http://b", (A,), "neither is written"),
    ("quarkus.rest-client.a_yaml.url=http://a", (A, Called("send", "A.yaml#send")), "'send' (A.yaml#send)"),
    ("kogito.sw.functions.send.host=a", (Called("send", "rest:post:/send", "custom"), B), "'send' (b.yaml#send)"),
    ('quarkus.rest-client."a_yaml.blue".url=http://a',
     (Called("send", "a.yaml#send", metadata={"configKey": "${ .c }"}),
      Called("send", "A.yaml#send", metadata={"configKey": "${ .c }"})), "(A.yaml#send)"),
    ("quarkus.grpc.clients.Greeter.host=a",
     (Called("hello", "g.proto#Greeter#Hello", "rpc"),
      Called("hello", "g.yaml#hello", metadata={"configuredAs": "greeter"})), "'hello' (g.yaml#hello)"),
    ("kogito.sw.operationIdStrategy=SPEC_TITLE\nquarkus.rest-client.t.url=http://a", (A,), "under 'services'"),
])  # fmt: skip
def test_what_cannot_be_told_apart_is_a_finding(text: str, functions: tuple[Called, ...], told: str) -> None:
    """Nothing is written, as it would be a guess."""
    settings, by_hand = made(text, *functions)
    assert settings == {}
    assert [one for one in by_hand if told in one], by_hand


@pytest.mark.parametrize(("text", "written"), [
    ('quarkus.rest-client."a_yaml.blue".url=http://a', {"a.yaml.blue": {"baseUrl": "http://a"}}),
    ("quarkus.rest-client.a_yaml.url=http://a", None),
    ('quarkus.rest-client."b_yaml.blue".url=http://a', None),
])  # fmt: skip
def test_calls_that_choose_have_no_other_key(text: str, written: dict[str, Any] | None) -> None:
    """That of the document alone is no key of theirs, and those that do not choose have no other."""
    chooses = Called("send", "a.yaml#send", metadata={"configKey": "${ .cluster }"})
    settings, _ = made(text, chooses, B)
    assert settings == ({} if written is None else {"services": written})


@pytest.mark.parametrize("operation", ["greet.proto#Greeter#Hello", "greet.proto#org.acme.Greeter#Hello"])
def test_services_of_grpc_are_known_by_their_names(operation: str) -> None:
    settings, _ = made(
        "quarkus.grpc.clients.Greeter.host=a\nquarkus.grpc.clients.Greeter.deadline=5s",
        Called("send", operation, "rpc"),
        Called("send", "greet.proto#Other#Hello", "rpc"),
    )
    assert settings == {"services": {"Greeter": {"baseUrl": "grpc://a:9000", "timeout": "PT5S"}}}


def manifests(folder: Path, **properties: str) -> Migration:
    parts = []
    for name, text in properties.items():
        flow = {
            "start": "S",
            "functions": [{"name": "send", "operation": "a.yaml#send"}],
            "states": [{"name": "S", "type": "operation", "actions": [{"functionRef": "send"}], "end": True}],
        }
        resource = {"apiVersion": "sonataflow.org/v1alpha08", "kind": "SonataFlow", "metadata": {"name": name}}
        config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"{name}-props"}}
        parts.append(write_yaml({**resource, "spec": {"flow": flow}}))
        parts.append(write_yaml({**config, "data": {"application.properties": text}}))
    (folder / "all.yaml").write_text("---\n".join(parts))
    (folder / "a.yaml").write_text(_DOCUMENT)
    return migrate(folder)


def written(migration: Migration, file: str) -> Any:
    return next((read_data(one.content.decode()) for one in migration.files if one.path == file), None)


_URL = "quarkus.rest-client.a_yaml.url=http://"
_LOGIN = "quarkus.openapi-generator.a_yaml.auth.login.password="


@pytest.mark.parametrize(("one", "other", "settings", "secrets"), [
    (f"{_URL}a", f"{_URL}a", {"services": {"a.yaml": {"baseUrl": "http://a"}}}, None),
    (f"{_URL}a", f"{_URL}b",
     {"services": {"first/a.yaml": {"baseUrl": "http://a"}, "second/a.yaml": {"baseUrl": "http://b"}}}, None),
    (f"{_URL}a", "other=1", {"services": {"first/a.yaml": {"baseUrl": "http://a"}}}, None),
    ("quarkus.rest-client.read-timeout=1000", "other=1", {"services": {"first/a.yaml": {"timeout": "PT1S"}}}, None),
    (f"{_LOGIN}x", f"{_LOGIN}y", None, ["first/a.yaml.login", "second/a.yaml.login"]),
    (f"{_LOGIN}x", f"{_LOGIN}x", None, ["a.yaml.login"]),
])  # fmt: skip
def test_applications_of_one_worker_may_differ(
    tmp_path: Path, one: str, other: str, settings: Any, secrets: list[str] | None
) -> None:
    """Where they do, the names of their services begin with those of the applications."""
    migration = manifests(tmp_path, first=one, second=other)
    assert written(migration, "swf.yaml") == settings
    assert list(written(migration, "secrets.example.yaml") or ()) == (secrets or [])
    assert not any("one worker serves them all" in each.message for each in migration.findings)
    for name in ("first", "second"):
        [function] = written(migration, f"{name}.sw.yaml")["functions"]
        alias = function.get("metadata", {}).get("configuredAs")
        assert alias == (None if one == other else f"{name}/a.yaml")


def test_what_applications_cannot_have_apart_is_told(tmp_path: Path) -> None:
    """A property that functions are given as a secret has one value."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "application.properties").write_text(f"api.token={name}\n")
        (tmp_path / name / "flow.sw.yaml").write_text(
            f"{{id: {name}, start: A, functions: [{{name: f, type: custom}}], states: [{{name: A, type: operation, "
            "actions: [{functionRef: {refName: f, arguments: {a: $SECRET.api.token}}}], end: true}]}"
        )
    told = [one.message for one in migrate(tmp_path).tasks]
    assert "the secret 'api' is not the same for all workflows that have it, and one worker serves them all" in told


def test_a_secret_for_each_document_and_scheme(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(_DOCUMENT)
        (tmp_path / f"{name}.sw.yaml").write_text(
            f"id: {name}\nstart: S\nfunctions: [{{name: send, operation: '{name}.yaml#send'}}]\n"
            "states: [{name: S, type: operation, actions: [{functionRef: send}], end: true}]\n"
        )
    auth = "quarkus.openapi-generator.%s_yaml.auth.basicAuth.%s=%s\n"
    (tmp_path / "application.properties").write_text(
        "".join(auth % (name, key, key) for name in ("a", "b") for key in ("username", "password"))
    )
    migration = migrate(tmp_path)
    assert {name: written(migration, f"{name}.sw.yaml")["secrets"] for name in ("a", "b")} == {
        "a": ["a.yaml.basicAuth"], "b": ["b.yaml.basicAuth"],
    }  # fmt: skip
    assert written(migration, "secrets.example.yaml").keys() == {"a.yaml.basicAuth", "b.yaml.basicAuth"}
    assert next(one.hint for one in migration.findings if one.kind == "by hand") == (
        "set SWF_SECRET_A_YAML_BASICAUTH, an object with this property"
    )


REQUEST = Called("ping", "rest:get:/ping", "custom")


def test_what_is_said_of_all_clients_is_not_said_of_requests() -> None:
    """Nor does it replace what is said of one client; if there are only clients, it is of all calls."""
    text = "quarkus.rest-client.a_yaml.read-timeout=1000\nquarkus.rest-client.read-timeout=2000\n"
    assert made(text, A, B)[0] == {"calls": {"timeout": "PT2S"}, "services": {"a.yaml": {"timeout": "PT1S"}}}
    assert made(text, A, B, REQUEST)[0] == {
        "services": {"a.yaml": {"timeout": "PT1S"}, "b.yaml": {"timeout": "PT2S"}}
    }  # fmt: skip


def test_what_is_said_of_all_clients_that_calls_choose_is_told() -> None:
    chooses = Called("send", "a.yaml#send", metadata={"configKey": "${ .cluster }"})
    found = configuration(PropertiesText("p", "quarkus.rest-client.read-timeout=2000"), [chooses, REQUEST])
    assert found.settings == {"calls": {"timeout": "PT2S"}}
    assert "quarkus.rest-client.read-timeout holds for calls of 'ping', too" in [one.message for one in found.findings]


def test_headers_are_of_their_client() -> None:
    key = 'quarkus.rest-client.a_yaml.headers."%s"=%s\n'
    settings, by_hand = made(
        key % ("X-Team", "red") + key % ("X-Api-Key", "hunter2") + "quarkus.rest-client.a_yaml.user-agent=shop\n", A, B
    )
    assert settings == {"services": {"a.yaml": {"headers": {"X-Team": "red", "User-Agent": "shop"}}}}
    [told] = by_hand
    assert (
        "the header 'X-Api-Key' is a credential (write the headers of 'a.yaml' as lines in SWF_HEADERS_A_YAML" in told
    )


@pytest.mark.parametrize(
    "key", ["Retry/maxRetries", "org.acme.Shop/send/Retry/delay", "quarkus.fault-tolerance.a.retry.max"]
)
def test_retries_are_of_the_definition(key: str) -> None:
    assert made(f"{key}=3", A)[1][0].endswith(
        "(write 'retries' and 'retryRef', or 'timeouts', in the definitions that call it)"
    )


@pytest.mark.parametrize(("text", "settings"), [
    ("org.kogito.openapi.client.myapiv.base_path=http://a", {"services": {"my-api.v1.yaml": {"baseUrl": "http://a"}}}),
    ("org.kogito.openapi.client.myapiv.base_path=http://a\nquarkus.rest-client.my_api_v1_yaml.url=http://b",
     {"services": {"my-api.v1.yaml": {"baseUrl": "http://b"}}}),
    ("org.kogito.openapi.client.a.base_path=http://a", {}),
])  # fmt: skip
def test_properties_with_their_oldest_names(text: str, settings: dict[str, Any]) -> None:
    """A newer one counts before them; what two documents would share is told."""
    functions = Called("send", "specs/my-api.v1.yaml#send"), A, Called("send", "a.json#send")
    assert made(text, *functions)[0] == (settings or {
        "services": {"a.yaml": {"baseUrl": "http://a"}, "a.json": {"baseUrl": "http://a"}}
    })  # fmt: skip


@pytest.mark.parametrize("key", [
    "kie.flyway.enabled", "kogito.persistence.type", "quarkus.flyway.migrate-at-start", "mp.openapi.scan.disable",
])  # fmt: skip
def test_properties_of_the_platform_are_known(key: str) -> None:
    [finding] = configuration(PropertiesText("p", f"{key}=true"), [A]).findings
    assert (finding.kind, finding.message) == ("differs", f"{key} has no effect")


def test_names_that_differ_in_capitals_are_told_apart_by_their_applications(tmp_path: Path) -> None:
    for name, document in (("one", "a.yaml"), ("two", "A.yaml")):
        (tmp_path / name).mkdir()
        (tmp_path / name / document).write_text(_DOCUMENT)
        (tmp_path / name / "application.properties").write_text(
            f"quarkus.rest-client.{document.replace('.', '_')}.url=http://{name}\n"
        )
        (tmp_path / name / "flow.sw.yaml").write_text(
            f"id: {name}\nstart: S\nfunctions: [{{name: send, operation: '{document}#send'}}]\n"
            "states: [{name: S, type: operation, actions: [{functionRef: send}], end: true}]\n"
        )
    assert written(migrate(tmp_path), "swf.yaml") == {
        "services": {"one/a.yaml": {"baseUrl": "http://one"}, "two/A.yaml": {"baseUrl": "http://two"}}
    }  # fmt: skip
