"""A definition with a state of each type, described."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from swf_temporal.languages.describing import Description
from swf_temporal.languages.loading import load
from tests.languages.serverless_workflow.outlining.described import describe

HERE = Path(__file__).parent
NOW = datetime(2030, 5, 3, 12, tzinfo=UTC)
"""A Friday."""


@pytest.fixture(scope="session")
def every() -> Description:
    """Return the description of a workflow with a state of each type, beside one that it runs."""
    return describe(load(HERE / "every.sw.yaml"), load(HERE / "child.sw.yaml"), now=NOW)


@pytest.fixture(scope="session")
def orders() -> Description:
    return describe(load(HERE.parents[3] / "examples" / "orders" / "orders.sw.yaml"), now=NOW)
