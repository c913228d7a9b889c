"""Translation of JSONPath in the drafts of 2019 and 2020 to jq.

A path finds values, or nothing; null is a value. So `found` is exact, and yields nothing if the path finds nothing;
`loose` is shorter, and may yield null then, for uses in which that makes no difference.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from swf_temporal.base.strict_json import show_json
from swf_temporal.expressions.compiled import BadExpression
from swf_temporal.expressions.early_paths import EarlyPath
from swf_temporal.languages.serverless_workflow.upgrading.paths_to_jq import ALL_ELEMENTS, NotInJqError

_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAME: Final = r"\w+(?:-+\w+)*"
_QUOTED: Final = r"""'([^'\\]*)'|"([^"\\]*)\""""
_STEP: Final = re.compile(rf"\.({_NAME})|\.?\[\s*(?:{_QUOTED})\s*\]")
_INDEX: Final = re.compile(r"\.?\[\s*(-?\d+)\s*\]")
_DEEP: Final = re.compile(r"\.\.(?=[\w*\[])")
_FILTER: Final = re.compile(r"\.?\[\s*\?")
_TERM: Final = re.compile(
    rf"""\s*(?:(?P<path>@(?:\.{_NAME}|\[\s*(?:'[^'\\]*'|"[^"\\]*")\s*\])*)
      |(?P<literal>-?\d+(?:\.\d+)?|true|false|null|'[^'\\]*'|"[^"\\]*")
      |(?P<sign>==|!=|<=|>=|<|>|&&|\|\||!|\(|\)))""",
    re.VERBOSE,
)


class JqFinds:
    """A path of an early version, translated to jq."""

    def __init__(self, text: str, synonyms: Mapping[str, str] | None = None) -> None:
        """Translate *text*. Raises NotInJqError."""
        try:
            path = EarlyPath(text)
        except BadExpression as error:
            raise NotInJqError(error.message) from None
        self.text = path.text
        self.steps = path.steps
        self.last_key = path.last_key
        self.is_singular = path.is_singular
        other = None if synonyms is None or not self.steps else synonyms.get(str(self.steps[0]))
        if self.steps is not None:
            strict, loose = _strict(self.steps), _loose(self.steps)
            if other is not None:
                first = f"first(({_strict(self.steps[:1])}), ({_strict([other])}))"
                strict = loose = " | ".join(part for part in (first, _strict(self.steps[1:])) if part != ".")
            self.found, self.loose = strict, loose
        else:
            self.found = self.loose = _translated(_as_path(self.text))

    @property
    def value(self) -> str:
        """The value, null or nothing if there is none; an array of all if the path may find several."""
        return self.loose if self.is_singular else f"[{self.found}]"

    @property
    def or_all(self) -> str:
        """The value or, if the path finds nothing, the whole input."""
        if self.steps == []:
            return "."
        if self.is_singular:
            return f"first(({self.found}), .)"
        return f"[{self.found}] as $found | if $found == [] then . else $found end"


def field(name: str) -> str:
    """Return *name* as the key of an object in jq."""
    return name if _PLAIN.fullmatch(name) else show_json(name)


def place(steps: list[str | int]) -> str:
    """Return the path *steps* in the form of `toStateData`."""
    made = ""
    for step in steps:
        made += f".{step}" if isinstance(step, str) and _PLAIN.fullmatch(step) else f"[{_literal(step)}]"
    return made if made.startswith(".") else f".{made}"


def _literal(step: str | int) -> str:
    return show_json(step)


def _strict(steps: list[str | int]) -> str:
    parts = []
    for step in steps:
        if isinstance(step, int) and step < 0:
            parts.append(f'select(type == "array" and length >= {-step}) | .[{step}]')
        else:
            parts.append(f"select(has({_literal(step)})?) | {place([step])}")
    return " | ".join(parts) or "."


def _loose(steps: list[str | int]) -> str:
    made = "".join(
        f".{step}?" if isinstance(step, str) and _PLAIN.fullmatch(step) else f"[{_literal(step)}]?" for step in steps
    )
    return made if made.startswith(".") else f".{made}"


