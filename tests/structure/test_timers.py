"""Workflow code sets a timer where a definition asks for one, nowhere else: a server fires it up to a second late."""

import ast
from pathlib import Path

import swf_temporal

PACKAGE = Path(swf_temporal.__file__).parent
OF_INSTANCES = {"TemporalHost.sleep"}
"""What sets the timers of instances: what a definition says sleeps, waits or is limited by it."""
OF_OTHERS = {
    "DelayedEvent.run", "EventMailbox._begin_next", "EventMailbox._hand_over", "InstanceSignals._wait_for_room",
    "Places._look", "_end_of", "_pause",
}  # fmt: skip
"""What sets those of workflows that run no definition."""


def test_an_instance_has_no_timer_of_its_own() -> None:
    found = set[str]()
    for file in (PACKAGE / "temporal").rglob("*.py"):
        for part in ast.parse(file.read_text(encoding="utf-8")).body:
            functions = part.body if isinstance(part, ast.ClassDef) else [part]
            for function in functions:
                if isinstance(function, ast.AsyncFunctionDef) and "workflow.sleep(" in ast.unparse(function):
                    found.add(f"{part.name}.{function.name}" if isinstance(part, ast.ClassDef) else function.name)
    assert found == OF_INSTANCES | OF_OTHERS
