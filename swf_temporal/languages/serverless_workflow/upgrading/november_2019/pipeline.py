"""Data flow of the draft in jq: what comes out of one thing is what goes into the next.

0.8 merges results into the data, where the draft replaces the data. So what the draft has as its data stands under
`data` in those of 0.8, each result under a key of its own, and expressions say what becomes of them. A path that leads
to nothing is an error.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from swf_temporal.base.strict_json import show_json
from swf_temporal.languages.serverless_workflow.upgrading.early_paths_to_jq import JqFinds
from swf_temporal.languages.serverless_workflow.upgrading.paths_to_jq import NotInJqError

DATA: Final = ".data"
GIVEN: Final = ".given"


class Paths(NamedTuple):
    input: str | None
    result: str | None
    output: str | None

    def passed(self, result: str, before: str) -> str:
        """Return what the filter passes on of a *result*, with what there was *before*. Raises NotInJqError."""
        return selected(_put(result, self.result, before), self.output, "outputPath")


def paths_of_state(state: Mapping[str, Any]) -> Paths | None:
    """Return the paths of the filter of *state*, if it has one."""
    given = state.get("stateDataFilter")
    return None if given is None else Paths(given.get("input"), given.get("@result"), given.get("output"))


def paths_of_action(action: Mapping[str, Any]) -> Paths:
    given = action.get("actionDataFilter", {})
    return Paths(given.get("fromStateData"), given.get("toStateData"), given.get("results"))


def selected(value: str, path: str | None, key: str) -> str:
    """Return what *path*, which is written under *key*, selects of *value*. Raises NotInJqError."""
    if path is None:
        return value
    finds = JqFinds(path)
    if finds.steps == []:
        return value
    if not finds.is_singular:
        return f"({value} | [{finds.found}])"
    complaint = show_json(f"{key} {finds.text} leads to nothing in the data")
    return f"({value} | first(({finds.found}), error({complaint})))"


def _put(value: str, path: str | None, into: str) -> str:
    """Return *into* with *value* at *path*; the value itself if there is no path."""
    steps = [] if path is None else JqFinds(path).steps
    if steps is None:
        raise NotInJqError(f"the resultPath {path!r} names no single place")
    if not steps:
        return value
    return f"({value} as $result | {into} | setpath({show_json(steps)}; $result))"
