"""A definition with a state of each type, described."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.languages.serverless_workflow.description.compact import Facts
from swf_temporal.loading import load
from tests.languages.serverless_workflow.description.described import described

HERE = Path(__file__).parent
NOW = datetime(2030, 5, 3, 12, tzinfo=UTC)
"""A Friday."""


@pytest.fixture(scope="session")
def every() -> Facts:
    """Return the facts of a workflow with a state of each type, beside one that it runs."""
    workflow = load(HERE / "every.sw.yaml")
    return described(workflow, Catalogue([workflow, load(HERE / "child.sw.yaml")]), NOW)


@pytest.fixture(scope="session")
def orders() -> Facts:
    """Return the facts of the order example."""
    workflow = load(HERE.parents[3] / "examples" / "orders" / "orders.sw.yaml")
    return described(workflow, Catalogue([workflow]), NOW)
