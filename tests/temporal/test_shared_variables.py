"""On a real server, an instance shares variables of its thread with those that it calls; a worker has files to read."""

import json
from pathlib import Path
from typing import Any

from swf_temporal.languages.loading import load
from swf_temporal.sdk.definitions import catalogue_of
from swf_temporal.temporal.client import result
from tests.temporal.conftest import Bench


def stored(value: Any) -> dict[str, Any]:
    return {"key": "shared", "scope": "thread", "value": value}


async def test_a_thread_is_shared_downwards(bench: Bench) -> None:
    """The subflow finds what its caller stored, and replaces it for both; another instance has another thread."""
    loaded = {"key": "shared", "scope": "thread"}
    parent = load(
        {
            "id": "thread-parent",
            "functions": [{"id": "child", "type": "subflow", "workflow": "thread-child"}],
            "states": [
                {"id": "before", "type": "getter", "variables": [loaded], "transition": "set"},
                {"id": "set", "type": "setter", "variables": [stored("jq({was: .var.shared})")], "transition": "call"},
                {"id": "call", "type": "action", "action": {"function": "child"}, "transition": "get"},
                {"id": "get", "type": "getter", "variables": [loaded], "transform": "jq(.var)"},
            ],
        }
    )
    child = load(
        {
            "id": "thread-child",
            "states": [
                {"id": "get", "type": "getter", "variables": [loaded], "transition": "set"},
                {"id": "set", "type": "setter", "variables": [stored("jq({child: .var.shared})")]},
            ],
        }
    )
    async with bench.worker(parent, child) as running:
        assert await running.run({}) == {"shared": {"child": {"was": None}}}
        assert await running.run({}) == {"shared": {"child": {"was": None}}}


async def test_a_worker_reads_files_of_its_own_folders_alone(bench: Bench, tmp_path: Path) -> None:
    """A run whose definition came from elsewhere reads there, too; hidden files and those outside are not there."""
    folder = tmp_path / "definitions"
    (folder / "a").mkdir(parents=True)
    (tmp_path / "secret.json").write_text("1")
    (folder / ".hidden.json").write_text("2")
    (folder / "a" / "prices.json").write_text('{"tea": 3}')
    variables = [
        {"key": "./prices.json", "scope": "file", "as": "prices"},
        {"key": "/.hidden.json", "scope": "file", "as": "hidden"},
        {"key": "/../secret.json", "scope": "file", "as": "outside"},
    ]
    text = {"states": [{"id": "get", "type": "getter", "variables": variables, "transform": "jq(.var)"}]}
    (folder / "a" / "reading.yaml").write_text(json.dumps(text))
    elsewhere = load({"id": "/a/elsewhere.yaml", **text})
    async with bench.worker(*catalogue_of([folder])) as running:
        expected = {"prices": {"tea": 3}, "hidden": None, "outside": None}
        assert await running.run({}) == expected
        running.definitions.append(elsewhere)
        assert await result(await running.start({}, definition=1)) == expected
