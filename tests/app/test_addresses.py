"""Where functions lead, as files on this machine tell it."""

import json
from pathlib import Path
from shutil import copytree

import pytest

from swf_temporal.languages.describing import Facts
from swf_temporal.languages.loading import load
from swf_temporal.sdk.documents import addresses_of, folder_of
from tests.definitions import definition

FUNCTIONS = Path(__file__).parents[1] / "functions"

DEFINITION = definition("""\
id: leads
functions:
  - {name: add, type: rpc, operation: protos/users.proto#UserService#AddUser}
  - {name: tell, type: asyncapi, operation: data/streetlightsapi.yaml#onLightMeasured}
  - {name: hear, type: asyncapi, operation: lamps.json#onCommand}
  - {name: get, operation: data/shop-3.0.yaml#getOrder}
  - {name: broken, type: rpc, operation: protos/broken.proto#UserService#AddUser}
  - {name: far, type: asyncapi, operation: "https://far.example.com/api.yaml#go"}
  - {name: asked, type: rpc, operation: "grpc://far.example.com:1#Users#Go"}
states:
  - name: Call
    type: operation
    actions:
      [{functionRef: add}, {functionRef: tell}, {functionRef: hear}, {functionRef: get}, {functionRef: broken},
       {functionRef: far}, {functionRef: asked}]
    end: true
""")

LAMPS = {
    "asyncapi": "3.0.0",
    "channels": {"commands": {"address": "light/command"}},
    "operations": {"onCommand": {"action": "receive", "channel": {"$ref": "#/channels/commands"}}},
}


@pytest.fixture
def addresses(tmp_path: Path) -> dict[str, Facts]:
    """Return where the functions of a definition lead that lies beside a few documents."""
    for folder in ("data", "protos"):
        copytree(FUNCTIONS / folder, tmp_path / folder)
    (tmp_path / "lamps.json").write_text(json.dumps(LAMPS))
    file = tmp_path / "leads.yaml"
    file.write_text(DEFINITION)
    definition = load(file)
    return addresses_of(folder_of(definition), definition.functions)


def test_each_by_its_document(addresses: dict[str, Facts]) -> None:
    assert addresses["add"] == {"procedure": "shop.users.UserService/AddUser"}
    assert addresses["tell"]["sendsTo"] == "light/measured"
    assert addresses["hear"]["receivesFrom"] == "light/command"
    assert (addresses["get"]["method"], addresses["get"]["path"]) == ("GET", "/orders/{id}")


def test_what_is_wrong(addresses: dict[str, Facts]) -> None:
    assert "cannot be compiled" in addresses["broken"]["problem"]
    assert "\n" not in addresses["broken"]["problem"]


def test_what_is_elsewhere(addresses: dict[str, Facts]) -> None:
    assert addresses["far"] == {"document": "https://far.example.com/api.yaml", "operationId": "go"}
    assert addresses["asked"] == {}
