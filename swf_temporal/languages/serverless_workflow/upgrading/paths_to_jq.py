"""Translation of JSONPath in double braces, as in 0.5, to jq.

Names, indexes, wildcards, and filters that compare one path with a value are translated. Everything else is reported as
not expressible.
"""

import re
from typing import Final

from swf_temporal.base.strict_json import show_json, write_json
from swf_temporal.expressions.early_paths import BRACES

_NAME: Final = r"[A-Za-z_]\w*"
_STEP: Final = re.compile(
    rf"""\.({_NAME}(?:-+\w+)*)|\[\s*'([^'\\]*)'\s*\]|\[\s*"([^"\\]*)"\s*\]|\.?\[\s*(-?\d+)\s*\]"""
)
ALL_ELEMENTS: Final = re.compile(r"\.?\[\s*\*\s*\]|\.\*")
_FILTER: Final = re.compile(r"\.?\[\s*\?\s*\(?\s*(@(?:\.\w+)+)\s*(?:(==|!=|<=|>=|<|>)\s*([^\])]+?)\s*)?\)?\s*\]")
_PLAIN: Final = re.compile(_NAME)
_LITERAL: Final = re.compile(r"-?\d+(?:\.\d+)?|true|false|null|'[^'\\]*'|\"[^\"\\]*\"")


class NotInJqError(ValueError):
    """A path or an expression that is not translated."""


class JqPath:
    def __init__(self, text: str) -> None:
        """Translate *text*. Raises NotInJqError."""
        self.steps: list[str | int] = []
        self.is_single = True
        """Whether it finds one value at most."""
        rest = text.strip().rstrip(".")
        if not rest.startswith("$"):
            raise NotInJqError(f"{text.strip()!r} is not a path")
        self._root_filter: str | None = None
        self._jq = self._translated(rest[1:], text)

    @property
    def jq(self) -> str:
        """The expression that yields the value at the path, or an array if there may be several."""
        return self._jq if self.is_single else f"[{self._jq}]"

    @property
    def key(self) -> str | None:
        return next((step for step in reversed(self.steps) if isinstance(step, str)), None)

    @property
    def found(self) -> str:
        """The expression that yields true if the path finds something."""
        if not self.is_single:
            return "true"
        tests, at = [], "."
        for step in self.steps:
            kind = "object" if isinstance(step, str) else "array"
            index = write_json(step)
            tests.append(f'({at} | type == "{kind}" and has({index}))')
            at = _extended(at, step)
        return " and ".join(tests) or "true"

    @property
    def holds(self) -> str:
        """The expression that yields true if the path holds as a condition."""
        if self._root_filter is not None:
            return f'if type == "object" then {self._root_filter} else ({self.jq} | length > 0) end'
        if not self.is_single:
            return f"({self.jq} | length > 0)"
        return f'({self._jq} | . != null and . != false and . != "" and . != [] and . != {{}})'

    def keyed(self, without: str = ".") -> str:
        """Return the expression that yields the value under the path's last name; *without* if nothing is found."""
        if self.key is None:
            return self.jq
        made = f"{{{_field(self.key)}: {self.jq}}}"
        return made if self.found == "true" else f"if {self.found} then {made} else {without} end"

    def _translated(self, rest: str, text: str) -> str:
        jq = "."
        while rest:
            step, all_of, chosen = _STEP.match(rest), ALL_ELEMENTS.match(rest), _FILTER.match(rest)
            if step is not None:
                name = next((step[group] for group in (1, 2, 3) if step[group] is not None), None)
                one: str | int = int(step[4]) if name is None else name
                self.steps.append(one)
                jq, rest = _extended(jq, one), rest[step.end() :]
            elif all_of is not None:
                self.is_single = False
                jq, rest = f"{jq}[]?", rest[all_of.end() :]
            elif chosen is not None:
                self.is_single = False
                test = _test(chosen, text)
                if jq == "." and chosen.end() == len(rest):
                    self._root_filter = test
                jq, rest = f"{jq}[]? | select({test})", rest[chosen.end() :]
                if rest:
                    raise NotInJqError(f"the path {text.strip()!r} continues after a filter")
            else:
                raise NotInJqError(f"the path {text.strip()!r} is not translated to jq")
        return jq


def in_template(text: str) -> str:
    """Return *text* with its paths in braces as jq in `${ }`, which is plain text in 0.5. Raises NotInJqError."""
    if "${" in text:
        if BRACES.search(text):
            raise NotInJqError(f"{text.strip()!r} has a path beside a text with ${{")
        return f"${{ {show_json(text)} }}"
    whole = BRACES.fullmatch(text.strip())
    if whole is not None:
        return f"${{ {JqPath(whole[1]).jq} }}"
    if text.strip()[:1] == "$":
        return f"${{ {JqPath(text).jq} }}"
    return BRACES.sub(lambda match: f'${{ {JqPath(match[1]).jq} | if . == null then "" else . end }}', text)


def path_in(text: str) -> JqPath:
    """Return the path in *text*, with or without braces. Raises NotInJqError."""
    whole = BRACES.fullmatch(text.strip())
    return JqPath(text if whole is None else whole[1])


def _test(chosen: re.Match[str], text: str) -> str:
    # A path finds nothing in an element that is not an object.
    path, operator, literal = f"first(.{chosen[1][2:].replace('.', '?.')}?, null)", chosen[2], chosen[3]
    if operator is None:
        return path
    if _LITERAL.fullmatch(literal) is None:
        raise NotInJqError(f"the filter of the path {text.strip()!r} compares with {literal}")
    value = write_json(literal[1:-1]) if literal[0] in "'\"" else literal
    if operator in ("==", "!="):
        return f"{path} {operator} {value}"
    kind = "string" if literal[0] in "'\"" else "number"
    return f'({path} | type == "{kind}" and . {operator} {value})'


def _extended(jq: str, step: str | int) -> str:
    if isinstance(step, int):
        return f"{jq}[{step}]"
    base = "" if jq == "." else jq
    return f"{base}.{_field(step)}" if _PLAIN.fullmatch(step) else f"{jq}[{write_json(step)}]"


def _field(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else write_json(name)
