"""A scenario has a definition with each property of the official schema.

The schema stands beside a development checkout, not in it: without it this test is skipped.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from swf_temporal.base.errors import InvalidDefinition
from swf_temporal.simulation.scenario import read_scenarios, workflows_of
from swf_temporal.text.origin import Source
from swf_temporal.text.yaml_text import read_plain_yaml
from tests.dsl.kit.report import TEXTS

pytestmark = pytest.mark.spec

SCENARIOS: Final = Path(__file__).parents[1] / "scenarios" / "dsl"
SCHEMAS: Final = sorted(TEXTS.glob("dsl-1.0*/workflow.schema.yaml"))
OF_RUNS: Final = {"processResult", "asyncApiInboundMessage"}
"""Definitions of the schema for what a run yields: no definition of a workflow has them."""
VARIANTS: Final = ("oneOf", "anyOf", "allOf")
KINDS: Final[dict[type, str]] = {dict: "object", list: "array"}
CONTAINED: Final = ("items", "additionalProperties")


class Walk:
    """The properties of a schema, and those that documents have."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema
        self.known: dict[tuple[int, str], str] = {}
        """Each property by the part of the schema that declares it, with its path from a definition of the schema."""
        self.had: set[tuple[int, str]] = set()
        seen: set[int] = set()
        for name, part in schema["$defs"].items():
            if name not in OF_RUNS:
                self._declare(part, name, seen)
        self._declare(schema, "workflow", seen)

    def _resolved(self, part: Any) -> Any:
        while isinstance(part, Mapping) and "$ref" in part:
            place: Any = self.schema
            for key in part["$ref"].removeprefix("#/").split("/"):
                place = place[key]
            part = place
        return part

    def _declare(self, part: Any, path: str, seen: set[int]) -> None:
        part = self._resolved(part)
        if not isinstance(part, Mapping) or id(part) in seen:
            return
        seen.add(id(part))
        for name, inner in part.get("properties", {}).items():
            if inner is not False:
                self.known[id(part), name] = f"{path}.{name}"
                self._declare(inner, f"{path}.{name}", seen)
        for key in CONTAINED:
            self._declare(part.get(key), path, seen)
        for key in VARIANTS:
            for inner in part.get(key, []):
                self._declare(inner, f"{path} {inner.get('title', '')}", seen)

    def document(self, value: Any, part: Any = None) -> None:
        """Record the properties that *value* has, by the part of the schema that describes it."""
        part = self._resolved(self.schema if part is None else part)
        if not isinstance(part, Mapping):
            return
        for inner in part.get("allOf", []):
            self.document(value, inner)
        if isinstance(value, dict | list):
            for inner in (*part.get("oneOf", []), *part.get("anyOf", [])):
                if self._fits(inner, value):
                    self.document(value, inner)
        if isinstance(value, dict):
            self._object(value, part)
        elif isinstance(value, list) and isinstance(part.get("items"), Mapping):
            for held in value:
                self.document(held, part["items"])

    def _object(self, value: Mapping[str, Any], part: Mapping[str, Any]) -> None:
        declared, others = part.get("properties", {}), part.get("additionalProperties")
        for name, held in value.items():
            if name in declared:
                self.had.add((id(part), name))
                self.document(held, declared[name])
            elif isinstance(others, Mapping):
                self.document(held, others)

    def _fits(self, part: Any, value: Any) -> bool:
        """Return True if *value* looks like what *part* describes, by its own properties and those directly in it."""
        part = self._resolved(part)
        if not isinstance(part, Mapping) or part.get("type", KINDS[type(value)]) != KINDS[type(value)]:
            return False
        if not all(self._fits(inner, value) for inner in part.get("allOf", [])):
            return False
        if isinstance(value, list):
            return True
        return value.keys() >= set(part.get("required", [])) and all(
            self._is_alike(inner, value[name]) for name, inner in part.get("properties", {}).items() if name in value
        )

    def _is_alike(self, part: Any, value: Any) -> bool:
        part = self._resolved(part)
        if not isinstance(part, Mapping):
            return part is not False
        if "const" in part or "enum" in part:
            return value == part["const"] if "const" in part else value in part["enum"]
        return not isinstance(value, dict | list) or part.get("type", KINDS[type(value)]) == KINDS[type(value)]

    def missing(self) -> list[str]:
        return sorted(path for key, path in self.known.items() if key not in self.had)


@cache
def documents() -> tuple[Any, ...]:
    """Return the definitions that the scenarios run."""
    return tuple(_documents())


def _documents() -> Iterator[Any]:
    for file in sorted(SCENARIOS.rglob("*.yaml")):
        if file.parent.name == "definitions":
            yield read_plain_yaml(file.read_text("utf-8"), Source("", file.name))
            continue
        for scenario in read_scenarios(file):
            try:
                definitions = workflows_of(scenario)
            except InvalidDefinition:
                continue  # the scenario is about its problems
            for definition in definitions:
                yield read_plain_yaml(definition.source.text, definition.source)


def test_the_schemas_are_there() -> None:
    """The schemas stand beside the checkout; where they do not, this says that none was tried."""
    if not SCHEMAS:
        pytest.skip(f"the schemas of DSL 1.0 are not at {TEXTS}: none of their properties was looked for")
    assert len(SCHEMAS) == 2


@pytest.mark.parametrize("file", SCHEMAS, ids=lambda file: file.parent.name)
def test_every_property_has_a_scenario(file: Path) -> None:
    walk = Walk(read_plain_yaml(file.read_text("utf-8"), Source("", file.name)))
    assert len(walk.known) > 250
    for document in documents():
        walk.document(document)
    assert not walk.missing(), "\n".join(walk.missing())
