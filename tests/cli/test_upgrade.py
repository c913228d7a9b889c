"""`swf upgrade` as a process."""

import json

import pytest

from tests.cli.conftest import HELLO, Swf

OLD = "id: old\nstates:\n  - {name: A, type: delay, timeDelay: PT1S, end: true}\n"
NEW = "id: old\nspecVersion: '0.8'\nstates:\n  - {name: A, type: sleep, duration: PT1S, end: true}\n"
PARTIAL = "id: old\nstates:\n  - {name: A, type: subflow, workflowId: w, repeat: {max: 2}, end: true}\n"


def test_prints_the_definition(swf: Swf) -> None:
    """The definition goes to stdout, what was changed to stderr."""
    ended = swf("upgrade", swf.write("old.yaml", OLD))

    assert (ended.code, ended.out) == (0, NEW)
    assert "old.yaml:3: respelled: timeDelay is duration\n" in ended.err
    assert ended.err.endswith("old.yaml: 0.6, rewritten\n")


def test_writes_files(swf: Swf) -> None:
    file = swf.write("old.yaml", OLD)
    assert swf("upgrade", file, "--check").code == 1
    assert swf("upgrade", file, "--write").code == 0
    assert (swf.folder / "old.yaml").read_text() == NEW
    ended = swf("upgrade", file, "--check")
    assert (ended.code, ended.err) == (0, "old.yaml: 0.8, nothing to change\n")


def test_shows_a_difference(swf: Swf) -> None:
    ended = swf("upgrade", swf.write("old.yaml", OLD), "--diff")

    assert ended.code == 0
    assert "-  - {name: A, type: delay, timeDelay: PT1S, end: true}\n" in ended.out
    assert (swf.folder / "old.yaml").read_text() == OLD


def test_what_cannot_be_said_is_not_written(swf: Swf) -> None:
    ended = swf("upgrade", swf.write("old.yaml", PARTIAL), "--write")

    assert ended.code == 1
    assert "old.yaml:3: cannot be expressed: the repeat of state 'A', which has max\n" in ended.err
    assert (swf.folder / "old.yaml").read_text() == PARTIAL


def test_tells_programs(swf: Swf) -> None:
    ended = swf("upgrade", swf.write("old.yaml", OLD), "--check", "-o", "json")
    (facts,) = json.loads(ended.out)

    assert (facts["file"], facts["from"], facts["to"], facts["changed"], facts["replaced"]) == (
        "old.yaml", "0.6", "0.8", True, False,
    )  # fmt: skip
    assert {"kind": "respelled", "message": "timeDelay is duration", "line": 3} in facts["changes"]


def test_several_are_not_printed(swf: Swf) -> None:
    ended = swf("upgrade", swf.write("old.yaml", OLD), swf.write("hello2.yaml", HELLO))

    assert ended.code == 2
    assert "use --write, --diff or --check for more than one definition" in ended.err


def test_options_exclude_each_other(swf: Swf) -> None:
    assert swf("upgrade", swf.write("old.yaml", OLD), "--check", "--write").code == 2


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
