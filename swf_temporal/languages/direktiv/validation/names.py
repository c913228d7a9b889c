"""Ids have a form, and are given once; so have the keys of variables."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from swf_temporal.base.errors import Problem
from swf_temporal.languages.direktiv.model.node import Node
from swf_temporal.languages.direktiv.model.states import GetterState, SetterState
from swf_temporal.languages.direktiv.model.workflow import Function, Workflow
from swf_temporal.runtime.names import too_long
from swf_temporal.text.origin import Source

_ID: Final = re.compile(r"[a-z]([a-z0-9_\-]*[a-z0-9])?")
_KEY: Final = re.compile(r"[a-zA-Z]([a-zA-Z0-9_.\-]*[a-zA-Z0-9])?")
"""With dots and hyphens, as in later releases: the text says nothing of them."""


def check(workflow: Workflow, source: Source) -> Iterator[Problem]:
    """Yield what is wrong with the names in *workflow*."""
    yield from _ids("state", workflow.states, source)
    yield from _ids("function", workflow.functions, source)
    for state in workflow.states:
        if isinstance(state, GetterState | SetterState):
            for one in state.variables:
                if one.scope != "file" and _KEY.fullmatch(one.key) is None:
                    yield _bad(f"state {state.id!r}: the variable {one.key!r}", "letters", one, "key", source)


def _ids(what: str, nodes: Sequence[Function | Node], source: Source) -> Iterator[Problem]:
    seen: set[str] = set()
    for node in nodes:
        id_: str = getattr(node, "id", "")
        if _ID.fullmatch(id_) is None:
            yield _bad(f"the {what} id {id_!r}", "lower-case letters", node, "id", source)
        if what == "function" and (trouble := too_long(id_)) is not None:
            message = f"a function is an activity on the server: {trouble}"
            yield source.problem("name-too-long", message, node.where.value("id"))
        if id_ in seen:
            message = f"there are two {what}s with the id {id_!r}"
            yield source.problem("duplicate-name", message, node.where.value("id"))
        seen.add(id_)


def _bad(who: str, letters: str, node: Node, key: str, source: Source) -> Problem:
    others = "digits, '_' and '-'" if key == "id" else "digits, '_', '-' and '.'"
    message = f"{who} has to begin with a letter and end with a letter or digit, and may have {letters}, {others}"
    return source.problem("name-form", message, node.where.value(key))
