"""Filling in secrets where a call is performed: in its arguments, and in credentials (section "Auth Definition")."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from swf_temporal.base.calls import Auth, bad_auth, secret_at
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import WorkflowFault
from swf_temporal.base.strict_json import read_json
from swf_temporal.expressions.evaluation import NOTHING, BadExpression, Expressions
from swf_temporal.languages.serverless_workflow.expressions import VARIABLES
from swf_temporal.runtime.host import SecretTemplate

_QUOTED = r""""(?:[^"\\]|\\.)*"|'[^'\\]*'"""
_STEP = rf"\.[\w-]+|\.?\[\s*(?:{_QUOTED})\s*\]|\.(?:{_QUOTED})"
_PLACE: Final = re.compile(rf"\$\{{\s*\$SECRETS((?:{_STEP})+)\s*\}}")
_STEPS: Final = re.compile(rf"[\w-]+|{_QUOTED}")


def fill(given: SecretTemplate, secrets: Mapping[str, JSON]) -> JSON:
    """Return arguments with `$SECRETS` filled in. Raises WorkflowFault if an expression fails."""
    declared = [name for name in given.variables if not name.startswith("__")]
    template = Expressions(variables=VARIABLES.union(declared), language=given.dialect).template(given.template)
    value = template(given.data, {**given.variables, "SECRETS": dict(secrets)})
    return None if value is NOTHING else value


def fill_auth(auth: Auth, secrets: Mapping[str, JSON]) -> JSON:
    """Return the properties of *auth* with `$SECRETS` filled in.

    They are an object, or are in a secret: `shop`, or `${ $SECRETS.shop }`. Raises CallFailed if a secret is unknown,
    or if an expression uses anything but secrets.
    """
    properties: JSON = auth.properties
    if isinstance(properties, str):
        # The whole text is "a workflow expression", whose `${ }` may be left out as in other expression fields.
        written = f"${{ {properties} }}" if properties.startswith("$SECRETS") else properties
        return _text(auth, secrets, written) if "${" in written else secret_at(auth, [properties], secrets)
    if isinstance(properties, dict):
        return {name: _filled(auth, secrets, value) for name, value in properties.items()}
    return properties


def _filled(auth: Auth, secrets: Mapping[str, JSON], value: JSON) -> JSON:
    if isinstance(value, list):
        return [_filled(auth, secrets, item) for item in value]
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
