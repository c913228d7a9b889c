"""Nothing outside of a language's package names a language, its words or its versions, but the table of known ones."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules, walk_packages
from typing import Final

from pydantic import BaseModel

import swf_temporal.languages
from swf_temporal.languages.serverless_workflow.reading.versions import VERSIONS

ROOT: Final = Path(__file__).parents[2]
LANGUAGES: Final = [one.name for one in iter_modules(swf_temporal.languages.__path__) if one.ispkg]
TABLE: Final = "swf_temporal/languages/known.py"

OTHER_MEANINGS: Final = {
    "serverlessworkflow": {
        "swf_temporal/runtime/correlation.py": "the source of events whose definition names none is a URL",
        "swf_temporal/temporal/lifecycle.py": "the types of lifecycle events, which are the same for all languages",
    },
    "Serverless Workflow": {
        "swf_temporal/simulation/scenario_schema.py": "the title by which editors know the schema of scenarios"
    },
    "direktiv": {
        "swf_temporal/base/function_types.py": "the type of functions in containers is called so",
        "swf_temporal/http/container_functions.py": "the contract of these containers: variables of their environment",
        "swf_temporal/sdk/working.py": "the type of functions in containers is called so",
        "swf_temporal/functions/containers/folders.py": "the contract of these containers: the code of an error",
        "swf_temporal/functions/containers/containers.py": "the contract of these containers: headers, and a code",
        "swf_temporal/cli/lazy.py": "the command that serves such a container",
    },
    "selectionSet": {"swf_temporal/functions/graphql/graphql.py": "GraphQL calls it so"},
    "specVersion": {"swf_temporal/migration/placing.py": "what a manifest repeats of a definition"},
    "expressionLang": {"swf_temporal/migration/placing.py": "what a manifest repeats of a definition"},
    "authRef": {"swf_temporal/migration/configuration.py": "what to write into a definition"},
    "maxAttempts": {"swf_temporal/migration/configuration.py": "what to write into a definition"},
    "retryRef": {"swf_temporal/migration/configuration.py": "what to write into a definition"},
    "agentCard": {
        "swf_temporal/functions/a2a/a2a.py": "A2A calls it so",
        "swf_temporal/functions/a2a/type.py": "A2A calls it so",
    },
    "operationId": {
        "swf_temporal/functions/asyncapi/asyncapi.py": "AsyncAPI calls it so",
        "swf_temporal/functions/asyncapi/type.py": "AsyncAPI calls it so",
        "swf_temporal/functions/openapi/operations.py": "OpenAPI calls it so",
        "swf_temporal/functions/openapi/type.py": "OpenAPI calls it so",
        "swf_temporal/http/gateway/openapi.py": "OpenAPI calls it so",
    },
    "protocolVersion": {
        "swf_temporal/functions/a2a/a2a.py": "A2A calls it so",
        "swf_temporal/functions/asyncapi/asyncapi.py": "AsyncAPI calls it so",
        "swf_temporal/functions/mcp/mcp.py": "MCP calls it so",
    },
    "pullPolicy": {"swf_temporal/functions/processes/containers.py": "an argument of functions of the type container"},
    "taskQueue": {
        "swf_temporal/functions/custom/custom.py": "Temporal calls it so",
        "swf_temporal/languages/describing.py": "a key of descriptions",
    },
    **{
        key: {"swf_temporal/runtime/external_activities.py": "Temporal calls it so"}
        for key in (
            "backoffCoefficient",
            "heartbeatTimeout",
            "initialInterval",
            "maximumAttempts",
            "maximumInterval",
            "nonRetryableErrorTypes",
            "retryPolicy",
            "scheduleToCloseTimeout",
            "scheduleToStartTimeout",
            "startToCloseTimeout",
        )
    },
    "workflowId": {"swf_temporal/operations/instance_history.py": "a key of the server's histories"},
}
"""What is written elsewhere all the same, by file, and why."""


def test_languages_are_named_in_their_packages_alone() -> None:
    """Names of packages, keys of models, and versions stand nowhere else, in code or in texts, but where it is said."""
    found = {(word, file) for file, word in _named()}
    assert found - _excused() == set()


def test_each_excuse_is_needed() -> None:
    assert _excused() - {(word, file) for file, word in _named()} == set()


def test_what_names_a_language_is_found() -> None:
    """In a name of code, in a text, in a key: but neither in a docstring nor in a comment."""
    text = '"""Direktiv."""\n# Direktiv\nimport direktiv_things\nWORDS = {"functionRef": 1, "a Direktiv b": "0.8"}\n'
    assert sorted(_named_in(text)) == ["0.8", "direktiv", "direktiv", "functionRef"]


def _excused() -> set[tuple[str, str]]:
    return {(word, file) for word, files in OTHER_MEANINGS.items() for file in files}


@cache
def _named() -> frozenset[tuple[str, str]]:
    within = tuple(f"swf_temporal/languages/{name}/" for name in LANGUAGES)
    files = [path.relative_to(ROOT).as_posix() for path in (ROOT / "swf_temporal").rglob("*.py")]
    outside = [one for one in files if not one.startswith(within) and one != TABLE]
    return frozenset((one, word) for one in outside for word in _named_in((ROOT / one).read_text(encoding="utf-8")))


def _named_in(text: str) -> Iterator[str]:
    tree = ast.parse(text)
    docstrings = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield from _words_in(node.value)
        for name in _names_of(node):
            yield from (_known(found) for found in _language().findall(name))


def _words_in(text: str) -> Iterator[str]:
    yield from (_known(found) for found in _language().findall(text))
    yield from _keys().intersection(re.findall(r"\w+", text))
    if text in _versions():
        yield text


def _names_of(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name)):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.alias(name=name):
            yield name
        case ast.ImportFrom(module=str(name)):
            yield name


@cache
def _language() -> re.Pattern[str]:
    names = "|".join(name.replace("_", "[-_ ]?") for name in LANGUAGES)
    return re.compile(rf"(?<![A-Za-z])(?i:{names})(?![a-z])")  # whole words, also in names: `is_dsl`, `DslProgram`


def _known(found: str) -> str:
    return found if " " in found else found.lower()


@cache
def _keys() -> frozenset[str]:
    """Return the keys of all languages that are written like no word of English."""
    models = (
        member for name in LANGUAGES for module in _modules(
            f"swf_temporal.languages.{name}.model"
        ) for member in vars(module).values() if isinstance(member, type) and issubclass(member, BaseModel)
    )  # fmt: skip
    keys = {field.alias or name for model in models for name, field in model.model_fields.items()}
    return frozenset(key for key in keys if re.fullmatch(r"[a-z]+[A-Z]\w+", key))


def _modules(package: str) -> Iterator[object]:
    imported = import_module(package)
    yield imported
    yield from (import_module(one.name) for one in walk_packages(getattr(imported, "__path__", ()), f"{package}."))


@cache
def _versions() -> frozenset[str]:
    return frozenset(name for one in VERSIONS for name in (one.name, *one.also_named))
