"""No secret is in the history of an instance, wherever a definition may use it."""

import json
from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from swf_temporal.sdk.scenarios.host import ScenarioHost, scenario_host
from swf_temporal.simulation.scenario import check, read_scenarios, workflows_of
from tests.leaks.finding import texts

SECRET = "made-up-key-5f2a"  # noqa: S105 - it is a test
ENDPOINT = "https://orders.example/7"
CALLS: dict[str, dict[str, Any]] = {
    "header": {"with": {"method": "get", "endpoint": ENDPOINT, "headers": {"Key": "${ $secrets.shop.key }"}}},
    "query": {"with": {"method": "get", "endpoint": ENDPOINT, "query": {"key": "${ $secrets.shop.key }"}}},
    "body": {"with": {"method": "get", "endpoint": ENDPOINT, "body": {"key": "${ $secrets.shop.key }"}}},
    "input": {
        "input": {"from": "$secrets.shop"},
        "with": {"method": "get", "endpoint": ENDPOINT, "headers": {"Key": "${ .key }"}},
    },
    "bearer": {
        "with": {
            "method": "get",
            "endpoint": {"uri": ENDPOINT, "authentication": {"bearer": {"token": "${ $secrets.shop.key }"}}},
        }
    },
    "basic-by-name": {
        "with": {"method": "get", "endpoint": {"uri": ENDPOINT, "authentication": {"basic": {"use": "login"}}}}
    },
}
"""The calls that use a secret, by where they do."""


@pytest.fixture(scope="session")
async def host() -> AsyncIterator[ScenarioHost]:
    async with scenario_host() as started:
        yield started


@pytest.mark.parametrize("where", CALLS)
async def test_no_secret_is_in_the_history(host: ScenarioHost, where: str, tmp_path: Path) -> None:
    """The service repeats the secret, in its answer and in its error, and both become data of the instance."""
    call = {"call": "http", **CALLS[where]}
    document = {"dsl": "1.0.3", "namespace": "test", "name": f"secrets-{where}", "version": "1.0.0"}
    again = {"try": [{"again": call}], "catch": {"do": [{"tell": {"set": {"error": "${ $error }"}}}]}}
    written = {
        "scenario": where,
        "workflow": {
            "document": document,
            "use": {"secrets": ["shop", "login"]},
            "do": [{"order": {**call, "export": {"as": "."}}}, {"safe": again}],
        },
        "secrets": {"shop": {"key": SECRET}, "login": {"username": "me", "password": SECRET}},
        "services": {
            "https://orders.example": {
                "GET /7": {"then": [{"body": {"said": SECRET}}, {"status": 400, "body": {"why": SECRET}}]}
            }
        },
    }
    file = tmp_path / "scenarios.yaml"
    file.write_text(json.dumps(written))
    [scenario] = read_scenarios(file)
    observed = await host.observe(scenario)
    assert check(scenario, observed) == []
    sent = json.dumps(observed.requests)
    assert SECRET in sent or b64encode(f"me:{SECRET}".encode()).decode() in sent
    assert isinstance(observed.output, dict)
    assert "error" in observed.output
    handle = host.client.get_workflow_handle(workflows_of(scenario)[0].id)
    history = list(texts(json.loads((await handle.fetch_history()).to_json())))
    assert any("orders.example" in text for text in history)
    assert [text for text in history if SECRET in text] == []
