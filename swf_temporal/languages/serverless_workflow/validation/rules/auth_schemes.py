"""Rule: auth definitions have a supported scheme (section "Auth Definition")."""

from collections.abc import Iterator
from typing import Final

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.model.workflow import Auth
from swf_temporal.languages.serverless_workflow.validation.context import Context
from swf_temporal.text.suggestions import did_you_mean

SCHEMES: Final = ("basic", "bearer", "digest", "oauth2", "oidc", "apiKey")
"""The schemes of the specification, those of its later versions, and API keys."""


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for each auth definition of another scheme."""
    for auth, owner in context.nodes.each(Auth):
        if auth.scheme not in SCHEMES:
            message = f"{owner} has the scheme {auth.scheme!r}, which is not one of {', '.join(SCHEMES)}"
            yield context.error("auth-scheme", message, auth.where.value("scheme"), did_you_mean(auth.scheme, SCHEMES))
