"""Workflows and activities as a program has them that serves definitions, too.

The SDK imports this module again, in its sandbox, for every instance.
"""

from datetime import timedelta
from typing import Any

from temporalio import activity, workflow
from temporalio.exceptions import ApplicationError

import swf_temporal
from swf_temporal import Plugin, Registry, Worker, as_child_workflow, load
from swf_temporal.base.grammar import with_article

EACH = [getattr(swf_temporal, name) for name in swf_temporal.__all__]
REGISTRY = Registry()
GREETING = load("""
id: greeting
version: 1.0.0
specVersion: "0.8"
functions: [{name: double, type: custom}]
states:
  - {name: Greet, type: operation, actions: [{functionRef: {refName: double, arguments: {n: "${ .n }"}}}], end: true}
""")
PLUGIN = Plugin(definitions=GREETING, functions=REGISTRY)
WORKER = Worker(definitions=[GREETING], functions=REGISTRY)


@REGISTRY.custom("double")
def double(n: int) -> int:
    return 2 * n


@activity.defn
async def shout(text: str) -> str:
    return text.upper()


@workflow.defn
class Refusing:
    @workflow.run
    async def run(self) -> None:
        raise ApplicationError("there is none left", {"left": 0}, type="SoldOut", non_retryable=True)


@workflow.defn
class Asking:
    @workflow.run
    async def run(self, by_id: bool) -> Any:  # noqa: FBT001 - an argument of a workflow
        child = as_child_workflow("greeting" if by_id else GREETING, {"n": 3})
        return await workflow.execute_child_workflow(**child, id=f"{workflow.info().workflow_id}-child")


@workflow.defn
class Finding:
    @workflow.run
    async def run(self) -> dict[str, int]:
        found = {name: getattr(swf_temporal, name) for name in swf_temporal.__all__}
        inner = {"of a module": id(with_article)}
        return {name: id(one) for name, one in found.items() if isinstance(one, type)} | inner


@workflow.defn
class Shouting:
    @workflow.run
    async def run(self, text: str) -> str:
        if GREETING.id != "greeting" or len(EACH) != len(swf_temporal.__all__):
            raise ApplicationError("what was imported is something else", non_retryable=True)
        return await workflow.execute_activity(shout, text, start_to_close_timeout=timedelta(seconds=60))
