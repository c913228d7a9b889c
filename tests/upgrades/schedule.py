"""A definition with a schedule, of which each release keeps what it writes."""

from typing import Any, Final

from tests.temporal.building import operation

INPUT: Final = {"sum": 1}
OUTPUT: Final = {"sum": 2}
DEFINITION: Final[dict[str, Any]] = {
    "id": "scheduled",
    "version": "1.0.0",
    "specVersion": "0.8",
    "start": {"stateName": "Add", "schedule": {"cron": "30 4 1,15 * 5", "timezone": "Europe/Berlin"}},
    "functions": [{"name": "add", "type": "custom"}],
    "states": [
        operation("Add", {"functionRef": {"refName": "add", "arguments": {"a": "${ .sum }", "b": 1}}}, end=True)
    ],
}
"""What is started, and when."""
