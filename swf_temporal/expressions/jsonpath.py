"""Expressions in JSONPath (RFC 9535), for workflows whose expression language it is.

`$` is the data. A path that starts with the name of a variable, as in `$CONST.rate`, starts in its value. A path that
names at most one place yields the value there, or nothing; any other yields an array of all values that it finds. The
library is imported only for workflows that use it.
"""

import re
from collections.abc import Collection
from functools import cache
from typing import TYPE_CHECKING, Any

from swf_temporal.base.accounting import current_account
from swf_temporal.base.data import JSON
from swf_temporal.base.errors import ExpressionFailed, ExpressionLimitExceeded
from swf_temporal.base.strict_json import NotJSON, read_written, write_json
from swf_temporal.expressions.compiled import ANY, NOTHING, BadExpression, EvaluationOutcome, Variables, is_true
from swf_temporal.expressions.guarding.deferring import ask, jsonpath_bound
from swf_temporal.expressions.guarding.guard import JSONPATH, written
from swf_temporal.expressions.guarding.jq_process import FAILED

if TYPE_CHECKING:
    from jsonpath import JSONPathEnvironment

_MAX_SEGMENTS = 200
"""The maximum number of steps of a path."""
_VARIABLE = re.compile(r"\$(\w+)(?=$|[.\[])")
_ROOT_FILTER = re.compile(r"\$\s*\[\s*\?")
_DOT_BEFORE_BRACKET = re.compile(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(?<!\.)\.(?=\[)""", re.DOTALL)
_OF_OBJECTS = "of objects: "
"""The beginning of a text that is asked for where filters apply to objects themselves, and not to their members."""


class JsonPathProgram:
    """A compiled JSONPath, and the variable it starts in, if any."""

    __slots__ = ("_asked", "_path", "_text", "_variable", "mentions")

    constant = False
    kinds = ANY

    def __init__(self, text: str, declared: Collection[str], *, filters_objects: bool = False) -> None:
        """Compile *text*, in which filters apply to the members of objects, or with *filters_objects* to themselves."""
        from jsonpath import JSONPath, JSONPathError  # noqa: PLC0415 - heavy, and seldom needed

        self._text = text.strip()
        self._variable = _variable(self._text, declared)
        self.mentions = frozenset[str]() if self._variable is None else frozenset({self._variable})
        path = self._text if self._variable is None else f"${self._text[len(self._variable) + 1 :]}"
        if not path.startswith("$"):
            raise BadExpression(f"'{self._text}' is not a JSONPath: one begins with $", 0)
        try:
            # For other engines, brackets are often written with a dot before them, as in $.[?(…)].
            path = _DOT_BEFORE_BRACKET.sub(r"\1", path)
            compiled = _environment().compile(path)
        except (JSONPathError, RecursionError) as error:
            raise BadExpression(f"'{self._text}' is not a JSONPath: {_reason(error)}") from None
        if not isinstance(compiled, JSONPath):
            raise BadExpression(f"'{self._text}' is several paths, and has to be one")
        if len(compiled.segments) > _MAX_SEGMENTS:
            # The library recurses for each of them, and Python crashes if that is too deep.
            raise BadExpression(f"the path has {len(compiled.segments):,} steps, and the limit is {_MAX_SEGMENTS}")
        self._path = compiled
        self._asked = f"{_OF_OBJECTS}{path}" if filters_objects else path

    def __call__(self, data: JSON, variables: Variables) -> EvaluationOutcome:
        """Return the value that the path finds, or an array of all if it may find several."""
        found = self.found(data if self._variable is None else variables.get(self._variable))
        if self.is_singular:
            return found[0] if found else NOTHING
        return found

    def holds(self, data: JSON, variables: Variables) -> bool:
        """Return whether the path is true as a condition: it finds something that is not false or null.

        `$[?(…)]` on an object applies to the object itself, as authors of conditions mean it.
        """
        root = data if self._variable is None else variables.get(self._variable)
        if isinstance(root, dict) and _ROOT_FILTER.match(str(self._path)):
            root = [root]
        return any(map(is_true, self.found(root)))

    @property
    def steps(self) -> list[str | int] | None:
        """The keys and indices of a path that names one place in the data, else None."""
        if self._variable is not None or not self.is_singular:
            return None
        return [
            getattr(selector, "name", getattr(selector, "index", 0))
            for segment in self._path.segments
            for selector in segment.selectors
        ]

    @property
    def is_singular(self) -> bool:
        """True if the path names at most one place, whatever the data."""
        return self._path.singular_query()

    def found(self, root: JSON) -> list[JSON]:
        """Return all values that the path finds in *root*."""
        from jsonpath import JSONPathError  # noqa: PLC0415 - as above

        if not isinstance(root, dict | list):
            # The library would parse a text as JSON; a value without parts can only be selected as a whole.
            return [root] if str(self._path) == "$" else []
        try:
            if self.is_singular:
                found: list[Any] = self._path.findall(root)
                return found
            text = written(root)
            answer = ask(self._asked, text, jsonpath_bound(self._asked), JSONPATH)
        except (JSONPathError, NotJSON, RecursionError) as error:
            raise ExpressionFailed(f"'{self._text}' fails on the data: {_reason(error)}") from None
        except ExpressionLimitExceeded as limit:
            raise ExpressionLimitExceeded(f"{limit.message}: '{self._text}'", retryable=False) from None
        current_account().charge_helper(len(text), len(answer.text), is_python=True)
        if answer.status == FAILED:
            raise ExpressionFailed(f"'{self._text}' fails on the data: {answer.text}")
        outputs: list[JSON] = read_written(answer.text)
        return outputs


class Condition:
    """A JSONPath read as a condition: true or false."""

    __slots__ = ("_path", "mentions")

    constant = False
    kinds = frozenset({"boolean"})

    def __init__(self, path: JsonPathProgram) -> None:
        self._path = path
        self.mentions = path.mentions

    def __call__(self, data: JSON, variables: Variables) -> EvaluationOutcome:
        """Return whether the path finds anything."""
        return self._path.holds(data, variables)


def path_of(text: str, declared: Collection[str]) -> list[str | int]:
    """Return the place in the data that *text* names; an empty one names the root. Raises BadExpression."""
    steps = JsonPathProgram(text, declared).steps if text.strip() not in ("", ".") else []
    if steps is None:
        raise BadExpression(f"'{text.strip()}' does not name a single place in the data, as '$.result' would", 0)
    return steps


def _variable(text: str, declared: Collection[str]) -> str | None:
    match = _VARIABLE.match(text)
    return match[1] if match and match[1] in declared else None


def _reason(error: Exception) -> str:
    # The library's own text of an error shows the expression, and fails if that is empty.
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error.args[0])


@cache
def _environment() -> "JSONPathEnvironment":
    from jsonpath import JSONPathEnvironment  # noqa: PLC0415 - heavy, and seldom needed

    return JSONPathEnvironment(strict=True)


class JsonPathQuery:
    """A JSONPath, evaluated within a helper process."""

    def __init__(self, text: str) -> None:
        self._path = _environment().compile(text.removeprefix(_OF_OBJECTS))
        if text.startswith(_OF_OBJECTS):
            _filter_objects(self._path)

    def input_text(self, text: str) -> list[str]:
        """Return all values that the path finds in the data of *text*, as one list. Raises ValueError."""
        from jsonpath import JSONPathError  # noqa: PLC0415 - as above

        try:
            return [write_json(self._path.findall(read_written(text)))]
        except (JSONPathError, RecursionError) as error:
            raise ValueError(_reason(error)) from None


def _filter_objects(path: Any) -> None:
    """Let the filters of a compiled *path* apply to an object itself, and not to its members."""
    from jsonpath.selectors import Filter  # noqa: PLC0415 - as above

    class FilterOfObjects(Filter):
        def resolve(self, node: Any) -> Any:
            """Yield what the filter selects of *node*."""
            if not isinstance(node.obj, dict):
                yield from super().resolve(node)
            elif any(True for _ in super().resolve(node.new_child([node.obj], 0))):
                yield node

    for segment in path.segments:
        segment.selectors = tuple(
            FilterOfObjects(env=one.env, token=one.token, expression=one.expression) if isinstance(one, Filter) else one
            for one in segment.selectors
        )
