"""`swf migrate` as a process: what is left to do, in order, and the exit code."""

from pathlib import Path

from tests.cli.conftest import Swf

FLOW = """\
id: shop
start: Send
functions:
  - {name: send, operation: specs/shop.yaml#send}
  - {name: greet, type: custom, operation: 'service:java:org.acme.Greeter::greet'}
states:
  - name: Send
    type: operation
    actions: [{functionRef: send}, {functionRef: {refName: greet, arguments: {name: .name}}}]
    end: true
"""
PROPERTIES = """\
quarkus.rest-client.shop_yaml.verify-host=false
quarkus.openapi-generator.shop_yaml.auth.basic.username=ann
quarkus.openapi-generator.shop_yaml.auth.basic.password=hunter2
"""
LEFT = """\
What is left to do:
  1. migrated/shop.sw.yaml:7: function-document: function 'send': its document 'specs/shop.yaml' is not in the project \
(put the file at specs/shop.yaml)
  2. migrated/functions.py:13: the function 'org.acme.Greeter::greet' is to be written
       @registry.custom("org.acme.Greeter::greet")
       def org_acme_Greeter_greet(name: Any) -> Any:
  3. application.properties:1: quarkus.rest-client.shop_yaml.verify-host: names of servers are verified \
(write 'tls: {verify: false}' under 'hosts' and the name of that one host)
       hosts:
         NAME: {tls: {verify: false}}
  4. application.properties:2: quarkus.openapi-generator.shop_yaml.auth.basic.username is the property 'username' of \
the secret 'shop.yaml.basic' (set SWF_SECRET_SHOP_YAML_BASIC, an object with this property)
  5. application.properties:3: quarkus.openapi-generator.shop_yaml.auth.basic.password is the property 'password' of \
the secret 'shop.yaml.basic' (set SWF_SECRET_SHOP_YAML_BASIC, an object with this property)
       export SWF_SECRET_SHOP_YAML_BASIC='{"username": "…", "password": "…"}'
"""
DONE = "{id: done, specVersion: '0.8', start: A, states: [{name: A, type: inject, data: {}, end: true}]}"


def project(folder: Path) -> None:
    folder.mkdir()
    (folder / "shop.sw.yaml").write_text(FLOW)
    (folder / "application.properties").write_text(PROPERTIES)


def test_ends_with_what_is_left_to_do(swf: Swf) -> None:
    project(swf.folder / "project")
    ended = swf("migrate", "project", "--write", "migrated")
    assert ended.code == 1
    assert ended.out.endswith(f"1 definition: 1 needs a hand\n\n{LEFT}")


def test_checks_without_writing(swf: Swf) -> None:
    """The exit code says whether anything would change, or is left to do."""
    project(swf.folder / "project")
    ended = swf("migrate", "project", "--check")
    assert ended.code == 1
    assert ended.out.startswith(
        "shop.sw.yaml would be rewritten\n1 definition: 1 needs a hand\n\nWhat is left to do:\n"
    )
    (swf.folder / "done").mkdir()
    (swf.folder / "done" / "done.sw.yaml").write_text(DONE)
    assert swf("migrate", "done", "--check") == (0, "1 definition: 1 runs as it is\n", "")
    (swf.folder / "done" / "done.sw.yaml").write_text(DONE.replace("specVersion: '0.8', ", ""))
    assert swf("migrate", "done", "--check").code == 1
    assert swf("migrate", "done").code == 0
    assert "leave out --write" in swf.refused("migrate", "done", "--check", "--write", "there")
