"""Data flow of the draft in jq: what comes out of one thing is what goes into the next.

0.8 merges results into the data, where the draft replaces the data. So what the draft has as its data stands under
`data` in those of 0.8, each result under a key of its own, and expressions say what becomes of them. A path that leads
to nothing is an error.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from swf_temporal.languages.serverless_workflow.upgrading.early_paths_to_jq import JqFinds
from swf_temporal.languages.serverless_workflow.upgrading.paths_to_jq import NotInJqError

DATA: Final = ".data"
GIVEN: Final = ".given"


def selected(value: str, path: Any, key: str) -> str:
    """Return what *path*, which is written under *key*, selects of *value*. Raises NotInJqError."""
    if path is None:
        return value
    finds = JqFinds(str(path))
    if finds.steps == []:
        return value
    if not finds.is_singular:
        return f"({value} | [{finds.found}])"
    complaint = json.dumps(f"{key} {finds.text} leads to nothing in the data", ensure_ascii=False)
    return f"({value} | first(({finds.found}), error({complaint})))"


def put(value: str, path: Any, into: str) -> str:
    """Return *into* with *value* at *path*; the value itself if there is no path. Raises NotInJqError."""
    steps = [] if path is None else JqFinds(str(path)).steps
    if steps is None:
        raise NotInJqError(f"the resultPath {path!r} names no single place")
    if not steps:
        return value
    return f"({value} as $result | {into} | setpath({json.dumps(steps, ensure_ascii=False)}; $result))"


def filter_of(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the filter of *node*, empty where it has none."""
    given = node.get("filter")
    return given if isinstance(given, Mapping) else {}


def passed(given: Mapping[str, Any], result: str, before: str) -> str:
    """Return what the filter *given* passes on of a *result*, with what there was *before*."""
    return selected(put(result, given.get("resultPath"), before), given.get("outputPath"), "outputPath")
