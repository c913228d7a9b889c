"""`swf upgrade` as a process."""

import json

import pytest

from tests.cli.conftest import HELLO, Swf

OLD = "id: old\nstates:\n  - {name: A, type: delay, timeDelay: PT1S, end: true}\n"
NEW = "id: old\nspecVersion: '0.8'\nstates:\n  - {name: A, type: sleep, duration: PT1S, end: true}\n"
PARTIAL = "id: old\nstates:\n  - {name: A, type: subflow, workflowId: w, repeat: {max: 2}, end: true}\n"


def test_prints_the_definition(swf: Swf) -> None:
    ended = swf("upgrade", swf.write("old.yaml", OLD))
    assert (ended.code, ended.out) == (0, NEW)
    assert "old.yaml:3: respelled: timeDelay is duration\n" in ended.err
    assert ended.err.endswith("old.yaml: 0.6 to 0.8, rewritten\n")
    several = swf.refused("upgrade", "old.yaml", swf.write("hello2.yaml", HELLO))
    assert "use --write, --diff or --check for more than one definition" in several
    assert "exclude" in swf.refused("upgrade", "old.yaml", "--check", "--write")
    [facts] = json.loads(swf("upgrade", "old.yaml", "--check", "-o", "json").out)
    told = {"file": "old.yaml", "from": "0.6", "to": "0.8", "changed": True, "replaced": False}
    assert facts.items() >= told.items()
    assert {"kind": "respelled", "message": "timeDelay is duration", "line": 3} in facts["changes"]


def test_writes_files_or_shows_a_difference(swf: Swf) -> None:
    file = swf.write("old.yaml", OLD)
    shown = swf("upgrade", file, "--diff")
    assert (shown.code, (swf.folder / "old.yaml").read_text()) == (0, OLD)
    assert "-  - {name: A, type: delay, timeDelay: PT1S, end: true}\n" in shown.out
    assert swf("upgrade", file, "--check").code == 1
    assert swf("upgrade", file, "--write").code == 0
    assert (swf.folder / "old.yaml").read_text() == NEW
    assert swf("upgrade", file, "--check") == (0, "", "old.yaml: 0.8, nothing to change\n")


def test_what_cannot_be_said_is_not_written(swf: Swf) -> None:
    ended = swf("upgrade", swf.write("old.yaml", PARTIAL), "--write")
    assert (ended.code, (swf.folder / "old.yaml").read_text()) == (1, PARTIAL)
    assert "old.yaml:3: cannot be expressed: the repeat of state 'A', which has max\n" in ended.err


def test_another_language_is_in_a_namespace(swf: Swf) -> None:
    ended = swf("upgrade", swf.write("new.yaml", NEW), "--to", "1.0", "--namespace", "shop")
    assert ended.code == 0
    assert "namespace: shop\n" in ended.out
    assert ended.out.endswith("do:\n  - A:\n      wait: PT1S\n")
    told = swf("upgrade", swf.write("kept.yaml", f"{NEW}keepActive: true\n"), "--to", "1.0")
    assert (told.code, told.err.splitlines()[0]) == (
        0,
        "kept.yaml:5: differs: 1.0 has no keepActive: an instance completes at its end",
    )
    late = swf("upgrade", swf.write("late.yaml", f"{NEW}version: 2\nkeepActive: true\n"), "--to", "1.0")
    lines = [int(one.split(":")[1]) for one in late.err.splitlines()[:-1]]
    assert lines == sorted(lines)
    assert len(lines) > 1
    each = "  - {name: %s, type: foreach, inputCollection: .a, iterationParam: b, actions: [{subFlowRef: c}], %s}\n"
    states = each % ("A", "transition: B") + each % ("B", "transition: C") + each % ("C", "end: true")
    twice = swf("upgrade", swf.write("twice.yaml", f"id: one\nspecVersion: '0.8'\nstates:\n{states}"), "--to", "1.0")
    also = "twice.yaml:4: differs: an iteration sees what those before it merged into the data (also in lines 5 and 6)"
    assert also in twice.err
    text = f"{NEW}expressionLang: jsonpath\n"
    refused = swf("upgrade", swf.write("paths.yaml", text), "--to", "1.0", "--write")
    assert (refused.code, (swf.folder / "paths.yaml").read_text()) == (1, text)
    assert "paths.yaml:1: cannot be expressed: expressionLang jsonpath\n" in refused.err


def test_links_out_of_a_folder_are_not_replaced(swf: Swf) -> None:
    swf.write("elsewhere/old.yaml", OLD)
    swf.write("flows/other.yaml", OLD)
    (swf.folder / "flows" / "old.yaml").symlink_to("../elsewhere/old.yaml")
    refused = swf.refused("upgrade", "flows", "--write")
    assert "flows/old.yaml is not replaced: links lead from it out of flows" in refused
    assert (swf.folder / "elsewhere" / "old.yaml").read_text() == OLD
    assert (swf.folder / "flows" / "other.yaml").read_text() == OLD


@pytest.mark.parametrize(
    "options", [["graph", "--save"], ["test", "--report"], ["test", "--junit"]], ids=["a picture", "a page", "a report"]
)
def test_nothing_is_written_through_a_link(swf: Swf, options: list[str]) -> None:
    swf.write("scenarios.yaml", "scenario: Says hello\nworkflow: hello.yaml\nexpect: {calls: {}}\n")
    (swf.folder / "there.svg").symlink_to("nowhere.svg")
    command, option = options
    ended = swf(command, "hello.yaml" if command == "graph" else "scenarios.yaml", option, "there.svg")
    assert ended.code == 2
    assert "there.svg cannot be written: it is a link to a file that does not exist" in ended.err
    assert not (swf.folder / "nowhere.svg").exists()
