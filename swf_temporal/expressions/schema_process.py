"""JSON Schemas and patterns in a helper process: `jq_process` runs this file there.

A program is a JSON text: `{"schema": …}`, whose input is the data and whose output is the list of violations, with
their places if it asks for them, or `{"pattern": …}`, whose input is a text and whose output says whether the pattern
is found in it. The processor time of the process is limited, and nothing else stops a pattern here.
"""

from typing import Any

import regex

from swf_temporal.base.strict_json import read_written, write_json
from swf_temporal.expressions.schema_checking import FORMATS, BadSchema, SchemaCheck, format_checker

_DRAFTS = ("04", "06", "07")
_FORMATS = format_checker()
WARMING = (
    '{"schema": {"patternProperties": {"a": {"type": "string"}}, "format": "regex"}, "formats": true}',
    '{"a": 1}',
)
"""A schema and data with which the libraries load everything that they need."""


class _Schema:
    def __init__(self, schema: Any, *, checks_formats: bool = False, is_placed: bool = False) -> None:
        self._is_placed = is_placed
        try:
            self._check = SchemaCheck(schema, _FORMATS if checks_formats else None)
        except BadSchema as error:
            raise ValueError(write_json({"message": error.message, "path": error.path})) from None

    def input_text(self, text: str) -> list[str]:
        """Return the violations in the data, as one list."""
        data = read_written(text)
        return [write_json(self._check.placed(data) if self._is_placed else self._check.violations(data))]


class _Pattern:
    def __init__(self, pattern: str) -> None:
        self._pattern = regex.compile(pattern)

    def input_text(self, text: str) -> list[str]:
        return [write_json(self._pattern.search(read_written(text)) is not None)]


def compiled(text: str) -> _Schema | _Pattern:
    """Return the compiled schema or pattern in *text*. Raises ValueError if it is not valid."""
    asked = read_written(text)
    if "pattern" in asked:
        return _Pattern(asked["pattern"])
    return _Schema(asked["schema"], checks_formats=asked["formats"], is_placed=asked.get("placed", False))


for _draft in _DRAFTS:
    # The library reads the files of a draft when that is first used, and then files are forbidden.
    _Schema({"$schema": f"http://json-schema.org/draft-{_draft}/schema#", "type": "string"}).input_text("1")
for _has_format in FORMATS.values():
    _has_format("2024-01-01T00:00:00Z")
    _has_format("a@b.example")
_Schema({"$schema": "https://json-schema.org/draft/2019-09/schema", "type": "string"}).input_text("1")
