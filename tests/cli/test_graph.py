"""`swf graph` as a process."""

import json

import pytest

from tests.cli.conftest import Swf
from tests.replay import corpus


def test_svg_on_stdout(swf: Swf) -> None:
    ended = swf("graph", "waiter.yaml")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("<svg ")
    assert 'data-path="Wait"' in ended.out


@pytest.mark.parametrize(
    ("name", "first"), [("a.svg", b"<svg "), ("a.html", b"<!doctype html>"), ("a.png", b"\x89PNG")]
)
def test_saves_in_the_form_of_the_ending(swf: Swf, name: str, first: bytes) -> None:
    ended = swf("graph", "waiter.yaml", "--save", name)
    assert (ended.code, ended.out) == (0, "")
    assert (swf.folder / name).read_bytes().startswith(first)


def test_several_definitions_are_a_page(swf: Swf) -> None:
    assert swf("graph", "waiter.yaml", "hello.yaml", "-o", "html").out.count("<svg ") == 2
    refused = swf("graph", "waiter.yaml", "hello.yaml")
    assert (refused.code, refused.out) == (2, "")
    assert "holds one picture" in refused.err


def test_a_file_that_cannot_be_written(swf: Swf) -> None:
    assert "cannot be written" in swf.refused("graph", "waiter.yaml", "--save", "not/there.svg")


def test_an_instance_from_its_history(swf: Swf) -> None:
    """A file with a history is all that is needed to draw an instance."""
    recorded = next(one.execution for one in corpus.read(corpus.releases()[-1]).executions if not one.is_virtual)
    swf.write("history.json", json.dumps(recorded.history))
    ended = swf("graph", "--history", "history.json")
    assert (ended.code, ended.err) == (0, "")
    assert f"instance {recorded.workflow_id}: " in ended.out
    page = swf("graph", "--history", "history.json", "-o", "html").out
    assert page.count("<svg ") == 2
    assert 'class="bar"' in swf("graph", "--history", "history.json", "--timeline").out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "not clear what to draw"),
        (["waiter.yaml", "--history", "waiter.yaml"], "not clear what to draw"),
        (["waiter.yaml", "--timeline"], "no effect without an instance"),
        (["waiter.yaml", "--address", "localhost:1"], "no effect without --instance"),
        (["--history", "nosuch.json"], "nosuch.json is not the history of a workflow: No such file or directory"),
        (["--history", "waiter.yaml"], "is not the history of a workflow"),
    ],
)
def test_what_cannot_be_drawn(swf: Swf, arguments: list[str], told: str) -> None:
    assert told in swf.refused("graph", *arguments)
