"""Injected data: they are meant as they are written, and texts are added to texts that are there."""

from typing import Any

from swf_temporal.base.strict_json import show_json
from swf_temporal.languages.serverless_workflow.upgrading.early_paths_to_jq import JqFinds, field
from swf_temporal.languages.serverless_workflow.upgrading.texts import braced


def rewrite(data: Any, steps: tuple[str, ...] = ()) -> Any:
    """Return *data*, which are injected at *steps*, as an inject state of 0.8 has them; objects change in place."""
    if isinstance(data, dict) and data:
        for key in data:
            data[key] = rewrite(data[key], (*steps, str(key)))
        return data
    if isinstance(data, str) or data is None or (data == {} and steps):
        return braced(_jq(data, steps))
    if data in ({}, None):
        # Other data than an object would be replaced by an empty one.
        return braced('if type == "object" then {} else . end')
    return _literals(data)


def as_object(data: Any) -> str | None:
    """Return the expression that yields what *data* add to the data; None if that is nothing."""
    return None if data in ({}, None) else _jq(data, ())


def _jq(data: Any, steps: tuple[str, ...]) -> str:
    if isinstance(data, dict) and data:
        return f"{{{', '.join(f'{field(str(key))}: ({_jq(item, (*steps, str(key)))})' for key, item in data.items())}}}"
    finds = JqFinds("$" + "".join(f"['{step}']" for step in steps)) if all("'" not in step for step in steps) else None
    literal = show_json(data)
    if finds is None:
        return literal
    if isinstance(data, str):
        return f'(({finds.loose} | strings) // "") + {literal}'
    if data is None or data == {}:
        return f"first(({finds.found}), {literal})"
    return literal


def _literals(data: Any) -> Any:
    if isinstance(data, list):
        data[:] = [_literals(item) for item in data]
    elif isinstance(data, dict):
        for key in data:
            data[key] = _literals(data[key])
    elif isinstance(data, str) and "${" in data:
        return braced(show_json(data))
    return data
