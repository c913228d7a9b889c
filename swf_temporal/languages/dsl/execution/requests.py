"""The arguments of calls, with the URIs and the credentials in them.

A call whose arguments mention secrets travels as it is written: where it is performed, it is evaluated with them, and
so is an `input.from` that does. No secret is in a history.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from swf_temporal.base.calls import Auth, bad_auth, secret_at
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import ExpressionFailed, WorkflowFault
from swf_temporal.expressions.compiled import NOTHING, BadExpression, EvaluationOutcome, Several, Variables
from swf_temporal.languages.dsl.expressions import RuntimeExpressions
from swf_temporal.languages.dsl.model.parts import SCHEMES
from swf_temporal.runtime.host import SecretTemplate

if TYPE_CHECKING:
    from swf_temporal.languages.dsl.execution.lane import Lane

SECRETS: Final = "secrets"
_ARGUMENTS, _URIS, _VERBATIM, _FROM = "arguments", "uris", "verbatim", "from"
"""The parts of a stored template: the arguments, those that are URIs or no templates, and `input.from`."""
_NAME: Final = re.compile(r"\{([^{}]*)\}")
_KEPT: Final = "-._~"
"""The characters that a URI has as they are, beside letters and digits."""


def uses_secrets(expression: JSON, lane: "Lane") -> bool:
    """Return whether *expression*, a field that holds one by definition, mentions secrets."""
    return SECRETS in lane.execution.program.expressions.expression(expression).mentions


class Request:
    """The arguments of a call as they are written, which can be evaluated."""

    constant = False
    kinds: frozenset[str] = frozenset({"object"})

    def __init__(
        self,
        arguments: dict[str, Any],
        uris: Sequence[str],
        verbatim: Collection[str],
        from_: JSON,
        expressions: RuntimeExpressions,
    ) -> None:
        """*uris* are the paths, with dots, of the URI templates in *arguments*; *from_* is evaluated before them.

        *verbatim* are the names of arguments in which nothing is evaluated.
        """
        self.template: dict[str, JSON] = {
            _ARGUMENTS: arguments,
            _URIS: list(uris),
            _VERBATIM: [*sorted(verbatim)],
            _FROM: from_,
        }
        self._verbatim = {name: arguments[name] for name in arguments if name in verbatim}
        literal = {name for name in uris if not _is_expression(_at(arguments, name))}
        self._literal = sorted(literal)
        evaluated = arguments
        if self._verbatim:
            evaluated = {name: None if name in self._verbatim else value for name, value in arguments.items()}
        self._compiled = expressions.template(evaluated)
        self._from = None if from_ is None else expressions.expression(from_)
        self.mentions = self._compiled.mentions | (self._from.mentions if self._from is not None else frozenset())

    @classmethod
    def of_record(cls, template: Mapping[str, Any], expressions: RuntimeExpressions) -> "Request":
        """Return the request that was stored as *template*."""
        return cls(template[_ARGUMENTS], template[_URIS], template[_VERBATIM], template[_FROM], expressions)

    def __call__(self, data: JSON, variables: Variables) -> EvaluationOutcome:
        """Return the arguments for *data*."""
        if self._from is not None:
            data = _one(self._from(data, variables))
            variables = {**variables, "input": data}
        found = _one(self._compiled(data, variables))
        for path in self._literal:
            written = _at(found, path)
            if isinstance(written, str):
                found = _with(found, path.split("."), expanded(written, data))
        return {**found, **self._verbatim} if self._verbatim and isinstance(found, dict) else found


def _one(outcome: EvaluationOutcome) -> JSON:
    if outcome is NOTHING:
        return None
    return list(outcome) if isinstance(outcome, Several) else outcome


def _is_expression(text: JSON) -> bool:
    return isinstance(text, str) and "${" in text


def _at(value: Any, path: str) -> Any:
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _with(value: JSON, path: Sequence[str], new: JSON) -> JSON:
    if not path:
        return new
    held = value if isinstance(value, dict) else {}
    return {**held, path[0]: _with(held.get(path[0]), path[1:], new)}


def expanded(uri: str, data: JSON) -> str:
    """Return *uri* with each `{name}` replaced by the property of *data* (section "URI Template").

    Raises ExpressionFailed for a property that is an object or an array.
    """
    own = data if isinstance(data, dict) else {}

    def value(match: re.Match[str]) -> str:
        found = own.get(match[1])
        if found is None:
            return ""
        if isinstance(found, dict | list):
            kind = "an object" if isinstance(found, dict) else "an array"
            raise ExpressionFailed(
                f"{{{match[1]}}} in the URI {uri!r} is {kind}, and has to be a text, a number or a boolean"
            )
        text = str(found).lower() if isinstance(found, bool) else str(found)
        return quote(text, safe=_KEPT)

    return _NAME.sub(value, uri)


def is_uri_of_data(uri: str) -> bool:
    """Return whether *uri* is an expression, or a template with a `{name}` in it."""
    return _is_expression(uri) or _NAME.search(uri) is not None


def fill(given: SecretTemplate, secrets: Mapping[str, JSON]) -> JSON:
    """Return the arguments of a call with secrets. Raises WorkflowFault if an expression fails."""
    declared = [name for name in given.variables if not name.startswith("__")]
    template = given.template if isinstance(given.template, dict) else {}
    request = Request.of_record(template, RuntimeExpressions.named(given.dialect, declared))
    return _one(request(given.data, {**given.variables, SECRETS: dict(secrets)}))


# Credentials

_VALUES, _TEMPLATES = "values", "templates"
"""The parts of stored properties: those that are known, and the paths of texts that need secrets, with these."""


def scheme_of(policy: Mapping[str, Any]) -> str | None:
    """Return the scheme of an authentication *policy*, as written."""
    return next((scheme for scheme in SCHEMES if scheme in policy), None)


async def auth_of(name: str, policy: Mapping[str, Any], data: JSON, lane: "Lane") -> Auth:
    """Return the credentials of *policy*, as written. Texts that mention secrets stay as they are."""
    scheme = scheme_of(policy) or "basic"
    properties = policy.get(scheme)
    if scheme == "bearer" and isinstance(properties, str):
        properties = {"token": properties}
    if isinstance(properties, dict) and isinstance(properties.get("use"), str):
        return Auth(name, scheme, properties["use"])
    templates: dict[str, JSON] = {}
    values = await _values(properties, "", templates, data, lane)
    return Auth(name, scheme, {_VALUES: values, _TEMPLATES: templates})


async def _values(value: Any, path: str, templates: dict[str, JSON], data: JSON, lane: "Lane") -> Any:
    """Return *value* evaluated on *data*; texts that mention secrets are put into *templates* by their paths."""
    if isinstance(value, dict):
        return {
            key: await _values(item, f"{path}.{key}" if path else key, templates, data, lane)
            for key, item in value.items()
        }
    if not isinstance(value, str):
        return value
    compiled = lane.execution.program.expressions.template(value)
    if SECRETS in compiled.mentions:
        templates[path] = value
        return None
    if path.endswith("authority"):
        return expanded(value, data) if "${" not in value else await lane.value(compiled, data)
    return await lane.value(compiled, data)


def fill_auth(auth: Auth, secrets: Mapping[str, JSON]) -> JSON:
    """Return the properties of *auth* with secrets filled in. Raises CallFailed if one is unknown."""
    properties = auth.properties
    if isinstance(properties, str):
        return secret_at(auth, [properties], secrets)
    if not isinstance(properties, dict) or _VALUES not in properties:
        return properties
    found: JSON = properties[_VALUES]
    for path, text in properties[_TEMPLATES].items():
        try:
            value = RuntimeExpressions([]).template(text)(None, {SECRETS: dict(secrets)})
        except (BadExpression, WorkflowFault):
            # The reason of a failure at run time could contain a secret.
            raise bad_auth(auth, f"{text!r} cannot be evaluated; only $secrets has a value there") from None
        if value is NOTHING or value is None:
            raise bad_auth(auth, f"{text!r} yields nothing: is the secret known here?")
        found = _with(found, path.split("."), _one(value))
    return found
