"""Application properties, which SonataFlow provides under `$SECRET`, in places where secrets are not allowed.

Values in such places become data, which is stored and shown. Properties that are secret neither by their name nor by
their value are written as constants.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from swf_temporal.expressions.evaluation import BadExpression
from swf_temporal.expressions.lexing import Token, tokens
from swf_temporal.languages.serverless_workflow.upgrading.trees import Tree, UpgradeReport
from swf_temporal.text.properties import has_credential, is_secret, resolved
from swf_temporal.text.round_trip import add

_VARIABLES: Final = ("$SECRET", "$SECRETS")
_USED: Final = re.compile(r'\$SECRETS?((?:\.\w+|\."[^"\\]+"|\.?\["[^"\\]+"\])+)')
_NAME: Final = re.compile(r'\.(\w+)|"([^"]+)"')
_VARIABLE: Final = re.compile(r"\$SECRET\b")
_PLAIN: Final = re.compile(r"[A-Za-z_]\w*")
_EXPOSED: Final = (
    "a secret would become data, which is stored and shown: use it in the arguments of the function that needs it"
)


class Constants:
    """The constants of a definition, extended by properties that its expressions use."""

    def __init__(self, root: Tree, report: UpgradeReport, properties: Mapping[str, str]) -> None:
        self._root, self._report, self._properties = root, report, properties
        self._added: dict[str, str] = {}
        """The properties that became constants, by the names of the constants."""
        self.secrets: dict[tuple[str, ...], str | None] = {}
        """The secrets in arguments, by their paths, and the properties that they were."""

    @property
    def properties(self) -> tuple[str, ...]:
        """The properties that became constants."""
        return tuple(self._added.values())

    def written(self, text: str, who: str, place: Any, *, is_argument: bool = False) -> str:
        """Return the expression *text* with properties replaced by constants, or by `$SECRETS` if that is not possible.

        *who* names the owner of the expression, at *place*. In an argument of a function it may have secrets.
        """
        if is_argument and not _properties_in(text):
            return _VARIABLE.sub("$SECRETS", text)
        made, end = "", 0
        for word, used, name in _properties_in(text):
            made += text[end : word.offset]
            end = word.offset + len(word.text)
            path = () if used is None else _path_in(used[1])
            what = None if is_argument or used is None else f"{who}: {used[0]}"
            if used is not None and self._has(name, what, place):
                made += _constant(name)
                end = used.end()
            else:
                made += "$SECRETS"
                key = self._key(name)
                if is_argument and path and (key is not None or word.text == "$SECRET"):
                    self.secrets[path] = key
        return made + text[end:]

    def _key(self, name: str) -> str | None:
        """Return the property that *name* is: that of the workflow alone counts before that of all."""
        return next((one for one in (f"{self._root.get('id')}.{name}", name) if self._properties.get(one)), None)

    def exposes(self, text: str) -> bool:
        """Return True if the expression *text* uses a property that cannot be a constant."""
        return any(isinstance(self._counterpart(name), str) for _, _, name in _properties_in(text))

    def _has(self, name: str, what: str | None, place: Any) -> bool:
        """Return True if the property *name* has a constant now; else report *what*, if there is one, with a hint."""
        found = self._counterpart(name)
        if isinstance(found, str):
            if what is not None:
                self._report.inexpressible(f"{what} outside of arguments of functions", place, found)
        elif found is not None:
            self._add(name, *found)
        return not isinstance(found, str)

    def _counterpart(self, name: str) -> tuple[str, str] | str | None:
        """Return the key and value for a constant *name*, None if there is one, or a hint if it cannot be one."""
        if name in self._added:
            return None
        key = self._key(name)
        constants = self._root.get("constants", {})
        value = None if key is None else _public_value(key, self._properties)
        hint = f"if it is not a secret, write it into 'constants' and use {_constant(name)}"
        if is_secret(name):
            return _EXPOSED
        if isinstance(constants, dict) and name in constants:
            return f"there is another constant {name!r}: write it into 'constants' under a different name"
        if key is not None and value is None:
            return f"its value contains a credential, or refers to a secret or an unknown property: {hint}"
        return (key, value) if key is not None and value is not None and isinstance(constants, dict) else hint

    def _add(self, name: str, key: str, value: str) -> None:
        if "constants" in self._root:
            add(self._root["constants"], name, value)
        else:
            add(self._root, "constants", {name: value}, "id")
        self._added[name] = key
        self._report.reshaped(f"the property {key!r} is the constant {name!r}")


def _properties_in(text: str) -> list[tuple[Token, re.Match[str] | None, str]]:
    """Return each use of properties in the expression *text*: the variable, the place with the name, and the name."""
    try:
        words = [one for one in tokens(text) if one.kind == "variable" and one.text in _VARIABLES]
    except BadExpression:
        return []
    uses = [(word, _USED.match(text, word.offset)) for word in words]
    return [(word, used, "" if used is None else ".".join(_path_in(used[1]))) for word, used in uses]


def _path_in(path: str) -> tuple[str, ...]:
    return tuple(one or other for one, other in _NAME.findall(path))


def _public_value(key: str, properties: Mapping[str, str]) -> str | None:
    """Return the value of the property *key*; None if it is a secret, or refers to one or to an unknown property."""
    value = resolved(properties[key], properties, is_known=lambda name: not is_secret(name))
    return None if is_secret(key) or "${" in value or has_credential(value) else value


def _constant(name: str) -> str:
    return f"$CONST.{name}" if _PLAIN.fullmatch(name) else f'$CONST["{name}"]'
