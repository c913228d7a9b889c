"""What properties of real projects make: what is written is a configuration that is read, and nothing goes untold."""

from pathlib import Path
from typing import Any

import pytest
import trustme

from swf_temporal.migration.configuration import Configuration, configuration
from swf_temporal.migration.migrate import migrate
from swf_temporal.migration.owners import Called
from swf_temporal.settings.calls import read_settings
from swf_temporal.settings.events import EventSettings
from swf_temporal.text.properties import PropertiesText
from swf_temporal.text.yaml_text import write_yaml

FUNCTIONS = [Called("place", "specs/shop.yaml#place"), Called("greet", "greeter.proto#Greeter#SayHello", "rpc")]
TLS = {"services": {"shop.yaml": {"tls": {"ca": "ca.pem"}}}}
EVERYTHING = r"""
quarkus.http.port=8080
quarkus.http.ssl.certificate.files=tls.crt
quarkus.http.ssl-port=8443
quarkus.http.cors=true
quarkus.http.auth.basic=true
quarkus.oidc.auth-server-url=https://id.example/realms/a
quarkus.oidc-client.client-id=shop
quarkus.log.level=DEBUG
quarkus.native.native-image-xmx=8g
quarkus.datasource.jdbc.url=jdbc:postgresql://db/kogito
quarkus.tls.trust-all=true
quarkus.tls.trust-store.p12.path=trust.p12
quarkus.tls.shop.trust-store.pem.certs=certs/shop.pem
quarkus.rest-client.shop_yaml.tls-configuration-name=shop
quarkus.rest-client.shop_yaml.url=https://shop.example
quarkus.rest-client.shop_yaml.trust-store=classpath:trust.jks
quarkus.rest-client.shop_yaml.trust-store-password=changeit
quarkus.rest-client.shop_yaml.verify-host=false
quarkus.rest-client.shop_yaml.connection-pool-size=5
quarkus.rest-client.shop_yaml.connect-timeout=1000
quarkus.rest-client.read-timeout=5000
org.acme.Shop/mp-rest/url=http://nobody
quarkus.openapi-generator.shop_yaml.auth.key.api-key=made-up
quarkus.openapi-generator.codegen.spec.shop_yaml.base-package=org.acme
quarkus.grpc.clients.Greeter.host=greeter
quarkus.grpc.clients.Greeter.port=9090
quarkus.grpc.clients.Greeter.deadline=5s
quarkus.grpc.clients.Greeter.max-inbound-message-size=1000
quarkus.grpc.server.port=9001
kogito.grpc.stream.timeout=20
kafka.bootstrap.servers=one:9093,two:9093
kafka.security.protocol=SASL_SSL
kafka.sasl.mechanism=SCRAM-SHA-512
kafka.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="u" password="hunter2";
kafka.ssl.truststore.location=/certs/trust.jks
kafka.ssl.truststore.password=hunter2
mp.messaging.incoming.orders.connector=smallrye-kafka
mp.messaging.incoming.orders.topic=orders
mp.messaging.incoming.orders.value.deserializer=org.apache.kafka.common.serialization.StringDeserializer
mp.messaging.incoming.orders.auto.offset.reset=latest
mp.messaging.incoming.orders.failure-strategy=dead-letter-queue
mp.messaging.incoming.orders.max.poll.records=5
mp.messaging.outgoing.kogito-processinstances-events.connector=quarkus-http
mp.messaging.outgoing.kogito-processinstances-events.url=http://data-index/processes
mp.messaging.incoming.mails.connector=smallrye-amqp
mp.messaging.incoming.mails.address=mails
kogito.jobs-service.url=http://jobs
kogito.dataindex.http.url=http://data-index
%dev.quarkus.http.port=9999
org.acme.greeting=Hello
"""


def made(text: str) -> Configuration:
    return configuration(PropertiesText("p", text), FUNCTIONS)


