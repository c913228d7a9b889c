"""`swf graph` as a process."""

import json

import pytest

from tests.cli.conftest import Swf
from tests.replay import corpus


@pytest.mark.parametrize(("name", "first"), [
    ("a.svg", b"<svg "), ("a.html", b"<!doctype html>"), ("a.png", b"\x89PNG"),
])  # fmt: skip
def test_saves_in_the_form_of_the_ending(swf: Swf, name: str, first: bytes) -> None:
    ended = swf("graph", "waiter.yaml", "--save", name)
    if "needs a font" in ended.err:
        pytest.skip(f"NOT TRIED: {ended.err}")
    assert (ended.code, ended.out) == (0, "")
    assert (swf.folder / name).read_bytes().startswith(first)


def test_on_stdout(swf: Swf) -> None:
    ended = swf("graph", "waiter.yaml")
    assert (ended.code, ended.err, ended.out[:5]) == (0, "", "<svg ")
    assert 'data-path="Wait"' in ended.out
    assert swf("graph", "waiter.yaml", "hello.yaml", "-o", "html").out.count("<svg ") == 2
    assert "holds one picture" in swf.refused("graph", "waiter.yaml", "hello.yaml")
    assert "cannot be written" in swf.refused("graph", "waiter.yaml", "--save", "not/there.svg")


def test_an_instance_from_its_history(swf: Swf) -> None:
    recorded = next(one.execution for one in corpus.read(corpus.releases()[-1]).executions if not one.is_virtual)
    swf.write("history.json", json.dumps(recorded.history))
    ended = swf("graph", "--history", "history.json")
    assert (ended.code, ended.err) == (0, "")
    assert f"instance {recorded.workflow_id}: " in ended.out
    page = swf("graph", "--history", "history.json", "-o", "html").out
    assert page.count("<svg ") == 2
    assert 'class="bar"' in swf("graph", "--history", "history.json", "--timeline").out
