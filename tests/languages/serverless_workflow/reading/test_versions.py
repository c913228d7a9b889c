"""A version of the language has one home, and the table of versions has all of them."""

import importlib
import pkgutil

import pytest

from swf_temporal.languages.serverless_workflow.reading import versions
from swf_temporal.languages.serverless_workflow.reading.versions.version import Version
from tests.languages.serverless_workflow.models import load_model

STATES = [{"name": "A", "type": "inject", "data": {}, "end": True}]
AUTH = [{"name": "a", "scheme": "bearer", "properties": {"token": "t"}}]


def test_every_module_is_in_the_table() -> None:
    """A version that is missing in the table would never be read."""
    names = [one.name for one in pkgutil.iter_modules(versions.__path__, f"{versions.__name__}.")]
    declared = [getattr(importlib.import_module(name), "VERSION", None) for name in names]
    found = [one.name for one in declared if isinstance(one, Version)]

    assert sorted(found) == sorted(one.name for one in versions.VERSIONS)


@pytest.mark.parametrize(
    ("more", "version"),
    [
        ({}, "0.8"),
        ({"functions": [{"name": "f", "operation": "a.json#b", "authRef": "a"}]}, "0.8"),
        ({"functions": [{"name": "f", "operation": "a.json#b", "authRef": {"resource": "a"}}]}, "0.8-next"),
        ({"extensions": [{"extensionId": "e", "path": "none.json"}]}, "0.8-next"),
    ],
)
def test_a_version_is_given_away_by_its_keys(more: dict[str, object], version: str) -> None:
    """The keys that it has first: in the definition itself, or deep within it."""
    workflow = load_model({"id": "a", "specVersion": "0.8", "version": "1.0.0", "states": STATES, "auth": AUTH, **more})

    assert workflow.language_version.name == version
