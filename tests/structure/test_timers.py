"""Workflow code sets a timer where a definition asks for one, nowhere else: a server fires it up to a second late."""

import ast
from pathlib import Path

import swf_temporal

PACKAGE = Path(swf_temporal.__file__).parent
OF_INSTANCES = {"sleep"}
"""The function that sets the timers of instances: what a definition says sleeps, waits or is limited by it."""
OF_OTHERS = {"event_mailboxes", "places", "delayed_events", "instance_signals", "single_calls"}
"""Modules of workflows that run no definition, and of calls that stand for themselves."""


def test_an_instance_has_no_timer_of_its_own() -> None:
    """What gives way, or waits for room, does so by what a worker answers."""
    found = set[str]()
    for file in (PACKAGE / "temporal").rglob("*.py"):
        if file.stem in OF_OTHERS:
            continue
        for function in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                calls = (ast.unparse(node.func) for node in ast.walk(function) if isinstance(node, ast.Call))
                found |= {function.name for call in calls if call == "workflow.sleep"}
    assert found == OF_INSTANCES
