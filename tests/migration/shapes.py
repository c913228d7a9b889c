"""The shapes that projects of SonataFlow have, each of a few files, with what their services get."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from swf_temporal.base.data import JSON
from swf_temporal.text.yaml_text import write_yaml
from tests.migration.test_manifests import config_map, flow, resource

NOWHERE: Final = "http://127.0.0.1:1"
A, B, PORT = "{A}", "{B}", "{PORT of A}"
"""The URLs of the services, until they are known."""
SCHEMES: Final[dict[str, JSON]] = {
    "basic": {"type": "http", "scheme": "basic"},
    "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
}
BY_TOKEN: Final[JSON] = {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": NOWHERE, "scopes": {}}}}
"""Schemes with other names: tokens are got where the properties say, and not where the document does."""


class Got(NamedTuple):
    service: str
    path: str
    login: str | None
    """Who is logged in, by name or token, and the key."""
    body: str
    team: str | None = None
    """The header X-Team."""


class Shape(NamedTuple):
    files: dict[str, Any]
    expected: dict[str, list[Got]]
    """What services get of each definition that is run."""
    secrets: Mapping[str, JSON] = MappingProxyType({})
    events: Sequence[str] = ()
    """The types of the events that it gets."""


def openapi(path: str, server: str = NOWHERE, *schemes: str, order: JSON = None) -> str:
    """Return a document of one operation, which asks for credentials of all *schemes* together."""
    operation: dict[str, Any] = {
        "operationId": "send",
        "requestBody": {"content": {"application/json": {"schema": order or {"type": "object"}}}},
        "responses": {"200": {"description": "sent"}},
    }
    found: dict[str, Any] = {
        "openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "servers": [{"url": server}],
        "paths": {path: {"post": operation}},
    }  # fmt: skip
    if schemes:
        found["security"] = [{one: [] for one in schemes}]
        found["components"] = {"securitySchemes": {one: SCHEMES.get(one, BY_TOKEN) for one in schemes}}
    return write_yaml(found)


def url_of(key: str, url: str) -> str:
    return f"quarkus.rest-client.{key}.url={url}\n"


def issuing(client: str, *options: str) -> str:
    """Return properties of a client of OpenID Connect."""
    return "".join(f"quarkus.oidc-client.{client}.{one}\n" for one in (f"client-id={client}", *options))


def login(key: str, scheme: str, name: str) -> str:
    begin = f"quarkus.openapi-generator.{key}.auth.{scheme}"
    return f"{begin}.username={name}\n{begin}.password=made-up\n"


def calling(name: str, **more: Any) -> dict[str, Any]:
    actions = [{"functionRef": {"refName": "send", "arguments": {"order": ".order"}}}]
    states = [{"name": "Send", "type": "operation", "actions": actions, "end": True}]
    return flow(name, **{"states": states, **more})


def manifest(name: str, *mounts: tuple[str, str | None], **more: Any) -> dict[str, Any]:
    found = resource(name, *mounts)
    found["spec"]["flow"] = {key: value for key, value in calling(name, **more).items() if key != "id"}
    return found


def both(name: str, *functions: dict[str, Any]) -> dict[str, Any]:
    """Return a definition that calls *functions*, each of its own document unless they say otherwise."""
    known = {one: {"name": one, "operation": f"{one}.yaml#send"} for one in ("one", "two")}
    known |= {one["name"]: one for one in functions}
    actions = [{"functionRef": {"refName": one, "arguments": {"order": ".order"}}} for one in known]
    states = [{"name": "Send", "type": "operation", "actions": actions, "end": True}]
    return flow(name, functions=[*known.values()], states=states)


def subflows(name: str, *names: str) -> dict[str, Any]:
    actions = [{"subFlowRef": one} for one in names]
    return {
        "id": name,
        "start": "All",
        "states": [{"name": "All", "type": "operation", "actions": actions, "end": True}],
    }


ANN: JSON = {"username": "ann", "password": "made-up"}
BOB: JSON = {"username": "bob", "password": "made-up"}
SENT = '{"order":7}'
SOURCE = "src___main___resources"
PROJECTS: Final[dict[str, Shape]] = {
    "a ConfigMap is a folder": Shape(
        {"all__yaml": [manifest("a", ("docs", "specs")), config_map("docs", api__yaml=openapi("/a", A))]},
        {"a": [Got("A", "/a", None, SENT)]},
    ),
    "two ConfigMaps have the same file": Shape(
        {"all__yaml": [
            manifest("a", ("docs-a", "specs")), config_map("docs-a", api__yaml=openapi("/a", A)),
            manifest("b", ("docs-b", "specs")), config_map("docs-b", api__yaml=openapi("/b", B)),
        ]},
        {"a": [Got("A", "/a", None, SENT)], "b": [Got("B", "/b", None, SENT)]},
    ),
    "two flows share a ConfigMap, and call other services": Shape(
        {"all__yaml": [
            manifest("a", ("docs", "specs")), manifest("b", ("docs", "specs")),
            config_map("docs", api__yaml=openapi("/x")),
            config_map("a-props", application__properties=url_of("api_yaml", A)),
            config_map("b-props", application__properties=url_of("api_yaml", B)),
        ]},
        {"a": [Got("A", "/x", None, SENT)], "b": [Got("B", "/x", None, SENT)]},
    ),
    "two flows share a ConfigMap, and log in as others": Shape(
        {"all__yaml": [
            manifest("a", ("docs", "specs")), manifest("b", ("docs", "specs")),
            config_map("docs", api__yaml=openapi("/x", A, "basic")),
            config_map("a-props", application__properties=login("api_yaml", "basic", "ann")),
            config_map("b-props", application__properties=login("api_yaml", "basic", "bob")),
        ]},
        {"a": [Got("A", "/x", "ann", SENT)], "b": [Got("A", "/x", "bob", SENT)]},
        {"a/api.yaml.basic": ANN, "b/api.yaml.basic": BOB},
    ),
    "a manifest was generated of the source": Shape(
        {
            f"{SOURCE}___a__sw__yaml": calling("a"), f"{SOURCE}___specs___api__yaml": openapi("/a", A),
            f"{SOURCE}___manifests___all__yaml": [
                manifest("a"), config_map("a-props", application__properties=url_of("api_yaml", B))
            ],
        },
        {"a": [Got("B", "/a", None, SENT)]},
    ),
    "properties are secrets and constants": Shape(
        {
            "a__sw__yaml": flow("a", states=[{
                "name": "Send", "type": "operation", "end": True,
                "actions": [{"functionRef": {
                    "refName": "send", "arguments": {"token": "$SECRET.api.token", "team": "$SECRET.team"}
                }}],
            }]),
            "specs___api__yaml": openapi("/a", A), "application__properties": "api.token=hidden\nteam=red\n",
        },
        {"a": [Got("A", "/a", None, '{"token":"shown","team":"red"}')]}, {"api": {"token": "shown"}},
    ),
    "a definition is of 0.6": Shape(
        {
            "a__sw__yaml": calling("a", schemaVersion="0.6", states=[
                {"name": "Send", "type": "delay", "timeDelay": "PT1S", "transition": "Call"},
                {"name": "Call", "type": "operation", "end": True, "actions": [
                    {"functionRef": {"refName": "send", "parameters": {"order": "${ .order }"}}}
                ]},
            ]),
            "specs___api__yaml": openapi("/a", A),
        },
        {"a": [Got("A", "/a", None, SENT)]},
    ),
    "properties have their oldest names": Shape(
        {
            "a__sw__yaml": calling("a"), "specs___api__yaml": openapi("/a", A),
            "application__properties": f"org.kogito.openapi.client.api.base_path={B}\nkie.flyway.enabled=true\n",
        },
        {"a": [Got("B", "/a", None, SENT)]},
    ),
    "several documents and credentials": Shape(
        {
            "a__sw__yaml": both("a"),
            "one__yaml": openapi("/one", NOWHERE, "basic"), "two__yaml": openapi("/two", NOWHERE, "basic"),
            "application__properties": url_of("one_yaml", A) + url_of("two_yaml", B)
            + login("one_yaml", "basic", "ann") + login("two_yaml", "basic", "bob"),
        },
        {"a": [Got("A", "/one", "ann", SENT), Got("B", "/two", "bob", SENT)]},
        {"one.yaml.basic": ANN, "two.yaml.basic": BOB},
    ),
    "sub-workflows are in other folders": Shape(
        {
            "a__sw__yaml": subflows("a", "one", "two"),
            "one___one__sw__yaml": calling("one"), "one___specs___api__yaml": openapi("/one", A),
            "two___two__sw__yaml": calling("two"), "two___specs___api__yaml": openapi("/two", B),
        },
        {"a": [Got("A", "/one", None, SENT), Got("B", "/two", None, '{"order":7}')]},
    ),
    "sub-workflows are in a ConfigMap": Shape(
        {"all__yaml": [
            {"apiVersion": "sonataflow.org/v1alpha08", "kind": "SonataFlow", "metadata": {"name": "a"}, "spec": {
                "resources": {"configMaps": [
                    {"configMap": {"name": "01-a-resources-subflows"}, "workflowPath": "subflows"},
                    {"configMap": {"name": "02-a-resources-specs"}, "workflowPath": "specs"},
                ]},
                "flow": {key: value for key, value in subflows("a", "child").items() if key != "id"},
            }},
            config_map(
                "01-a-resources-subflows",
                child__sw__yaml=write_yaml(calling("child", document="classpath:specs/api.yaml")),
            ),
            config_map("02-a-resources-specs", api__yaml=openapi("/child", A)),
        ]},
        {"a": [Got("A", "/child", None, SENT)]},
    ),
    "events go over channels": Shape(
        {
            "a__sw__yaml": calling(
                "a", events=[{"name": "sent", "type": "sent", "source": "a"}], states=[
                    {"name": "Send", "type": "operation", "end": {"produceEvents": [{"eventRef": "sent"}]}, "actions": [
                        {"functionRef": {"refName": "send", "arguments": {"order": ".order"}}}
                    ]},
                ],
            ),
            "specs___api__yaml": openapi("/a", A),
            "application__properties": "mp.messaging.outgoing.sent.connector=quarkus-http\n"
            f"mp.messaging.outgoing.sent.url={B}\nmp.messaging.incoming.order.connector=smallrye-kafka\n",
        },
        {"a": [Got("A", "/a", None, SENT), Got("B", "/", None, 'sent: {"order":7,"by":"A"}')]},
    ),
    "applications are folders": Shape(
        {
            f"{name}___{SOURCE}___{file}": content
            for name, url in (("shop", A), ("crew", B))
            for file, content in {
                f"{name}__sw__yaml": calling(name), "specs___api__yaml": openapi(f"/{name}"),
                "application__properties": url_of("api_yaml", url),
            }.items()
        },
        {"shop": [Got("A", "/shop", None, SENT)], "crew": [Got("B", "/crew", None, SENT)]},
    ),
    "a client of OpenID Connect gets tokens": Shape(
        {
            "a__sw__yaml": calling("a"), "specs___api__yaml": openapi("/a", B, "orders"),
            "application__properties": issuing(
                "orders", f"auth-server-url={A}/realms/shop", "credentials.secret=hidden", "scopes=read,write"
            ),
        },
        {"a": [
            Got("A", "/realms/shop/.well-known/openid-configuration", None, ""),
            Got("A", "/realms/shop/token", "orders", "grant_type=client_credentials&scope=read+write"),
            Got("B", "/a", "token by made-up", SENT),
        ]},
        {"orders": {"clientSecret": "made-up"}},
    ),
    "two clients get tokens in other ways": Shape(
        {
            "a__sw__yaml": both("a"),
            "one__yaml": openapi("/one", A, "robot"), "two__yaml": openapi("/two", B, "key", "person"),
            "application__properties": issuing(
                "robot", f"auth-server-url={A}", "token-path=/oauth/token", "discovery-enabled=false",
                "credentials.client-secret.value=hidden", "credentials.client-secret.method=post",
            ) + issuing(
                "person", f"token-path={B}/token", "grant.type=password",
                "grant-options.password.username=ann", "grant-options.password.password=hidden",
            ) + "quarkus.openapi-generator.two_yaml.auth.key.api-key=hidden\n",
        },
        {"a": [
            Got("A", "/oauth/token", None, "client_id=robot&client_secret=of-robot&grant_type=client_credentials"),
            Got("A", "/one", "token by of-robot", SENT),
            Got("B", "/token", None, "username=ann&password=of-ann&client_id=person&grant_type=password"),
            Got("B", "/two", "token by of-ann, k", SENT),
        ]},
        {"robot": {"clientSecret": "of-robot"}, "person": {"password": "of-ann"}, "two.yaml.key": {"apiKey": "k"}},
    ),
    "two flows are clients of one name, with other secrets": Shape(
        {"all__yaml": [
            manifest("a", ("docs", "specs")), manifest("b", ("docs", "specs")),
            config_map("docs", api__yaml=openapi("/x", A, "shop")),
            *(config_map(f"{name}-props", application__properties=issuing(
                "shop", f"token-path={B}/{name}", f"credentials.secret=hidden-{name}",
            )) for name in "ab"),
        ]},
        {
            name: [
                Got("B", f"/{name}", "shop", "grant_type=client_credentials"),
                Got("A", "/x", f"token by made-up-{name}", SENT),
            ] for name in "ab"
        },
        {f"{name}/shop": {"clientSecret": f"made-up-{name}"} for name in "ab"},
    ),
    "a document asks for two credentials": Shape(
        {
            "a__sw__yaml": calling("a"), "specs___api__yaml": openapi("/a", A, "basic", "key"),
            "application__properties": login("api_yaml", "basic", "ann")
            + "quarkus.openapi-generator.api_yaml.auth.key.api-key=hidden\n"
            + 'quarkus.rest-client.api_yaml.headers."X-Team"=red\n',
        },
        {"a": [Got("A", "/a", "ann, k", SENT, "red")]}, {"api.yaml.basic": ANN, "api.yaml.key": {"apiKey": "k"}},
    ),
    "calls choose their service": Shape(
        {
            **{f"{name}__sw__yaml": flow(
                name,
                functions=[{"name": "send", "operation": "api.yaml#send", "metadata": {"configKey": ".cluster"}}],
                states=[
                    {"name": "Send", "type": "inject", "data": {"cluster": cluster}, "transition": "Call"},
                    {"name": "Call", "type": "operation", "end": True, "actions": [
                        {"functionRef": {"refName": "send", "arguments": {"order": ".order"}}}
                    ]},
                ],
            ) for name, cluster in (("a", "blue"), ("b", "green"))},
            "api__yaml": openapi("/x", NOWHERE, "basic"),
            "application__properties": url_of('"api_yaml.blue"', A) + url_of('"api_yaml.green"', B)
            + login('"api_yaml.blue"', "basic", "ann") + login('"api_yaml.green"', "basic", "bob"),
        },
        {"a": [Got("A", "/x", "ann", SENT)], "b": [Got("B", "/x", "bob", SENT)]},
        {"api.yaml.blue.basic": ANN, "api.yaml.green.basic": BOB},
    ),
    "a request beside a document": Shape(
        {
            "a__sw__yaml": both("a", {"name": "two", "type": "custom", "operation": "rest:post:/two"}),
            "one__yaml": openapi("/one"),
            "application__properties": url_of("one_yaml", B)
            + f"kogito.sw.functions.two.host=127.0.0.1\nkogito.sw.functions.two.port={PORT}\n",
        },
        {"a": [Got("B", "/one", None, SENT), Got("A", "/two", None, SENT)]},
    ),
    "documents in two folders have one name, and one login": Shape(
        {
            "a__sw__yaml": subflows("a", "one", "two"), "application__properties": login("api_yaml", "basic", "ann"),
            "one___one__sw__yaml": calling("one"), "one___specs___api__yaml": openapi("/one", A, "basic"),
            "two___two__sw__yaml": calling("two"), "two___specs___api__yaml": openapi("/two", B, "basic"),
        },
        {"a": [Got("A", "/one", "ann", SENT), Got("B", "/two", "ann", SENT)]}, {"api.yaml.basic": ANN},
    ),
    "two flows share documents, a sub-workflow and a schema": Shape(
        {"all__yaml": [
            *(
                manifest(
                    name, ("docs", "specs"), ("models", "specs/models"), ("subs", "subflows"),
                    dataInputSchema="specs/models/order.yaml",
                    states=[{"name": "Send", "type": "operation", "end": True, "actions": [
                        {"subFlowRef": "child"}, {"functionRef": {"refName": "send", "arguments": {"order": ".order"}}}
                    ]}],
                ) for name in "ab"
            ),
            config_map("docs", api__yaml=openapi("/x", A, order={"$ref": "models/order.yaml"})),
            config_map("models", order__yaml=write_yaml({"type": "object", "required": ["order"]})),
            config_map("subs", child__sw__yaml=write_yaml(calling("child", document="classpath:specs/api.yaml"))),
            config_map("shared", application__properties=url_of("api_yaml", B)),
        ]},
        {name: [Got("B", "/x", None, SENT)] * 2 for name in "ab"},
    ),
    "events come and go over channels": Shape(
        {
            "a__sw__yaml": calling(
                "a",
                events=[{"name": "order", "type": "order", "source": ""}, {"name": "sent", "type": "sent"}],
                states=[{"name": "Send", "type": "event", "onEvents": [{"eventRefs": ["order"], "actions": [
                    {"functionRef": {"refName": "send", "arguments": {"order": ".order"}}}
                ]}], "end": {"produceEvents": [{"eventRef": "sent", "data": "{order}"}]}}],
            ),
            "specs___api__yaml": openapi("/a", A, "basic"),
            "application__properties": login("api_yaml", "basic", "ann")
            + "mp.messaging.incoming.order.connector=quarkus-http\nmp.messaging.incoming.order.path=/order\n"
            + f"mp.messaging.outgoing.sent.connector=quarkus-http\nmp.messaging.outgoing.sent.url={B}/sent\n",
        },
        {"a": [Got("A", "/a", "ann", SENT), Got("B", "/sent", None, f"sent: {SENT}")]},
        {"api.yaml.basic": ANN}, ["order"],
    ),
    "production has properties of its own": Shape(
        {
            "a__sw__yaml": both("a"), "one__yaml": openapi("/one"), "two__yaml": openapi("/two"),
            "application__properties": url_of("one_yaml", NOWHERE) + f"%prod.{url_of('one_yaml', '${ours}')}ours={A}\n"
            + f"%dev.{url_of('one_yaml', B)}" + url_of("two_yaml", NOWHERE),
            "application-prod__properties": url_of("two_yaml", B),
        },
        {"a": [Got("A", "/one", None, SENT), Got("B", "/two", None, SENT)]},
    ),
    "clients are named by functions": Shape(
        {
            "a__sw__yaml": both("a", {"name": "two", "operation": "one.yaml#send"}),
            "one__yaml": openapi("/x", NOWHERE, "basic"),
            "application__properties": "kogito.sw.operationIdStrategy=FUNCTION_NAME\n"
            + url_of("a_one", A) + login("a_one", "basic", "ann") + url_of("a_two", B) + login("a_two", "basic", "bob"),
        },
        {"a": [Got("A", "/x", "ann", SENT), Got("B", "/x", "bob", SENT)]},
        {"a_one.basic": ANN, "a_two.basic": BOB},
    ),
    "an extension names documents": Shape(
        {
            "a__sw__yaml": {
                **both("a", {"name": "one", "operation": "first#send"}, {"name": "two", "operation": "second#send"}),
                "extensions": [{"extensionid": "workflow-uri-definitions", "definitions": {
                    "first": "classpath:specs/api.yaml", "second": "specs/v2/api.yaml"
                }}],
            },
            "specs___api__yaml": openapi("/x", NOWHERE, "basic"), "specs___v2___api__yaml": openapi("/y", B, "basic"),
            "application__properties": url_of("first", A)
            + login("first", "basic", "ann") + login("second", "basic", "bob"),
        },
        {"a": [Got("A", "/x", "ann", SENT), Got("B", "/y", "bob", SENT)]},
        {"first.basic": ANN, "second.basic": BOB},
    ),
    "properties of all flows, and of one": Shape(
        {"all__yaml": [
            manifest("a", ("docs", "specs")), manifest("b", ("docs", "specs")),
            config_map("docs", api__yaml=openapi("/x", NOWHERE, "basic")),
            config_map("shared", application__properties=url_of("api_yaml", A) + login("api_yaml", "basic", "ann")),
            config_map(
                "b-props", application__properties=url_of("api_yaml", B) + login("api_yaml", "basic", "bob")
            ),
        ]},
        {"a": [Got("A", "/x", "ann", SENT)], "b": [Got("B", "/x", "bob", SENT)]},
        {"a/api.yaml.basic": ANN, "b/api.yaml.basic": BOB},
    ),
}  # fmt: skip
