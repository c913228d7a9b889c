"""The identity of a definition: the id by which it is found, and the versions of the language."""

import re
from collections.abc import Mapping
from typing import Any, Final

NAME: Final = "dsl"
"""The name of the language in records."""
TITLE: Final = "Serverless Workflow 1.0"
LATEST_DSL: Final = (1, 0, 3)
"""The latest version of the language that is known."""
FIRST_OPEN: Final = (1, 0, 3)
"""The first version of the language whose standard errors have the domain of the Open Workflow Specification."""
_NUMBERS: Final = re.compile(r"(\d+)\.(\d+)\.(\d+)")
LATEST: Final = "latest"
"""The version of a workflow to run that means the latest."""


NAME_FORM: Final = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
"""The pattern of namespaces and names of definitions."""
VERSION_FORM: Final = (
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
    r"(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?"
)
"""The pattern of semantic versions."""
DIRECTIVES: Final = ("continue", "exit", "end")
"""The values of `then` that are no names of tasks."""
OF_WORKER: Final = "@default"
"""The end of the name of a function in the default catalog, which has the functions of the worker."""
OF_ZIGFLOW: Final = frozenset({"workflowType", "taskQueue"})
"""The keys of `document` by which zigflow, another runtime on Temporal, identifies a workflow."""

LIKE_ZIGFLOW: Final = (
    "that is zigflow's: a document with document.taskQueue and document.workflowType, in place of namespace and name, "
    "is read as zigflow reads it"
)
"""The hint about what DSL 1.0 has not, but zigflow, whose older documents have the identity of DSL 1.0."""


def id_of(namespace: str, name: str) -> str:
    """Return the id of the definition *name* in *namespace*, which is also the type of its workflows on Temporal.

    Neither may have a dot, so that it is unique. The workflows of zigflow are in no namespace.
    """
    return f"{namespace}.{name}" if namespace else name


def version_numbers(dsl: str) -> tuple[int, int, int]:
    """Return the numbers of a version of the language; those of the present one if they cannot be read."""
    found = _NUMBERS.match(dsl)
    return FIRST_OPEN if found is None else (int(found[1]), int(found[2]), int(found[3]))


def own_function(called: str) -> str | None:
    """Return the name of the worker's own function that `name:version@default` means, if it means one."""
    name, _, version = called.removesuffix(OF_WORKER).partition(":")
    return name if called.endswith(OF_WORKER) and name and version else None


def is_zigflow(root: Mapping[str, Any]) -> bool:
    """Return True if *root* has the identity of a zigflow document."""
    document = root.get("document")
    return isinstance(document, dict) and not OF_ZIGFLOW.isdisjoint(document)
