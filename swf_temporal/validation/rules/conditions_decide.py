"""Conditions are expressions (sections "Switch State Data Conditions" and "Action Definition").

A plain text is neither false nor null, so as a condition it always holds: `x > 3` without `${ }` does, and so does
the text `"false"`.
"""

from collections.abc import Iterator

from swf_temporal.errors import Problem
from swf_temporal.validation.context import Context
from swf_temporal.validation.fields import is_plain


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each condition that is a plain text."""
    for field, compiled in context.expressions:
        if field.key == "condition" and is_plain(field, compiled):
            message = f"{field.owner}: the condition {field.text!r} is a plain text, and as such it always holds"
            yield context.warning("condition", message, field.position, f"did you mean '${{ {field.text} }}'?")
