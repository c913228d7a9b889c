"""JSONPath in a helper process: `jq_process` runs this file there. Programs are paths."""

from swf_temporal.expressions.jsonpath import JsonPathQuery as compiled  # noqa: N813 - the name that is asked for

__all__ = ["WARMING", "compiled"]

WARMING = ("$..a[?search(@.b, 'c') && match(@.b, 'c')]", '{"a": [{"b": "c"}]}')
"""A path and data with which the library loads everything that it needs."""
