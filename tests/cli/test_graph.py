"""`swf graph` as a process."""

import pytest

from tests.cli.conftest import Swf


def test_svg_on_stdout(swf: Swf) -> None:
    """One picture is printed as SVG."""
    ended = swf("graph", "waiter.yaml")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("<svg ")
    assert 'data-path="Wait"' in ended.out


@pytest.mark.parametrize(
    ("name", "first"), [("a.svg", b"<svg "), ("a.html", b"<!doctype html>"), ("a.png", b"\x89PNG")]
)
def test_saves_in_the_form_of_the_ending(swf: Swf, name: str, first: bytes) -> None:
    """The ending of the file says the format."""
    ended = swf("graph", "waiter.yaml", "--save", name)
    assert (ended.code, ended.out) == (0, "")
    assert (swf.folder / name).read_bytes().startswith(first)


def test_several_definitions_are_a_page(swf: Swf) -> None:
    """A page holds several pictures; another file holds one."""
    assert swf("graph", "waiter.yaml", "hello.yaml", "-o", "html").out.count("<svg ") == 2
    refused = swf("graph", "waiter.yaml", "hello.yaml")
    assert (refused.code, refused.out) == (2, "")
    assert "holds one picture" in refused.err


def test_a_file_that_cannot_be_written(swf: Swf) -> None:
    """What cannot be written is told."""
    ended = swf("graph", "waiter.yaml", "--save", "not/there.svg")
    assert ended.code == 2
    assert "cannot be written" in ended.err
