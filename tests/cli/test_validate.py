"""`swf validate` as a process."""

import json

import pytest

from tests.cli.conftest import BROKEN, HELLO, Swf

WARNED = """\
id: warned
version: "1.0"
specVersion: "0.8"
states: [{name: Say, type: inject, data: {}, end: true, colour: red}]
"""


def test_good_definitions(swf: Swf) -> None:
    """Definitions that can run are counted, and nothing is found."""
    ended = swf("validate", ".")
    assert (ended.code, ended.out) == (0, "")
    assert ended.err == "3 definitions, no errors, no warnings\n"


def test_problems_as_text(swf: Swf) -> None:
    """A problem stands with its place, its line and what was perhaps meant."""
    ended = swf("validate", swf.write("broken.yaml", BROKEN))
    assert ended.code == 1
    assert ended.out.startswith("broken.yaml:5:53  error  transition-target  state 'Say' leads to 'Sya'")
    assert "did you mean" in ended.out


def test_problems_as_json(swf: Swf) -> None:
    ended = swf("validate", "hello.yaml", swf.write("broken.yaml", BROKEN), "--output", "json")
    found = json.loads(ended.out)
    assert ended.code == 1
    assert {key: found[0][key] for key in ("file", "line", "column", "severity", "code")} == {
        "file": "broken.yaml", "line": 5, "column": 53, "severity": "error", "code": "transition-target",
    }  # fmt: skip
    assert found[0].keys() == {"file", "line", "column", "severity", "code", "message", "hint"}


def test_names_the_version(swf: Swf) -> None:
    """A definition that is not of the usual version has a note of which, and of what shows it; it is no problem."""
    file = swf.write(
        "old.yaml", "id: old\nexecTimeout: PT1M\nstates:\n- {name: A, type: inject, data: {}, end: true}\n"
    )
    text, data = swf("validate", file, "--strict"), swf("validate", file, "-o", "json")
    shown = "old.yaml:2:1  note  language-version  this is Serverless Workflow 0.6, which 'execTimeout' shows"

    assert shown in text.out
    assert (text.code, text.err) == (0, "1 definition, no errors, no warnings\n")
    note = json.loads(data.out)[0]
    assert (note["severity"], note["code"], note["version"], note["key"]) == (
        "note", "language-version", "0.6", "execTimeout",
    )  # fmt: skip
    assert (note["line"], note["column"]) == (2, 1)


def test_strict(swf: Swf) -> None:
    """A warning does not stop a definition, unless one asks for that."""
    file = swf.write("warned.yaml", WARNED)
    assert swf("validate", file).code == 0
    assert swf("validate", file, "--strict").code == 1


@pytest.mark.parametrize(
    ("name", "text", "code", "told"),
    [
        ("bad.yaml", "id: [", 1, "error"),
        ("bad.json", '{"id": "x", "states": [}', 1, "error"),
        ("bad.yaml", "id: x\nspecVersion: '0.8'\nstates: 7\n", 1, "states"),
        ("bad.yaml",
         "id: x\nspecVersion: '0.8'\nstates: [{name: A, type: operation, actions: [functionRef: nix], end: true}]\n", 1,
         "'nix'"),
        ("bad.yaml",
         "id: x\nspecVersion: '0.8'\nstates:\n - {name: A, type: inject, data: {a: '${ .a | }'}, end: true}\n", 1,
         "expression"),
    ],
)  # fmt: skip
def test_bad_definitions(swf: Swf, name: str, text: str, code: int, told: str) -> None:
    ended = swf("validate", swf.write(name, text))
    assert ended.code == code
    assert told in ended.out
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(("path", "told"), [("nowhere.yaml", "cannot be read"), ("empty", "no definition in empty")])
def test_nothing_to_read(swf: Swf, path: str, told: str) -> None:
    """A file that is not there, and a folder without definitions, are the caller's mistake."""
    (swf.folder / "empty").mkdir()
    assert told in swf.refused("validate", path)


def test_a_definition_whose_states_are_misspelt(swf: Swf) -> None:
    """A folder is not silent about a definition that has no states by their name; what else says a version is none."""
    swf.write("folder/stats.yaml", HELLO.replace("states:", "stats:"))
    swf.write("folder/bom.json", '{"bomFormat": "CycloneDX", "specVersion": "1.4"}')
    swf.write("folder/good.yaml", HELLO)
    ended = swf("validate", "folder")
    assert ended.code == 1
    assert "folder/stats.yaml:4:1  error  missing  the workflow has no states" in ended.out
    assert "is 'stats' meant as 'states'?" in ended.out
    assert ended.err.endswith("2 definitions, 1 error, no warnings\n")
