"""Writes the JSON Schemas in `schemas/`, to which editors refer by their names: `python -m tests.docs.schemas`."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from swf_temporal.base.strict_json import show_json
from swf_temporal.languages.known import language_named
from swf_temporal.simulation.scenario_schema import scenario_schema

FOLDER = Path(__file__).parents[2] / "schemas"
VERSIONS = ("November 2019", "May 2020", "0.5", "0.6", "0.7", "0.8", "0.8-next")


def schemas() -> Mapping[str, Callable[[], Any]]:
    language = language_named("serverless-workflow")
    made: dict[str, Callable[[], Any]] = {
        f"serverless-workflow-{version.lower().replace(' ', '-')}.schema.json": partial(
            language.json_schema, None, version
        )
        for version in VERSIONS
    }
    made["serverless-workflow-1.0.schema.json"] = language_named("dsl").json_schema
    made["direktiv.schema.json"] = language_named("direktiv").json_schema
    made["scenarios.schema.json"] = scenario_schema
    return made


def text_of(schema: Any) -> str:
    return show_json(schema, indent=1) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for file, make in schemas().items():
        (FOLDER / file).write_text(text_of(make()), encoding="utf-8")
