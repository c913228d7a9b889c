"""The gateway does what its own OpenAPI description says, for requests that are made of it by chance."""

import asyncio
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.temporal.conftest import Bench
from tests.temporal.test_gateway import CALCULATION, ORDER, WAITING, named, working

pytestmark = pytest.mark.temporal


async def test_it_does_what_its_description_says(bench: Bench) -> None:
    """Requests that fit are taken, those that do not are refused, and all answers are of the form that is described."""
    async with working(bench, named(ORDER), named(CALCULATION), named(WAITING)) as (client, _):
        described = (await client.get("/openapi.json")).json()
        await asyncio.to_thread(_try_all, described, str(client.base_url))


def _try_all(described: dict[str, Any], url: str) -> None:
    schema = schemathesis.openapi.from_dict(described)
    for result in schema.get_all_operations():
        operation = result.ok()
        positive = operation.as_strategy(generation_mode=schemathesis.GenerationMode.POSITIVE)
        negative = operation.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE)

        @settings(
            max_examples=15,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
            database=None,
        )
        @given(case=st.one_of(positive, negative))
        def attempt(case: Any) -> None:
            case.call_and_validate(base_url=url)

        attempt()
