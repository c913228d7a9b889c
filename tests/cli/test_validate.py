"""`swf validate` as a process."""

import json

import pytest

from tests.cli.conftest import BROKEN, HELLO, Swf
from tests.definitions import definition

WARNED = definition("id: warned\nstates: [{name: Say, type: inject, data: {}, end: true, colour: red}]\n")


def test_good_definitions(swf: Swf) -> None:
    assert swf("validate", ".") == (0, "", "3 definitions, no errors, no warnings\n")


def test_problems(swf: Swf) -> None:
    ended = swf("validate", swf.write("broken.yaml", BROKEN))
    assert ended.code == 1
    assert ended.out.startswith("broken.yaml:5:53  error  transition-target  state 'Say' leads to 'Sya'")
    assert "did you mean" in ended.out
    found = json.loads(swf("validate", "hello.yaml", "broken.yaml", "--output", "json").out)
    place = {"file": "broken.yaml", "line": 5, "column": 53, "severity": "error", "code": "transition-target"}
    assert found[0].items() >= place.items()
    assert found[0].keys() == {*place, "message", "hint"}


def test_names_the_version(swf: Swf) -> None:
    file = swf.write(
        "old.yaml", "id: old\nexecTimeout: PT1M\nstates:\n- {name: A, type: inject, data: {}, end: true}\n"
    )
    text, data = swf("validate", file, "--strict"), swf("validate", file, "-o", "json")
    shown = "old.yaml:2:1  note  language-version  this is Serverless Workflow 0.6, which 'execTimeout' shows"
    assert shown in text.out
    assert (text.code, text.err) == (0, "1 definition, no errors, no warnings\n")
    note = {"severity": "note", "code": "language-version", "version": "0.6", "key": "execTimeout"}
    assert json.loads(data.out)[0].items() >= {**note, "line": 2, "column": 1}.items()


def test_strict(swf: Swf) -> None:
    file = swf.write("warned.yaml", WARNED)
    assert swf("validate", file).code == 0
    assert swf("validate", file, "--strict").code == 1


@pytest.mark.parametrize(("name", "text", "code", "told"), [
    ("bad.yaml", "id: [", 1, "error"),
    ("bad.json", '{"id": "x", "states": [}', 1, "error"),
    ("bad.yaml", "id: x\nspecVersion: '0.8'\nstates: 7\n", 1, "states"),
    ("bad.yaml",
     "id: x\nspecVersion: '0.8'\nstates: [{name: A, type: operation, actions: [functionRef: nix], end: true}]\n", 1,
     "'nix'"),
    ("bad.yaml",
     "id: x\nspecVersion: '0.8'\nstates:\n - {name: A, type: inject, data: {a: '${ .a | }'}, end: true}\n", 1,
     "expression"),
])  # fmt: skip
def test_bad_definitions(swf: Swf, name: str, text: str, code: int, told: str) -> None:
    ended = swf("validate", swf.write(name, text))
    assert ended.code == code
    assert told in ended.out
    assert "Traceback" not in ended.err


def test_a_definition_whose_states_are_misspelt(swf: Swf) -> None:
    swf.write("folder/stats.yaml", HELLO.replace("states:", "stats:"))
    swf.write("folder/bom.json", '{"bomFormat": "CycloneDX", "specVersion": "1.4"}')
    swf.write("folder/good.yaml", HELLO)
    ended = swf("validate", "folder")
    assert ended.code == 1
    assert "folder/stats.yaml:4:1  error  missing  the workflow has no states" in ended.out
    assert "is 'stats' meant as 'states'?" in ended.out
    assert ended.err.endswith("2 definitions, 1 error, no warnings\n")
