"""An option that is a setting is made of its field, and of nothing else."""

import inspect
import re
from enum import StrEnum
from typing import Annotated, Any, ClassVar

import pytest
import typer
from pydantic import Field
from typer.testing import CliRunner

from swf_temporal.cli import worker as worker_command
from swf_temporal.cli.lazy import LazyGroup, QuickCommand
from swf_temporal.cli.setting_options import Given, options_of, taking
from swf_temporal.settings.configuration import Section
from swf_temporal.settings.forms import WORD, Count, Name, Port, Size, Whole
from swf_temporal.settings.http import GatewaySettings
from swf_temporal.settings.values import OPTION, Option
from swf_temporal.settings.worker import WorkerSettings

WORKER: Any = LazyGroup().get_command(None, "worker")
OPTIONS = dict(options_of(WorkerSettings))
BOUNDED = [name for name in OPTIONS if getattr(OPTIONS[name].annotation.__metadata__[0], "min", None) is not None]


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Invented(Section):
    """Settings of what is not there, with an option of each kind."""

    prefix: ClassVar[str] = "SWF_"

    most_things: Annotated[Count, OPTION] = 7
    """The maximum number of things in `memory`. Others are forgotten."""
    lanes: Annotated[Whole, OPTION] = Field(4, ge=2, le=8)
    """The lanes that it has."""
    port: Annotated[Port | None, Option("--listen")] = None
    """Listen on this port."""
    colour: Annotated[Colour, WORD, OPTION] = Colour.RED
    """The colour of it."""
    loud: Annotated[bool, OPTION] = False
    """Say more."""
    owner: Annotated[Name | None, Option(metavar="NAME", default="nobody")] = None
    """Whose it is."""
    most_bytes: Annotated[Size, Option(metavar="SIZE")] = 1024
    """The largest of them."""
    quiet: int = 0
    """No option."""


@pytest.fixture
def runner() -> tuple[typer.Typer, dict[str, object]]:
    given: dict[str, object] = {}
    app = typer.Typer(rich_markup_mode=None, add_completion=False)

    @app.command(cls=QuickCommand)
    @taking("settings", Invented)
    def command(path: str = ".", *, settings: Given, strict: bool = False) -> None:
        given.update(settings, path=path, strict=strict)

    return app, given


Program = tuple[typer.Typer, dict[str, object]]


def _help(app: typer.Typer) -> str:
    return " ".join(CliRunner().invoke(app, ["--help"], env={"COLUMNS": "120"}).output.split())


@pytest.mark.parametrize(
    "text",
    ["--most-things <int range> The maximum number of things in memory. [default: (7); x>=1]",
     "--lanes <int range> The lanes that it has. [default: (4); 2<=x<=8]",
     "--listen <int range> Listen on this port. [1<=x<=65535]",
     "--colour <red|blue> The colour of it. [default: (red)]", "--loud Say more. --owner",
     "--owner NAME Whose it is. [default: (nobody)]", "--most-bytes SIZE The largest of them. [default: (1024)]"],
)  # fmt: skip
def test_its_help_is_that_of_the_field(runner: Program, text: str) -> None:
    said = _help(runner[0])
    assert text in said
    assert "--quiet" not in said


def test_what_is_given_is_handed_on_by_name(runner: Program) -> None:
    """As what the section reads; what is not given is None, so that variables and the file have their say."""
    app, given = runner
    arguments = ["--most-things", "3", "--colour", "blue", "--loud", "--most-bytes", "2KiB", "--strict"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    unsaid = {"lanes": None, "port": None, "owner": None}
    said = {"most_things": 3, "colour": Colour.BLUE, "loud": True, "most_bytes": "2KiB"}
    assert given == {**unsaid, **said, "path": ".", "strict": True}
    del given["path"], given["strict"]
    assert Invented.read({"SWF_LANES": "5"}, arguments=given) == Invented(
        most_things=3, lanes=5, colour=Colour.BLUE, loud=True, most_bytes=2048
    )


@pytest.mark.parametrize(("arguments", "message"), [
    (["--most-things", "0"], "Invalid value for '--most-things': Input should be greater than or equal to 1"),
    (["--lanes", "9"], "Invalid value for '--lanes': Input should be less than or equal to 8"),
    (["--listen", "0"], "Invalid value for '--listen': Input should be greater than or equal to 1"),
    (["--colour", "green"], "Invalid value for '--colour': 'green' is not one of 'red', 'blue'."),
    (["--owner", " "], "Invalid value for '--owner': it is empty"),
])  # fmt: skip
def test_its_bounds_are_those_of_the_field(runner: Program, arguments: list[str], message: str) -> None:
    refused = CliRunner().invoke(runner[0], arguments)
    assert (refused.exit_code, runner[1]) == (2, {})
    assert message in refused.output


def test_a_name_that_is_no_option_is_noticed() -> None:
    with pytest.raises(AssertionError):
        taking("settings", Invented, "quiet")


@pytest.mark.parametrize("name", OPTIONS)
def test_a_worker_has_each_with_its_default(name: str) -> None:
    """It is shown where there is one, and the module of the command names neither the setting nor its option."""
    [parameter] = [one for one in WORKER.params if one.name == name]
    default = WorkerSettings.model_fields[name].default
    assert parameter.help
    if default is not None and not isinstance(default, bool):
        assert parameter.show_default == str(default)
    written = inspect.getsource(worker_command).partition("@taking")[2]
    assert not re.search(rf"{parameter.opts[0]}\b|\b{name}\s*[:=]", written)


@pytest.mark.parametrize("name", BOUNDED)
def test_a_worker_refuses_what_is_out_of_bounds(name: str) -> None:
    [parameter] = [one for one in WORKER.params if one.name == name]
    least = OPTIONS[name].annotation.__metadata__[0].min
    with pytest.raises(typer.BadParameter, match=f"greater than or equal to {least}$") as refused:
        WORKER.make_context("worker", [parameter.opts[0], str(least - 1)])
    assert refused.value.param is parameter


def test_a_gateway_has_all_of_its_section() -> None:
    gateway: Any = LazyGroup().get_command(None, "gateway")
    assert {name for name, _ in options_of(GatewaySettings)} <= {one.name for one in gateway.params}
