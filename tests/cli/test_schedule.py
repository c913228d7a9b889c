"""`swf schedule`, as a process."""

import json
from pathlib import Path
from typing import Any

import pytest
import typer

from swf_temporal.cli.schedule import EXAMPLES, GROUP
from tests.cli.conftest import On, Swf, until

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


@pytest.mark.temporal
def test_life_of_a_schedule(on: On) -> None:
    on.swf.write("timed.yaml", TIMED.format(id="timed", version="1.0"))
    [made] = on.json("schedule", "apply", "timed.yaml", "--input", '{"word": "hi"}')
    assert (made["id"], made["definition"], made["outcome"]) == ("swf-timed", "timed", "created")
    assert on("schedule", "apply", "timed.yaml", "--input", '{"word": "hi"}').out.splitlines()[1].split()[:2] == [
        "timed",
        "unchanged",
    ]
    assert on("schedule", "pause", "timed", "--note", "until Monday").err == "paused the schedule of timed\n"
    on.swf.write("timed.yaml", TIMED.format(id="timed", version="2.0"))
    [changed] = on.json("schedule", "apply", "timed.yaml", "--input", '{"word": "ho"}')
    assert (changed["outcome"], changed["paused"]) == ("updated", True)
    assert on("schedule", "trigger", "timed").code == 0
    shown = until(lambda: on.json("schedule", "show", "timed"), lambda seen: seen["recent"])
    assert (shown["version"], shown["note"], shown["started"]) == ("2.0", "until Monday", 1)
    instance = shown["recent"][0]["instance"]
    assert on.swf("result", instance, env=on.env).out == '{"word": "ho", "said": "ho"}\n'
    lines = on("schedule", "show", "timed").out.splitlines()
    assert lines[:3] == ["swf-timed: starts timed 2.0, paused", "  note: until Monday", "  1 started, 0 missed"]
    assert lines[3].endswith(instance)
    assert lines[4].endswith("to come, once it is resumed")
    assert on("schedule", "resume", "timed").err == "resumed the schedule of timed\n"
    assert not on.json("schedule", "show", "timed")["paused"]
    assert on("schedule", "delete", "timed").err == "deleted the schedule of timed\n"
    assert on("schedule", "show", "timed").code == 2


@pytest.mark.temporal
def test_folder(on: On) -> None:
    for name in ("b", "a"):
        on.swf.write(f"flows/{name}.yaml", TIMED.format(id=f"listed-{name}", version="1.0"))
    on.swf.write("flows/plain.yaml", (on.swf.folder / "hello.yaml").read_text())
    rows = on.json("schedule", "apply", "flows", "--paused")
    assert [(row["definition"], row["paused"]) for row in rows] == [("listed-a", True), ("listed-b", True)]

    def listed() -> list[Any]:
        return [row for row in on.json("schedule", "list") if row["definition"].startswith("listed-")]

    found = until(listed, lambda rows: len(rows) == 2)
    assert [(row["definition"], row["paused"]) for row in found] == [("listed-a", True), ("listed-b", True)]
    assert "listed-a" in on("schedule", "list").out
    on.swf.write("flows/a.yaml", TIMED.format(id="listed-a", version="2.0").replace(TIMES, "start: Say"))
    applied = on("schedule", "apply", "flows")
    assert [row.split()[0] for row in applied.out.splitlines()[1:]] == ["listed-b"]
    assert applied.err.startswith("warning: listed-a no longer has a schedule, but the server still starts the text")
    assert "`swf schedule delete listed-a` ends that" in applied.err
    assert "plain" not in applied.err
    refused = on("schedule", "apply", "flows/b.yaml", "flows/a.yaml")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("error: the definition 'listed-a' has no schedule\n")
    assert "`swf schedule delete listed-a` ends it" in refused.err
    assert on("schedule", "apply", "hello.yaml").err.startswith("error: the definition 'hello' has no schedule\n")


@pytest.mark.temporal
@pytest.mark.parametrize("command", ["show", "pause", "resume", "trigger", "delete"])
def test_no_such_schedule(on: On, command: str) -> None:
    ended = on("schedule", command, "nowhere")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: the definition 'nowhere' has no schedule on the server\n")


def test_preview(swf: Swf) -> None:
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
    swf.write(
        "once.yaml", TIMED.replace('cron: "0 30 2 * * ?"', "interval: 2020-01-01/P1D").format(id="once", version="1.0")
    )
    ended = swf("schedule", "preview", "once.yaml", "--from", "2020-06-01")
    assert (ended.code, ended.out, ended.err) == (0, "", "it starts nothing after 2020-06-01T00:00:00+02:00\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_documented(name: str) -> None:
    section = PAGE.partition("\n## swf schedule\n")[2].partition("\n## ")[0]
    assert f"swf schedule {name}" in section
    for parameter in COMMANDS[name].params:
        for option in [] if parameter.hidden else parameter.opts:
            if option.startswith("--") and option != "--help":
                assert f"`{option}" in section, f"{option} of swf schedule {name}"
    assert COMMANDS[name].epilog == EXAMPLES[name]
    assert EXAMPLES[name].startswith(f"Example: swf schedule {name} ")


@pytest.mark.temporal
def test_the_task_queue_of_the_environment(on: On) -> None:
    on.env["SWF_TASK_QUEUE"] = "scheduled-elsewhere"
    on.swf.write("queued.yaml", TIMED.format(id="queued", version="1.0"))
    applied = on("schedule", "apply", "queued.yaml", "--paused")
    on("schedule", "delete", "queued")
    assert (applied.code, "serving the task queue 'scheduled-elsewhere'" in applied.err) == (0, True)
