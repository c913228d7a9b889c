"""The language's own form of expressions: a text that begins with `=` is jq, wherever it stands.

They see `$kitchen`, which has the id, `$error`, and what iterations and streams name. Where a call is performed, its
arguments and credentials see `$vault`, which has the secrets.
"""

from typing import Final

from swf_temporal.base.data import JSON
from swf_temporal.expressions import paths, template
from swf_temporal.expressions.compiled import NOTHING, Compiled, Constant, Variables
from swf_temporal.expressions.jq import JqProgram

MARK: Final = "="
SECRETS: Final = "vault"
DECLARED: Final = frozenset({"kitchen", "error", SECRETS})


class StepsExpressions:
    """Compiles the values of one definition, whose steps name *variables* of their own."""

    def __init__(self, variables: frozenset[str] = frozenset()) -> None:
        self._declared = DECLARED | variables

    def value_of(self, written: JSON, data: JSON, variables: Variables) -> JSON:
        given = {**dict.fromkeys(self._declared), **variables}
        outcome = template.filled(written, self._text)(data, given)
        return None if outcome is NOTHING else outcome

    def mentions(self, written: JSON) -> frozenset[str]:
        return template.filled(written, self._text).mentions

    def _text(self, text: str) -> Compiled:
        if not text.startswith(MARK):
            return Constant(text)
        source = text.removeprefix(MARK)
        return paths.compiled(source, self._declared) or JqProgram(source, self._declared)
