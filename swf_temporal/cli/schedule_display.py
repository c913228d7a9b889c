"""Schedules as people read them."""

from collections.abc import Iterable, Sequence
from typing import Any

import typer

from swf_temporal.cli.terminal import in_columns

_SHOWN = 5
"""The number of next times, and of started instances, that are shown."""


def show_rows(rows: Iterable[dict[str, Any]], columns: Sequence[str]) -> None:
    """Show a line for each schedule."""
    for line in in_columns(columns, [[_cell(row, column) for column in columns] for row in rows]):
        typer.echo(line)


def show_facts(facts: dict[str, Any]) -> None:
    """Show all that is known of one schedule."""
    version = f" {facts['version']}" if facts["version"] else ""
    stands = "paused" if facts["paused"] else "active"
    typer.echo(f"{facts['id']}: starts {facts['definition']}{version}, {stands}")
    typer.echo(f"  note: {facts['note'] or 'none'}")
    typer.echo(f"  {facts['started']} started, {facts['missed']} missed")
    for one in facts["recent"][-_SHOWN:]:
        typer.echo(f"  {one['at']}  {one['instance']}")
    for time in facts["upcoming"][:_SHOWN]:
        typer.echo(f"  {time}  to come{', once it is resumed' if facts['paused'] else ''}")


def _cell(row: dict[str, Any], column: str) -> str:
    value = row[column]
    if column == "next":
        text = value or "never"
        return f"{text} (paused)" if row["paused"] else text
    if column == "paused":
        return "yes" if value else "no"
    return "" if value is None else str(value)
