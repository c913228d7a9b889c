"""Validates data against a JSON Schema in a helper process, where it can be stopped.

A schema of a few lines can take years on data of a few lines: by patterns, by references that are followed twice on
each level, by comparing every element with every other. A faster library does not solve that: compiled ones have no
limits either, and have other messages. So `schema_checking` works in a process whose time and memory are limited
(`expressions/guarding/guard.py`).
"""

from typing import NamedTuple

from swf_temporal.base.accounting import current_account
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import ExpressionLimitExceeded
from swf_temporal.base.strict_json import NotJSON, read_written, write_json
from swf_temporal.expressions.guarding.deferring import ask, schema_bound
from swf_temporal.expressions.guarding.guard import SCHEMAS, guard, written
from swf_temporal.expressions.guarding.jq_process import NOT_COMPILED
from swf_temporal.expressions.patterns import PatternTooSlow
from swf_temporal.expressions.schema_checking import MAX_VIOLATIONS, BadSchema, nested_too_deeply

__all__ = ["MAX_VIOLATIONS", "BadSchema", "DataSchemaValidator", "SchemaTooSlow", "Violation", "violations_in"]


class SchemaTooSlow(PatternTooSlow):
    """Validating data against a schema exceeded the limits."""

    def __init__(self, why: str) -> None:
        Exception.__init__(self, why)


class Violation(NamedTuple):
    """A violation of a schema, for a form that shows it at its place."""

    path: tuple[str | int, ...]
    keyword: str
    """The keyword of the schema that is violated."""
    message: str


def violations_in(data: JSON, schema: JSON) -> list[Violation]:
    """Return the violations of *schema* in *data*, those of formats too, with their places. Outside of workflows only.

    There are none of a schema that is not valid, or takes too long: those who check the data tell that.
    """
    try:
        program = write_json({"schema": schema, "formats": True, "placed": True})
        answer = guard(SCHEMAS).run(program, written(data))
    except (NotJSON, ExpressionLimitExceeded):
        return []
    if answer.status == NOT_COMPILED:
        return []
    return [Violation(tuple(path), keyword, message) for path, keyword, message in read_written(answer.text)]


class DataSchemaValidator:
    """A JSON Schema that validates data."""

    def __init__(self, schema: JSON, *, checks_formats: bool = False) -> None:
        """Read *schema*. With *checks_formats*, the values of `format` in `schema_checking` are checked.

        Raises BadSchema if it is not valid, or refers to something outside itself.
        """
        try:
            self._schema = write_json({"schema": schema, "formats": checks_formats})
        except NotJSON as error:
            raise BadSchema(f"it is not JSON: {error}") from None
        self._bound = schema_bound(self._schema)
        try:
            answer = guard(SCHEMAS).run(self._schema, None)
        except ExpressionLimitExceeded as limit:
            raise BadSchema(f"it cannot be checked: {_of_schema(limit)}") from None
        if answer.status == NOT_COMPILED:
            problem = read_written(answer.text)
            raise BadSchema(problem["message"], problem["path"])

    def violations(self, data: JSON, *, slow_is_fatal: bool = False) -> list[str]:
        """Return the violations in *data*, each with its path; a few at most.

        Exceeding a limit counts as a violation, too, or raises PatternTooSlow if *slow_is_fatal*.
        """
        try:
            text = written(data)
            answer = ask(self._schema, text, self._bound, SCHEMAS)
        except NotJSON:
            return [nested_too_deeply()]
        except ExpressionLimitExceeded as limit:
            slow = SchemaTooSlow(f"it takes too long to check whether the data matches: {_of_schema(limit)}")
            if slow_is_fatal:
                raise slow from None
            return [f"$: {slow}"]
        current_account().charge_helper(len(text), len(answer.text), is_python=True)
        violations: list[str] = read_written(answer.text)
        return violations


def _of_schema(limit: ExpressionLimitExceeded) -> str:
    return limit.message.replace("an expression", "the check", 1)
