"""Rule: what is referred to by name is defined.

This covers functions, events, retries, errors and auth definitions (sections "Function Definition", "FunctionRef
Definition", "Event Definition", "Retry Definition", "Defining Errors" and "Auth Definition").
"""

from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.languages.serverless_workflow.validation.references import REFERENCES
from swf_temporal.runtime.retrying import CATCH_ALL
from swf_temporal.text.suggestions import meant_or_known


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each reference to something that the workflow does not define.

    Nothing is reported for a kind whose definitions are in a document that was not found.
    """
    for key, kind in REFERENCES.items():
        defined = [definition.name for definition in getattr(context.workflow, key)]
        if key in context.workflow.externals and not defined:
            continue
        # A few names mean every error, and need no definition.
        known = CATCH_ALL.union(defined) if key == "errors" else set(defined)
        for reference in kind.of(context):
            if reference.name not in known:
                message = f"{reference.owner} refers to the {kind.singular} {reference.name!r}, which is not defined"
                hint = meant_or_known(reference.name, defined, f"define it under {key}")
                yield context.error(f"{kind.singular}-undefined", message, reference.position, hint)
