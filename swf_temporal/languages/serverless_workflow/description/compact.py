"""Leaving out facts that say nothing."""

from typing import Any, TypeAlias

from swf_temporal.languages.serverless_workflow.model.node import Node

Facts: TypeAlias = dict[str, Any]
"""Known facts of something, as JSON."""


def compact(**facts: Any) -> Facts:
    """Return those of *facts* that say something: neither null, nor false, nor empty. Names become camelCase."""
    return {_camel(name): _plain(value) for name, value in facts.items() if _says_something(value)}


def written(node: Node | None) -> Facts:
    """Return what an author wrote in a node without nodes in it, by the names that authors write."""
    return {} if node is None else node.model_dump(by_alias=True, exclude_defaults=True, mode="json")


def _says_something(value: Any) -> bool:
    return value is not None and value is not False and value not in ("", (), [], {})


def _camel(name: str) -> str:
    first, *others = name.rstrip("_").split("_")
    return first + "".join(word.title() for word in others)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
