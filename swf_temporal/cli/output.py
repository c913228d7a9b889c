"""How is data printed, for programs and for people?"""

import json
import sys
from typing import Any

import typer


def print_json(value: Any) -> None:
    """Print *value* on stdout: indented on a terminal, else in one line."""
    indent = 2 if sys.stdout.isatty() else None
    typer.echo(json.dumps(value, indent=indent, ensure_ascii=False))
