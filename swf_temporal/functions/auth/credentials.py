"""The properties of an auth definition with its secrets filled in. Section "Auth Definition"."""

import re
from collections.abc import Mapping
from typing import Final

from swf_temporal.calls import Auth
from swf_temporal.data import JSON
from swf_temporal.errors import WorkflowFault, permanent_failure
from swf_temporal.expressions.evaluation import NOTHING, BadExpression, Expressions
from swf_temporal.functions.call import Call
from swf_temporal.strict_json import read_json

_QUOTED = r""""(?:[^"\\]|\\.)*"|'[^'\\]*'"""
_STEP = rf"\.[\w-]+|\.?\[\s*(?:{_QUOTED})\s*\]|\.(?:{_QUOTED})"
_PLACE: Final = re.compile(rf"\$\{{\s*\$SECRETS((?:{_STEP})+)\s*\}}")
_STEPS: Final = re.compile(rf"[\w-]+|{_QUOTED}")
_KEYS = ("apiKey", "key", "token")


class ResolvedAuth(Auth):
    """An auth whose properties are values already: a secret or a token is never read as an expression."""


def properties_of(auth: Auth, call: Call) -> dict[str, JSON]:
    """Return the properties of *auth* with their secrets filled in.

    They are an object, or they are in a secret: `shop`, or `${ $SECRETS.shop }`. A secret that is just a text is the
    token, for which no name is needed. Raises CallFailed if a secret is not known, or if an expression asks for
    anything but secrets.
    """
    properties: JSON = auth.properties
    if isinstance(auth, ResolvedAuth):
        return _object(properties)
    if isinstance(properties, str):
        # The whole text is "a workflow expression", whose `${ }` may be left out as in others that are nothing else.
        written = f"${{ {properties} }}" if properties.startswith("$SECRETS") else properties
        properties = _text(auth, call, written) if "${" in written else _secret(auth, call, [properties])
        return {"token": properties} if isinstance(properties, str) else _object(properties)
    return {name: _filled(auth, call, value) for name, value in _object(properties).items()}


def key_in(properties: Mapping[str, JSON]) -> str | None:
    """Return the key that *properties* hold for a service that knows its callers by one."""
    key = next((properties[name] for name in _KEYS if properties.get(name)), None)
    return key if isinstance(key, str) else None


def _object(value: JSON) -> dict[str, JSON]:
    return dict(value) if isinstance(value, dict) else {}


def _filled(auth: Auth, call: Call, value: JSON) -> JSON:
    if isinstance(value, list):
        return [_filled(auth, call, item) for item in value]
    return _text(auth, call, value) if isinstance(value, str) and "${" in value else value


def _text(auth: Auth, call: Call, text: str) -> JSON:
    """Return what *text* stands for: the place of a secret, which any language for expressions can name, or more."""
    for found in _PLACE.finditer(text):
        secret = _secret(auth, call, [_name(step) for step in _STEPS.findall(found[1])])
        if found[0] == text.strip():
            return secret
    try:
        value = Expressions().template(text)(None, {"SECRETS": dict(call.secrets)})
    except (BadExpression, WorkflowFault) as error:
        # What an expression fails on while it runs is a secret, or was made of one.
        why = f": {error}" if isinstance(error, BadExpression) else ""
        message = f"auth '{auth.name}': {text!r} cannot be evaluated{why}; only $SECRETS has a value there"
        raise permanent_failure("BadAuth", message) from None
    return None if value is NOTHING else value


def _secret(auth: Auth, call: Call, path: list[str]) -> JSON:
    value: JSON = dict(call.secrets)
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    if value is None:
        raise permanent_failure(
            "NoSecret", f"auth '{auth.name}' needs the secret '{'.'.join(path)}', which is not known here"
        )
    return value


def _name(step: str) -> str:
    return str(read_json(step)) if step.startswith('"') else step.strip("'")
