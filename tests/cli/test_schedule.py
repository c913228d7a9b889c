"""`swf schedule`, as a process."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
import typer

from swf_temporal.cli.schedule import EXAMPLES, GROUP
from tests.cli.conftest import PATIENCE, Dev, Ended, Swf

COMMAND: Any = typer.main.get_command(GROUP)
COMMANDS: dict[str, Any] = COMMAND.commands
PAGE = (Path(__file__).parents[2] / "docs" / "cli" / "instances.md").read_text()

TIMES = 'start: {stateName: Say, schedule: {cron: "0 30 2 * * ?", timezone: Europe/Berlin}}'
TIMED = """\
id: {id}
specVersion: "0.8"
version: "{version}"
start: {{stateName: Say, schedule: {{cron: "0 30 2 * * ?", timezone: Europe/Berlin}}}}
states:
  - {{name: Say, type: inject, data: {{said: "${{ .word }}"}}, end: true}}
"""


class On:
    """Runs `swf schedule` on the server of `swf dev`."""

    def __init__(self, swf: Swf, dev: Dev) -> None:
        self.swf = swf
        self.env = {"TEMPORAL_ADDRESS": dev.address}

    def __call__(self, *arguments: str) -> Ended:
        ended = self.swf("schedule", *arguments, env=self.env)
        assert "Traceback" not in ended.err
        return ended

    def json(self, *arguments: str) -> Any:
        ended = self(*arguments, "--output", "json")
        assert ended.code == 0, ended.err
        return json.loads(ended.out)


@pytest.fixture
def on(swf: Swf, dev: Dev) -> On:
    return On(swf, dev)


@pytest.mark.temporal
def test_life_of_a_schedule(on: On) -> None:
    """A schedule is made, changed in place, paused, triggered, shown, resumed and deleted."""
    on.swf.write("timed.yaml", TIMED.format(id="timed", version="1.0"))
    [made] = on.json("apply", "timed.yaml", "--input", '{"word": "hi"}')
    assert (made["id"], made["definition"], made["outcome"]) == ("swf-timed", "timed", "created")
    assert on("apply", "timed.yaml", "--input", '{"word": "hi"}').out.splitlines()[1].split()[:2] == [
        "timed",
        "unchanged",
    ]
    assert on("pause", "timed", "--note", "until Monday").err == "paused the schedule of timed\n"
    on.swf.write("timed.yaml", TIMED.format(id="timed", version="2.0"))
    [changed] = on.json("apply", "timed.yaml", "--input", '{"word": "ho"}')
    assert (changed["outcome"], changed["paused"]) == ("updated", True)
    assert on("trigger", "timed").code == 0
    shown = _until_started(on, "timed")
    assert (shown["version"], shown["note"], shown["started"]) == ("2.0", "until Monday", 1)
    instance = shown["recent"][0]["instance"]
    assert on.swf("result", instance, env=on.env).out == '{"word": "ho", "said": "ho"}\n'
    lines = on("show", "timed").out.splitlines()
    assert lines[:3] == ["swf-timed: starts timed 2.0, paused", "  note: until Monday", "  1 started, 0 missed"]
    assert lines[3].endswith(instance)
    assert lines[4].endswith("to come, once it is resumed")
    assert on("resume", "timed").err == "resumed the schedule of timed\n"
    assert not on.json("show", "timed")["paused"]
    assert on("delete", "timed").err == "deleted the schedule of timed\n"
    assert on("show", "timed").code == 2


@pytest.mark.temporal
def test_folder(on: On) -> None:
    for name in ("b", "a"):
        on.swf.write(f"flows/{name}.yaml", TIMED.format(id=f"listed-{name}", version="1.0"))
    on.swf.write("flows/plain.yaml", (on.swf.folder / "hello.yaml").read_text())
    rows = on.json("apply", "flows", "--paused")
    assert [(row["definition"], row["paused"]) for row in rows] == [("listed-a", True), ("listed-b", True)]
    end = time.monotonic() + PATIENCE
    while len(found := [row for row in on.json("list") if row["definition"].startswith("listed-")]) < 2:
        assert time.monotonic() < end
    assert [(row["definition"], row["paused"]) for row in found] == [("listed-a", True), ("listed-b", True)]
    assert "listed-a" in on("list").out
    on.swf.write("flows/a.yaml", TIMED.format(id="listed-a", version="2.0").replace(TIMES, "start: Say"))
    applied = on("apply", "flows")
    assert [row.split()[0] for row in applied.out.splitlines()[1:]] == ["listed-b"]
    assert applied.err.startswith("warning: listed-a no longer has a schedule, but the server still starts the text")
    assert "`swf schedule delete listed-a` ends that" in applied.err
    assert "plain" not in applied.err
    refused = on("apply", "flows/b.yaml", "flows/a.yaml")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("error: the definition 'listed-a' has no schedule\n")
    assert "`swf schedule delete listed-a` ends it" in refused.err
    assert on("apply", "hello.yaml").err.startswith("error: the definition 'hello' has no schedule\n")


@pytest.mark.temporal
@pytest.mark.parametrize("command", ["show", "pause", "resume", "trigger", "delete"])
def test_no_such_schedule(on: On, command: str) -> None:
    ended = on(command, "nowhere")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: the definition 'nowhere' has no schedule on the server\n")


def test_preview(swf: Swf) -> None:
    """The times to come are shown by the clocks of the schedule's timezone, without a server."""
    swf.write("timed.yaml", TIMED.format(id="timed", version="1.0"))
    ended = swf("schedule", "preview", "timed.yaml", "-n", "3", "--from", "2026-03-28T00:00:00")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines() == [
        "2026-03-28T02:30:00+01:00", "2026-03-30T02:30:00+02:00", "2026-03-31T02:30:00+02:00",
    ]  # fmt: skip
    ended = swf("schedule", "preview", "timed.yaml", "-n", "1", "--from", "2026-03-28T01:30:00Z", "--output", "json")
    assert json.loads(ended.out) == ["2026-03-30T02:30:00+02:00"]
    assert len(swf("schedule", "preview", "timed.yaml").out.splitlines()) == 10


