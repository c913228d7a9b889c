"""What an author wrote, as JSON."""

from typing import Any

from swf_temporal.languages.serverless_workflow.model.node import Node


def written(node: Node, *without: str) -> dict[str, Any]:
    """Return what is written in *node*, by the names that authors write, but for the fields *without*."""
    fields = {name: info for name, info in type(node).model_fields.items() if name not in without and not info.exclude}
    return {
        (info.alias or name).removeprefix("@"): _plain(value)
        for name, info in fields.items()
        if (value := getattr(node, name)) != info.get_default(call_default_factory=True, validated_data={})
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Node):
        return written(value)
    return [_plain(one) for one in value] if isinstance(value, tuple) else value