def test_nothing_goes_untold() -> None:
    found = made(EVERYTHING)
    lines = {number for number, line in enumerate(EVERYTHING.splitlines(), 1) if line}
    engine = next(number for number, line in enumerate(EVERYTHING.splitlines(), 1) if "data-index/processes" in line)
    assert lines - {one.line for one in found.findings} == {engine}, "the channel is told by its connector"
    assert all(one.hint for one in found.findings if one.kind == "by hand")
    assert "hunter2" not in f"{found.findings} {found.settings}"


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("quarkus.rest-client.shop_yaml.read-timeout=5000", {"services": {"shop.yaml": {"timeout": "PT5S"}}}),
        ("quarkus.rest-client.shop_yaml.connect-timeout=500", {"services": {"shop.yaml": {"timeout": "PT30.5S"}}}),
        ("shop_yaml/mp-rest/readTimeout=5000\nshop_yaml/mp-rest/connectTimeout=1000",
         {"services": {"shop.yaml": {"timeout": "PT6S"}}}),
        ("quarkus.rest-client.read-timeout=5000", {"services": {"shop.yaml": {"timeout": "PT5S"}}}),
        ("quarkus.rest-client.shop_yaml.proxy-address=proxy:3128", {"services": {"shop.yaml": {"proxy": "http://proxy:3128"}}}),
        ("quarkus.rest-client.proxy-address=none", {"services": {"shop.yaml": {"proxy": ""}}}),
        ("quarkus.rest-client.shop_yaml.trust-store=classpath:ca.pem", TLS),
        ("quarkus.rest-client.shop_yaml.tls-configuration-name=a\nquarkus.tls.a.trust-store.pem.certs=ca.pem", TLS),
        ("quarkus.tls.key-store.pem.0.cert=a.pem\nquarkus.tls.key-store.pem.0.key=a.key",
         {"services": {"shop.yaml": {"tls": {"cert": "a.pem", "key": "a.key"}}}}),
        ("quarkus.grpc.clients.Greeter.host=h\nquarkus.grpc.clients.Greeter.plain-text=false\nquarkus.grpc.clients.Greeter.deadline=5s",
         {"services": {"Greeter": {"baseUrl": "grpcs://h:9000", "timeout": "PT5S"}}}),
        ("kafka.bootstrap.servers=PLAINTEXT://a:9092, b:9092\nmp.messaging.outgoing.o.connector=smallrye-kafka",
         {"events": {"sinks": [{"name": "o", "types": "o", "to": "kafka://a:9092", "topic": "o"}]}}),
        (("kafka.security.protocol=SSL\nmp.messaging.incoming.i.connector=smallrye-kafka\n"
         "mp.messaging.incoming.i.failure-strategy=dead-letter-queue"),
         {"events": {"consumers": [{"name": "i", "from": "kafka-secure://localhost:9092", "topic": "i",
                                    "deadLetter": "dead-letter-topic-i"}]}}),
        ("mp.messaging.outgoing.o.connector=smallrye-kafka\nmp.messaging.outgoing.o.enabled=false", {}),
        (
            'kafka.bootstrap.servers=${SERVERS:"a:9092"}\nmp.messaging.outgoing.o.connector=smallrye-kafka',
            {"events": {"sinks": [{"name": "o", "types": "o", "to": "kafka://a:9092", "topic": "o"}]}},
        ),
        ("mp.messaging.outgoing.o.connector=quarkus-http\nmp.messaging.outgoing.o.url=${K_SINK:}", {}),
        ("mp.messaging.outgoing.kogito-job-service-job-request-events.connector=quarkus-http", {}),
    ],
)  # fmt: skip
def test_what_is_written_is_a_configuration(text: str, settings: dict[str, Any], tmp_path: Path) -> None:
    assert made(text).settings == settings
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    client = authority.issue_cert("client.example")
    client.cert_chain_pems[0].write_to_path(tmp_path / "a.pem")
    client.private_key_pem.write_to_path(tmp_path / "a.key")
    file = tmp_path / "swf.yaml"
    file.write_text(write_yaml(settings))
    read_settings({}, file=file)
    EventSettings.read({}, file=file)


@pytest.mark.parametrize("way", ["incoming", "outgoing"])
def test_kafka_is_logged_in_to_by_variables(way: str, tmp_path: Path) -> None:
    text = (
        "kafka.security.protocol=SASL_PLAINTEXT\nkafka.sasl.mechanism=PLAIN\n"
        f'kafka.sasl.jaas.config=PlainLoginModule required username="u" password="hunter2";\n'
        f"mp.messaging.{way}.c.connector=smallrye-kafka\nmp.messaging.{way}.c.security.protocol=SASL_SSL\n"
        f"mp.messaging.{way}.c.sasl.mechanism=SCRAM-SHA-256\n"
    )
    found = made(text)
    [place] = found.settings["events"]["consumers" if way == "incoming" else "sinks"]
    assert place["from" if way == "incoming" else "to"].startswith("kafka-secure://")
    assert place["credentials"] == {
        "username": "env:KAFKA_USERNAME", "password": "env:KAFKA_PASSWORD", "mechanism": "SCRAM-SHA-256",
    }  # fmt: skip
    [told] = [one for one in found.findings if one.kind == "by hand"]
    assert (told.line, told.hint) == (3, "set KAFKA_USERNAME and KAFKA_PASSWORD")
    file = tmp_path / "swf.yaml"
    file.write_text(write_yaml(found.settings))
    variables = {"KAFKA_USERNAME": "u", "KAFKA_PASSWORD": "made-up"}
    EventSettings.read(variables, file=file)


def test_what_only_consumers_have_is_left_out_of_sinks() -> None:
    c = "mp.messaging.outgoing.c"
    [group, *_] = made(f"{c}.group.id=g\n{c}.connector=smallrye-kafka\n{c}.topic=t\n").findings
    assert (group.kind, "left out" in group.message) == ("rewritten", True)