def test_preview_of_nothing(swf: Swf) -> None:
    """A schedule that is over is told to be so."""
    swf.write(
        "once.yaml", TIMED.replace('cron: "0 30 2 * * ?"', "interval: 2020-01-01/P1D").format(id="once", version="1.0")
    )
    ended = swf("schedule", "preview", "once.yaml", "--from", "2020-06-01")
    assert (ended.code, ended.out, ended.err) == (0, "", "it starts nothing after 2020-06-01T00:00:00+02:00\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["preview", "hello.yaml"], "error: the definition 'hello' has no schedule\n"),
        (["preview", "timed.yaml", "--from", "soon"], "error: --from: 'soon' is not an ISO 8601 date and time\n"),
        (["apply", "empty"], "error: no definition in empty has a schedule\n"),
        (["apply", "timed.yaml", "timed.yaml"], "error: timed.yaml and timed.yaml both define 'timed'"),
        (["apply", "timed.yaml", "--input", "{"], "error: --input is not JSON"),
        (["apply"], "Missing argument 'FILE'"),
        (["often"], "No such command 'often'"),
    ],
)
def test_wrong_use(swf: Swf, arguments: list[str], told: str) -> None:
    swf.write("timed.yaml", TIMED.format(id="timed", version="1.0"))
    (swf.folder / "empty").mkdir()
    assert told in swf.refused("schedule", *arguments)


@pytest.mark.parametrize("name", COMMANDS)
def test_documented(name: str) -> None:
    """The page names each command of the group with its options, and the help of each ends with an example."""
    section = PAGE.partition("\n## swf schedule\n")[2].partition("\n## ")[0]
    assert f"swf schedule {name}" in section
    for parameter in COMMANDS[name].params:
        for option in [] if parameter.hidden else parameter.opts:
            if option.startswith("--") and option != "--help":
                assert f"`{option}" in section, f"{option} of swf schedule {name}"
    assert COMMANDS[name].epilog == EXAMPLES[name]
    assert EXAMPLES[name].startswith(f"Example: swf schedule {name} ")


def _until_started(on: On, definition: str) -> Any:
    end = time.monotonic() + PATIENCE
    while not (shown := on.json("show", definition))["recent"]:
        assert time.monotonic() < end
    return shown


@pytest.mark.temporal
def test_the_task_queue_of_the_environment(on: On) -> None:
    """A schedule is applied for the task queue of the workers; that none serves it is reported."""
    on.env["SWF_TASK_QUEUE"] = "scheduled-elsewhere"
    on.swf.write("queued.yaml", TIMED.format(id="queued", version="1.0"))
    applied = on("apply", "queued.yaml", "--paused")
    on("delete", "queued")
    assert (applied.code, "serving the task queue 'scheduled-elsewhere'" in applied.err) == (0, True)
