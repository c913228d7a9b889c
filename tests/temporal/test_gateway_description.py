"""The gateway does what its own OpenAPI description says, for requests that are made of it by chance."""

import asyncio
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.core.failures import FailureGroup

from swf_temporal.http.gateway import instances
from tests.sampling import count
from tests.temporal.conftest import PATIENCE, Bench, named
from tests.temporal.test_event_starts import ORDER
from tests.temporal.test_gateway import CALCULATION, WAITING, working

EXAMPLES = 3, 60
"""How many requests that fit, and how many that do not, are made of each operation: few, or many."""


async def test_it_does_what_its_description_says(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests that fit are taken, those that do not are refused, and all answers are of the form that is described."""
    monkeypatch.setattr(instances, "_PATIENCE", 0.2)  # most of them name an instance that is not there
    async with working(bench, named(ORDER), named(CALCULATION), named(WAITING), max_wait=0.2, sonataflow_api=True) as (
        client,
        _,
    ):
        described = (await client.get("/openapi.json")).json()
        await asyncio.to_thread(_try_all, described, str(client.base_url))


def _try_all(described: dict[str, Any], url: str) -> None:
    told = [
        text for result in schemathesis.openapi.from_dict(described).get_all_operations() for text in _try(result, url)
    ]
    assert not told, "\n\n".join(told)


def _try(result: Any, url: str) -> list[str]:
    operation, told = result.ok(), []
    fitting = operation.as_strategy(generation_mode=schemathesis.GenerationMode.POSITIVE)
    unfit = operation.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE)
    for cases in (fitting, unfit):

        @settings(
            max_examples=count(*EXAMPLES),
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
            database=None,
        )
        @given(case=cases)
        def attempt(case: Any) -> None:
            case.call_and_validate(base_url=url, timeout=PATIENCE)

        try:
            attempt()
        except Unsatisfiable:
            pass  # nothing can be wrong with it
        except FailureGroup as failures:
            told.append(f"{operation.method.upper()} {operation.path}: {failures}")
    return told