@pytest.mark.parametrize(("text", "hint"), [
    ("quarkus.tls.trust-all=true", "verify: false"),
    ("quarkus.rest-client.shop_yaml.hostname-verifier=org.apache.NoopHostnameVerifier", "verify: false"),
    ("quarkus.rest-client.shop_yaml.trust-store=a.jks", "'ca' of 'tls' under 'services' and 'shop.yaml'"),
    ("quarkus.tls.trust-store.jks.path=a.jks", "'ca' of 'tls' under 'services' and 'shop.yaml'"),
    ("quarkus.tls.other.trust-store.pem.certs=a.pem", "'tls' of the host"),
    ("quarkus.http.ssl.certificate.key-store-file=a.p12", "--tls-cert"),
    ("quarkus.oidc-client.auth-server-url=https://id", "oauth2"),
    ("quarkus.rest-client.shop_yaml.url=${SHOP_URL}", "the value that it has there"),
    ("mp.messaging.incoming.a.connector=smallrye-kafka\nkafka.ssl.keystore.location=a.jks", "'cert' and 'key'"),
    ("mp.messaging.incoming.a.connector=smallrye-rabbitmq", "from: amqp://HOST"),
    (("mp.messaging.incoming.a.connector=smallrye-kafka\nmp.messaging.incoming.a.security.protocol=SASL_SSL\n"
     "mp.messaging.incoming.a.sasl.mechanism=GSSAPI"), "use OAUTHBEARER, PLAIN"),
    ("kogito.grpc.stream.timeout=5", "'timeout' under 'functions'"),
    ("quarkus.openapi-generator.codegen.spec.shop_yaml.config-key=shop", "'configuredAs'"),
])  # fmt: skip
def test_what_needs_a_hand_says_what_to_write(text: str, hint: str) -> None:
    hints = [one.hint for one in made(text).findings if one.kind == "by hand"]
    assert [one for one in hints if hint in str(one)], hints


@pytest.mark.parametrize(("text", "message"), [
    ("kafka.bootstrap.servers=k:9092", "kafka.bootstrap.servers is not written: there is no channel of Kafka"),
    ("mp.messaging.incoming.a.connector=smallrye-amqp\nmp.messaging.incoming.a.address=x",
     "mp.messaging.incoming.a.address is not written: channel 'a' is by hand"),
    ("quarkus.rest-client.shop_yaml.url=http://${A}:${B}",
     "quarkus.rest-client.shop_yaml.url names A and B, which are not among the properties"),
])  # fmt: skip
def test_what_is_not_written_says_why(text: str, message: str) -> None:
    assert message in [one.message for one in made(text).findings]


def test_other_functions_with_the_settings_are_named_once() -> None:
    """Those of all definitions, in one sentence."""
    others = [Called("g", "Shop.yaml#g"), Called("h", "Shop.yaml#h")]
    text = "quarkus.rest-client.shop_yaml.url=http://h"
    [finding] = configuration(PropertiesText("p", text), [Called("f", "shop.yaml#f"), *others, *others]).findings
    assert finding.message.endswith("what 'g' (Shop.yaml#g) and 'h' (Shop.yaml#h) call, too")


MANIFEST = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: a-props}
data:
  application.properties: |
    # where it is
    quarkus.rest-client.shop_yaml.url=http://nobody

    quarkus.oidc-client.client-id=shop
"""
FLOW = """\
apiVersion: sonataflow.org/v1alpha08
kind: SonataFlow
metadata:
  name: a
spec:
  flow:
    start: A
    states:
      - name: A
        type: inject
        data: {text: "${ .a }"}
        end: true
"""


@pytest.mark.parametrize(("text", "lines"), [
    (f"{FLOW}---\n{MANIFEST}", (11, 20, 22)),
    ("apiVersion: v1\nkind: List\nitems:\n" + "".join(
        "- " + part.replace("\n", "\n  ").rstrip() + "\n" for part in (MANIFEST, FLOW)
    ) + "metadata: {}\n", (23, 10, 12)),
    (FLOW + "---\n" + MANIFEST.partition("\ndata:")[0] + "\ndata:\n  application.properties: "
     '"quarkus.rest-client.shop_yaml.url=http://nobody\\nquarkus.oidc-client.client-id=shop"\n', (11, 18, 18)),
])  # fmt: skip
def test_findings_in_manifests_have_their_lines(text: str, lines: tuple[int, ...], tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(text)
    found = {one.message.partition(" ")[0]: one.line for one in migrate(tmp_path).findings}
    assert (
        found["state"], found["quarkus.rest-client.shop_yaml.url:"], found["quarkus.oidc-client.client-id"],
    ) == lines  # fmt: skip


def test_files_of_profiles_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.sw.yaml").write_text(
        "{id: a, start: A, functions: [{name: f, type: custom, operation: 'rest:get:/x'}], "
        "states: [{name: A, type: operation, actions: [{functionRef: f}], end: true}]}"
    )
    for profile, host in (("", "a"), ("-prod", "b"), ("-knative", "c")):
        (tmp_path / f"application{profile}.properties").write_text(f"kogito.sw.functions.f.host={host}\n")
    migration = migrate(tmp_path)
    [settings] = [one.content.decode() for one in migration.files if one.path == "swf.yaml"]
    assert "http://b" in settings
    told = [one.file for one in migration.findings if "the profile 'knative'" in one.message]
    assert told == ["application-knative.properties"]
