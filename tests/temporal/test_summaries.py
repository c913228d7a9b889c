"""Texts that Temporal shows are made in one place, where they are shortened."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from swf_temporal import temporal
from swf_temporal.runtime.host import SubflowCall, Timer
from swf_temporal.temporal import summaries

PACKAGE = Path(temporal.__file__).parent
UNKNOWN = frozenset({"summary"})
"""Parameters and variables that hold what was made there."""


def _summaries_given(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield what calls give the engine as summaries, and each call that sets a timer without one."""
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        given = [one.value for one in call.keywords if one.arg in {"summary", "static_summary"}]
        yield from given
        if ast.unparse(call.func) == "workflow.sleep" and not given:
            yield call


def test_every_summary_is_made_in_one_place() -> None:
    """Whatever the engine is asked for; and each of its timers has one."""
    elsewhere = [
        f"{file.name}:{given.lineno} {ast.unparse(given)}"
        for file in PACKAGE.glob("*.py")
        for given in _summaries_given(ast.parse(file.read_text()))
        if not ast.unparse(given).startswith("summaries.") and ast.unparse(given) not in UNKNOWN
    ]
    assert elsewhere == []


@pytest.mark.parametrize("name", ["n" * 1000, "语" * 1000, "\ud800" * 1000])
def test_a_summary_is_no_longer_than_the_server_allows(name: str) -> None:
    """Neither in characters nor in bytes; what a timer is for stands at its beginning."""
    call = SubflowCall(id="c", state=name, action=name, workflow_id="w", version=None, data=None)
    texts = [summaries.of_call(call), summaries.of_timer(Timer("retry", name, name)), summaries.of_event(name)]
    for text in texts:
        assert len(text) <= summaries.MAX_SUMMARY_LENGTH
        assert len(text.encode()) <= summaries.MAX_SUMMARY_BYTES + len("…".encode())
    assert texts[1].startswith("retry: ")
