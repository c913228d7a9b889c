"""Writes the JSON Schemas in `schemas/`, to which editors refer by their names: `python -m tests.docs.schemas`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from swf_temporal.languages.known import language_named
from swf_temporal.simulation.scenario_schema import scenario_schema
from swf_temporal.strict_json import show_json

FOLDER = Path(__file__).parents[2] / "schemas"
VERSIONS = ("November 2019", "May 2020", "0.5", "0.6", "0.7", "0.8", "0.8-next")


def schemas() -> Iterator[tuple[str, Any]]:
    """Yield the name of each file, and the schema in it."""
    language = language_named("serverless-workflow")
    for version in VERSIONS:
        yield (
            f"serverless-workflow-{version.lower().replace(' ', '-')}.schema.json",
            language.json_schema(None, version),
        )
    yield "direktiv.schema.json", language_named("direktiv").json_schema()
    yield "scenarios.schema.json", scenario_schema()


def text_of(schema: Any) -> str:
    """Return a file's text."""
    return show_json(schema, indent=1) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for file, schema in schemas():
        (FOLDER / file).write_text(text_of(schema), encoding="utf-8")
