"""The expressions of a workflow: compiled for rules and for runs, and filled with secrets where a call is performed."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pydantic import BaseModel

from swf_temporal.base.calls import Auth, bad_auth, secret_at
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import WorkflowFault
from swf_temporal.base.strict_json import read_json
from swf_temporal.expressions.evaluation import NOTHING, BadExpression, Expressions
from swf_temporal.languages.serverless_workflow.model.states import ForeachState, all_states
from swf_temporal.languages.serverless_workflow.model.workflow import Workflow
from swf_temporal.runtime.host import SecretTemplate

VARIABLES: Final = frozenset({"WORKFLOW", "CONST", "SECRETS", "args"})
"""The variables that every expression may use."""

EARLY: Final = "early"
"""The expression language of the drafts before 0.5."""

PATHS: Final = "braced paths"
"""The expression language of 0.5."""

_QUOTED = r""""(?:[^"\\]|\\.)*"|'[^'\\]*'"""
_STEP = rf"\.[\w-]+|\.?\[\s*(?:{_QUOTED})\s*\]|\.(?:{_QUOTED})"
_PLACE: Final = re.compile(rf"\$\{{\s*\$SECRETS((?:{_STEP})+)\s*\}}")
_STEPS: Final = re.compile(rf"[\w-]+|{_QUOTED}")


def expressions_of(workflow: Workflow) -> Expressions:
    """Return the compiler of expressions of *workflow*. Raises BadExpression for an unsupported language."""
    if workflow.expression_lang == EARLY:
        from swf_temporal.expressions.early import EarlyExpressions  # noqa: PLC0415 - few definitions are that old

        return EarlyExpressions(workflow.language_version.path_synonyms)
    if workflow.expression_lang == PATHS:
        from swf_temporal.expressions.early_paths import BracedPaths  # noqa: PLC0415 - likewise

        return BracedPaths()
    return Expressions(
        variables=VARIABLES.union(
            state.iteration_param for state in all_states(workflow.states) if isinstance(state, ForeachState)
        ),
        functions={
            function.name: function.operation
            for function in workflow.functions
            if function.type == "expression" and isinstance(function.operation, str)
        },
        language=workflow.expression_lang,
        texts=lambda: _texts_in(workflow),
        filters_objects=workflow.language_version.filters_objects,
    )


def _texts_in(value: Any) -> Iterator[str]:
    """Yield the texts with expressions in what *value*, a part of a workflow, holds."""
    parts = [value]
    while parts:
        part = parts.pop()
        if isinstance(part, str):
            if Expressions.opening in part:
                yield part
        elif isinstance(part, BaseModel):
            parts += reversed(vars(part).values())
        elif isinstance(part, dict):
            parts += reversed(part.values())
        elif isinstance(part, list | tuple):
            parts += reversed(part)


def fill(given: SecretTemplate, secrets: Mapping[str, JSON]) -> JSON:
    """Return arguments with `$SECRETS` filled in. Raises WorkflowFault if an expression fails."""
    declared = [name for name in given.variables if not name.startswith("__")]
    template = Expressions(variables=VARIABLES.union(declared), language=given.dialect).template(given.template)
    value = template(given.data, {**given.variables, "SECRETS": dict(secrets)})
    return None if value is NOTHING else value


def fill_auth(auth: Auth, secrets: Mapping[str, JSON]) -> JSON:
    """Return the properties of *auth* with `$SECRETS` filled in (section "Auth Definition").

    They are an object, or are in a secret: `shop`, or `${ $SECRETS.shop }`. Raises CallFailed if a secret is unknown,
    or if an expression uses anything but secrets.
    """
    properties: JSON = auth.properties
    if isinstance(properties, str):
        # The whole text is "a workflow expression", whose `${ }` may be left out as in other expression fields.
        written = f"${{ {properties} }}" if properties.startswith("$SECRETS") else properties
        return _text(auth, secrets, written) if "${" in written else secret_at(auth, [properties], secrets)
    if isinstance(properties, dict):
        return _filled(auth, secrets, properties)
    return properties


def _filled(auth: Auth, secrets: Mapping[str, JSON], value: JSON) -> JSON:
    if isinstance(value, list):
        return [_filled(auth, secrets, item) for item in value]
    if isinstance(value, dict):
        return {name: _filled(auth, secrets, item) for name, item in value.items()}
    return _text(auth, secrets, value) if isinstance(value, str) and "${" in value else value


def _text(auth: Auth, secrets: Mapping[str, JSON], text: str) -> JSON:
    """Return the value of *text*: a path of a secret, which works in any expression language, or an expression."""
    for found in _PLACE.finditer(text):
        secret = secret_at(auth, _names(found[1]), secrets)
        if found[0] == text.strip():
            return secret
    try:
        value = Expressions(variables=VARIABLES).template(text)(None, {"SECRETS": dict(secrets)})
    except (BadExpression, WorkflowFault) as error:
        # The reason of a failure at run time could contain a secret.
        why = f": {error}" if isinstance(error, BadExpression) else ""
        raise bad_auth(auth, f"{text!r} cannot be evaluated{why}; only $SECRETS has a value there") from None
    return None if value is NOTHING else value


def _names(steps: str) -> Sequence[str]:
    return [str(read_json(step)) if step.startswith('"') else step.strip("'") for step in _STEPS.findall(steps)]