def _as_path(text: str) -> str:
    """Return the part after the `$`."""
    return text.rstrip(".").removeprefix("$")


def _translated(path: str) -> str:
    parts: list[str] = []
    at = 0
    if path and path[0] not in ".[":
        path = f".{path}"
    while at < len(path):
        deep = _DEEP.match(path, at)
        if deep is not None:
            parts.append("..")
            # One of the two dots belongs to a following name, none to a bracket.
            at = deep.end() - (path[deep.end()] != "[")
            continue
        found = next(
            ((match, to_jq) for pattern, to_jq in _PARTS if (match := pattern.match(path, at)) is not None), None
        )
        if found is not None:
            match, to_jq = found
            parts.append(to_jq(match))
            at = match.end()
            continue
        filtering = _FILTER.match(path, at)
        if filtering is None:
            raise NotInJqError(f"the path '${path}' is not translated to jq")
        test, at = _Test(path, filtering.end()).read()
        parts.append(f".[]? | select({test})")
    return " | ".join(parts) or "."


def _name_of(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group is not None)


_PARTS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...]] = (
    (_STEP, lambda match: _strict([_name_of(match)])),
    (_INDEX, lambda match: _strict([int(match[1])])),
    (ALL_ELEMENTS, lambda _: ".[]?"),
)


class _Test:
    """The condition of a filter: joined comparisons of paths with literals."""

    def __init__(self, path: str, at: int) -> None:
        self._path = path
        self._at = at

    def read(self) -> tuple[str, int]:
        """Return it in jq, and the end of its brackets."""
        alone = re.compile(rf"\s*\(?\s*(@(?:\.{_NAME}|\['[^']*'\])+)\s*\)?\s*\]").match(self._path, self._at)
        if alone is not None:
            # A path alone keeps elements with a value there that is not false.
            return f"any({_inner(alone[1])}; . != false)", alone.end()
        test = self._alternatives()
        end = re.compile(r"\s*\]").match(self._path, self._at)
        if end is None:
            raise self._refused()
        return test, end.end()

    def _alternatives(self) -> str:
        return self._joined("||", "or", self._conjunction)

    def _conjunction(self) -> str:
        return self._joined("&&", "and", self._term)

    def _joined(self, sign: str, word: str, part: Callable[[], str]) -> str:
        parts = [part()]
        while self._peek() == sign:
            self._next()
            parts.append(part())
        return parts[0] if len(parts) == 1 else f"({f' {word} '.join(parts)})"

    def _term(self) -> str:
        kind, text = self._next()
        if text == "!":
            return f"({self._term()} | not)"
        if text == "(":
            inner = self._alternatives()
            if self._next()[1] != ")":
                raise self._refused()
            return inner
        if kind != "path":
            raise self._refused()
        operator = self._peek()
        if operator not in ("==", "!=", "<", "<=", ">", ">="):
            return f"any({_inner(text)}; true)"
        self._next()
        of, literal = self._next()
        if of != "literal":
            raise self._refused()
        value = show_json(literal[1:-1]) if literal[0] in "'\"" else literal
        if operator in ("==", "!="):
            return f"[{_inner(text)}] {operator} [{value}]"
        if value in ("true", "false", "null"):
            raise self._refused()
        kind = "string" if value[0] == '"' else "number"
        return f'any({_inner(text)}; type == "{kind}" and . {operator} {value})'

    def _match(self) -> re.Match[str] | None:
        return _TERM.match(self._path, self._at)

    def _peek(self) -> str:
        match = self._match()
        return "" if match is None or match["sign"] is None else match["sign"]

    def _next(self) -> tuple[str, str]:
        match = self._match()
        if match is None or match.lastgroup is None:
            raise self._refused()
        self._at = match.end()
        return match.lastgroup, match[match.lastgroup]

    def _refused(self) -> NotInJqError:
        return NotInJqError(f"the filter of the path '${self._path}' is not translated to jq")


def _inner(path: str) -> str:
    """Return the expression for a path that begins at an element."""
    return JqFinds(f"${path[1:]}").found
