"""Rule: definitions are used (section "Workflow Definition Structure")."""

import re
from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.languages.serverless_workflow.validation.references import REFERENCES
from swf_temporal.text.suggestions import NEVER_USED

_FUNCTION = re.compile(r"fn:\s*([\w.-]+(?: [\w.-]+)*)")


def check(context: Context) -> Iterator[Problem]:
    """Yield a warning for each definition, written in this document, that nothing refers to."""
    for key, kind in REFERENCES.items():
        if key in context.workflow.externals:
            continue
        used = {reference.name for reference in kind.of(context)}
        if key == "functions":
            used.update(match[1] for field, _ in context.expressions for match in _FUNCTION.finditer(field.text))
        for definition in getattr(context.workflow, key):
            if definition.name not in used:
                message = f"{kind.singular} {definition.name!r} is defined, but not used"
                yield context.warning("unused-definition", message, definition.where.value("name"), NEVER_USED)
