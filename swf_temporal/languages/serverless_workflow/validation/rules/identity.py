"""Rule: a workflow has a constant id or key, and a version (section "Workflow Definition Structure")."""

import re
from collections.abc import Iterator

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.validation.context import Context

_SEMANTIC = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?"
)


def check(context: Context) -> Iterator[Problem]:
    """Yield a problem for an id that is not a constant, for an id beside a key, and for a malformed version."""
    workflow = context.workflow
    where = workflow.where
    if not workflow.id.strip():
        message, hint = "the id is empty: a workflow is started by its id", "write one, such as id: orders"
        yield context.error("identity", message, where.value("id"), hint)
    if "${" in workflow.id:
        message = f"the id {workflow.id!r} is an expression: a workflow is started by its id, before there is any data"
        hint = "write a text without ${ }, such as id: orders"
        yield context.error("identity", message, where.value("id"), hint)
    if "key" in where.keys and where.keys["id"] != where.keys["key"]:
        message = f"id and key exclude each other: the id {workflow.id!r} is used"
        yield context.warning("identity", message, where.key("key"), "remove one of them")
    version = workflow.version
    is_semantic = workflow.language_version.has_semantic_versions
    if is_semantic and version and "${" not in version and not _SEMANTIC.fullmatch(version):
        message = f"the version {version!r} is not a semantic version, such as 1.0.0"
        yield context.warning("identity", message, where.value("version"), "write three numbers, as in 1.0.0")
