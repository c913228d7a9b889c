"""Commands that run or serve definitions tell what is doubtful about them, and refuse it if that is asked for."""

from pathlib import Path

import pytest

from swf_temporal.sdk.rereading import LiveCatalogue
from tests.cli.conftest import Swf
from tests.definitions import definition

TRAP = definition("""\
id: trap
functions: [{name: say, type: custom, operation: sysout}]
states:
  - name: Say
    type: operation
    actions: [{functionRef: {refName: say, arguments: {message: .message}}}]
    end: true
""")
PARENT = definition("id: parent\nstates: [{name: Run, type: operation, actions: [{subFlowRef: trap}], end: true}]\n")
TOLD = "'.message' is sent as text\n"
HINT = "^ did you mean '${ .message }'?\n"


def test_a_run_tells_what_is_sent_as_text(swf: Swf) -> None:
    file = swf.write("trap.yaml", TRAP)
    script = swf.write("script.yaml", "say: null\n")
    ended = swf("run", file, "--simulate", "--script", script)
    assert (ended.code, TOLD in ended.err, HINT in ended.err) == (0, True, True)
    ended = swf("run", file, "--simulate", "--script", script, "--strict")
    assert (ended.code, ended.out, HINT in ended.err) == (2, "", True)
    assert ended.err.endswith("nothing was done: 1 problem\n")


def test_a_run_tells_it_of_sub_workflows(swf: Swf) -> None:
    swf.write("trap.yaml", TRAP)
    script = swf.write("script.yaml", "say: null\n")
    ended = swf("run", swf.write("parent.yaml", PARENT), "--simulate", "--script", script)
    assert (ended.code, ended.err.count(HINT)) == (0, 1)
    assert swf("run", "parent.yaml", "--simulate", "--script", script, "--strict").code == 2
    assert HINT not in swf("run", "hello.yaml", "--simulate", "--strict").err
    Path(swf.folder, "lost.yaml").symlink_to("nowhere.yaml")
    ended = swf("run", "parent.yaml", "--simulate", "--script", script)
    assert (ended.code, "lost.yaml is left out: lost.yaml cannot be read: No such file" in ended.err) == (0, True)


@pytest.mark.parametrize("command", [("start", "traps/trap.yaml"), ("worker", "traps"), ("run", "traps/trap.yaml")])
def test_strict_commands_refuse_it_before_they_look_for_a_server(swf: Swf, command: tuple[str, str]) -> None:
    Path(swf.folder, "traps").mkdir()
    swf.write("traps/trap.yaml", TRAP)
    ended = swf(*command, "--strict", "--address", "localhost:1")
    assert (ended.code, HINT in ended.err) == (2, True)
    assert ended.err.endswith("nothing was done: 1 problem\n")


def test_a_folder_that_is_followed_strictly(tmp_path: Path) -> None:
    file = tmp_path / "trap.yaml"
    file.write_text(TRAP)
    assert [one.id for one in _told(LiveCatalogue(tmp_path), "serving trap")] == ["trap"]
    strict = LiveCatalogue(tmp_path, strict=True)
    assert list(_told(strict, "did you mean '${ .message }'?")) == []
    file.write_text(TRAP.replace(".message", '"${ .message }"'))
    assert [one.id for one in _told(strict, "serving trap")] == ["trap"]
    file.write_text(TRAP.replace('"1.0"', '"2.0"'))
    assert [one.version for one in _told(strict, "the last valid version is served")] == ["1.0"]


def _told(live: LiveCatalogue, what: str) -> LiveCatalogue:
    assert what in "\n".join(live.refresh())
    return live
