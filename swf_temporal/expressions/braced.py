"""Compiles the fields of definitions of 0.5: JSONPath in double braces, as in `{{ $.order.id }}`.

A text that is one such path becomes the value that the path finds; within a text, the value becomes part of the text.
As a condition, a path holds if it finds anything. The paths have the syntax from before the standard.
"""

import re
from typing import Final

from swf_temporal.base.data import JSON
from swf_temporal.expressions import template
from swf_temporal.expressions.compiled import BadExpression, Compiled, Constant, EvaluationOutcome, Variables
from swf_temporal.expressions.early_paths import EarlyPath, is_path, place_of
from swf_temporal.expressions.evaluation import Expressions
from swf_temporal.expressions.targets import Target

BRACES: Final = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_ROOT_FILTER: Final = re.compile(r"\$\s*\.?\s*\[\s*\?")


class BracedPaths(Expressions):
    """Compiles the expressions of one definition, each text once."""

    opening = "{{"

    def __init__(self) -> None:
        super().__init__(language="jsonpath")
        self._paths: dict[str, EarlyPath] = {}

    def expression(self, value: JSON) -> Compiled:
        """Compile a field that is a path, with or without braces. Raises BadExpression."""
        if not isinstance(value, str):
            return self.template(value)
        return self._path(value) if BRACES.search(value) is None else self.template(value)

    def condition(self, value: JSON) -> Compiled:
        """Compile a condition: a path, which holds if it finds anything. Raises BadExpression."""
        compiled = self.expression(value)
        return Finds(compiled) if isinstance(compiled, EarlyPath) else compiled

    def target(self, text: JSON) -> Target:
        """Compile a path that names one place in the data. Raises BadExpression if it may name several, or none."""
        if not isinstance(text, str):
            raise BadExpression("a place in the data is named by a path such as '$.result'")
        braced = BRACES.fullmatch(text.strip())
        return place_of(self._path(text if braced is None else braced[1]))

    def _path(self, text: str) -> EarlyPath:
        stripped = text.strip()
        found = self._paths.get(stripped)
        if found is None:
            found = self._paths[stripped] = EarlyPath(stripped)
        return found

    def _template_text(self, text: str) -> Compiled:
        braced = BRACES.fullmatch(text.strip())
        if braced is not None:
            return self._braced(braced)
        if BRACES.search(text) is None:
            # Official examples leave the braces out, too.
            return self._path(text) if is_path(text) and " " not in text.strip() else Constant(text)
        pieces: list[str | Compiled] = []
        at = 0
        for match in BRACES.finditer(text):
            pieces += [text[at : match.start()], self._braced(match)]
            at = match.end()
        return template.Joined([*pieces, text[at:]])

    def _braced(self, match: re.Match[str]) -> EarlyPath:
        try:
            return self._path(match[1])
        except BadExpression as error:
            raise error.moved(match.start(1) + len(match[1]) - len(match[1].lstrip())) from None


class Finds:
    """A path as a condition, which holds if it finds anything."""

    __slots__ = ("_path", "mentions")

    constant = False
    kinds = frozenset({"boolean"})

    def __init__(self, path: EarlyPath) -> None:
        self._path = path
        self.mentions = path.mentions

    def __call__(self, data: JSON, _variables: Variables) -> EvaluationOutcome:
        """Return whether the path finds something that is not a single null, false, or empty text, array or object.

        A filter at the root, as in `$[?(@.ok)]`, applies to the data themselves if they are an object.
        """
        if isinstance(data, dict) and _ROOT_FILTER.match(self._path.text):
            data = [data]
        found = self._path.found(data)
        only = found[0] if len(found) == 1 else found
        return only is not None and only is not False and only not in ("", [], {})
