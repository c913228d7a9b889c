"""JSONPath as it was written before the standard: as in the examples of the drafts of 2019 and 2020.

In addition to the standard's syntax (`expressions/jsonpath.py`) it has names with hyphens after a dot, as in
`$.exit-code`, a dot before a bracket, as in `$.[?(@.ok)]`, a dot at the end, as in `$.`, and no dot after the `$`, as
in `$event.type`. A filter that is a path alone selects elements with a value there that is not false: with
`[?(@.veggieLike)]` the drafts keep what is liked, while the standard checks only that the key exists. Paths whose steps
are all names and indexes are followed here; the library is imported for all others.

In definitions of 0.5 paths stand in double braces, as in `{{ $.order.id }}`. They are compiled here, too.
"""

import re
from collections.abc import Mapping
from typing import Final

from swf_temporal.base.data import JSON
from swf_temporal.expressions import template
from swf_temporal.expressions.compiled import (
    ANY,
    NOTHING,
    BadExpression,
    Compiled,
    Constant,
    EvaluationOutcome,
    Variables,
)
from swf_temporal.expressions.evaluation import Expressions
from swf_temporal.expressions.jsonpath import JsonPathProgram
from swf_temporal.expressions.targets import Target, refused
from swf_temporal.expressions.template import Joined

_NAME = r"\w+(?:-+\w+)*"
_STEP: Final = re.compile(rf"""\.({_NAME})|\[\s*'([^'\\]*)'\s*\]|\[\s*"([^"\\]*)"\s*\]|\[\s*(-?\d+)\s*\]""")
_IN_A_TEXT: Final = re.compile(rf"\$(?:\.{_NAME}|{_NAME}\.{_NAME})(?:\.{_NAME}|\[\d+\]|\['[^']*'\])*")
"""A path within a text. Without a dot after the `$` there must be a later one, so that `$5` is not a path."""
_WITHOUT_DOT: Final = re.compile(rf"\$(?={_NAME}(?:\.|\[|$))(?!\d)")
_LONE_PATH: Final = re.compile(r"\[\s*\?\s*\(?\s*(@(?:\.\w+|\['[^']*'\])+)\s*\)?\s*\]")
_DOTTED_NAME: Final = re.compile(rf"(\.\.?)({_NAME})")


class EarlyPath:
    """A JSONPath, and the last key on it."""

    __slots__ = ("_program", "_steps", "_synonyms", "last_key", "text")

    constant = False
    kinds = ANY
    mentions: frozenset[str] = frozenset()

    def __init__(self, text: str, synonyms: Mapping[str, str] | None = None) -> None:
        """Compile *text*. Raises BadExpression if it is not a path.

        *synonyms* map first names to others, which are used if the data does not have the name.
        """
        self.text = text.strip()
        self._synonyms = synonyms or {}
        path = _WITHOUT_DOT.sub("$.", self.text, count=1).rstrip(".")
        if not path.startswith("$"):
            raise BadExpression(f"'{self.text}' is not a JSONPath: one begins with $", 0)
        self._steps = _steps(path[1:])
        self._program: JsonPathProgram | None = None
        if self._steps is None:
            self._program = _program(path, self.text)
        self.last_key: str | None = _last_key(path) if self._steps is None else _last_name(self._steps)
        """The last name on the path, outside of filters."""

    @property
    def is_singular(self) -> bool:
        """True if it names at most one place, whatever the data."""
        return self._program is None or self._program.is_singular

    @property
    def steps(self) -> list[str | int] | None:
        """The keys and indexes of the path; None if it has other steps."""
        return None if self._steps is None else list(self._steps)

    def found(self, data: JSON) -> list[JSON]:
        """Return all values that the path finds in *data*."""
        if self._program is not None:
            return self._program.found(data)
        steps = self._steps or []
        if steps and steps[0] in self._synonyms and isinstance(data, dict) and steps[0] not in data:
            steps = [self._synonyms[str(steps[0])], *steps[1:]]
        for step in steps:
            inner = _inner(data, step)
            if inner is None:
                return []
            data = inner[0]
        return [data]

    def __call__(self, data: JSON, _variables: Variables) -> EvaluationOutcome:
        """Return the value that the path finds, or an array of all if it may find several."""
        found = self.found(data)
        if not self.is_singular:
            return found
        return found[0] if found else NOTHING


def _inner(data: JSON, step: str | int) -> tuple[JSON] | None:
    """Return the value in *data* at a key or an index, in a tuple, or None if there is none."""
    if isinstance(step, str):
        return (data[step],) if isinstance(data, dict) and step in data else None
    return (data[step],) if isinstance(data, list) and -len(data) <= step < len(data) else None


def is_path(text: str) -> bool:
    """Return whether *text* looks like a path, valid or not."""
    stripped = text.strip()
    return stripped.startswith(("$.", "$[")) or stripped == "$" or _WITHOUT_DOT.match(stripped) is not None


class PathInText(str):
    __slots__ = ()


def pieces_of(text: str) -> list[str]:
    """Return *text* alone, as a PathInText if it is one path; or the pieces of a text that contains paths."""
    if "$" not in text:
        return [text]
    stripped = text.strip()
    if is_path(stripped) and (" " not in stripped or _is_whole(stripped)):
        return [PathInText(stripped)]
    pieces: list[str] = []
    at = 0
    for match in _IN_A_TEXT.finditer(text):
        pieces += [text[at : match.start()], PathInText(match[0])]
        at = match.end()
    return [*pieces, text[at:]]


def early_text(text: str, synonyms: Mapping[str, str] | None = None) -> Compiled:
    """Compile a text that is a path or contains paths. Raises BadExpression."""
    pieces = [EarlyPath(piece, synonyms) if isinstance(piece, PathInText) else piece for piece in pieces_of(text)]
    if len(pieces) > 1:
        return Joined(pieces)
    return Constant(text) if isinstance(pieces[0], str) else pieces[0]


def _is_whole(text: str) -> bool:
    """Return whether a text with blanks is one path: all of them are within its brackets."""
    depth = 0
    for character in text:
        depth += (character == "[") - (character == "]")
        if character == " " and depth == 0:
            return False
    return True


def _steps(path: str) -> list[str | int] | None:
    steps: list[str | int] = []
    at = 0
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None:
            return None
        name = next((match[group] for group in (1, 2, 3) if match[group] is not None), None)
        steps.append(int(match[4]) if name is None else name)
        at = match.end()
    return steps


def _last_name(steps: list[str | int]) -> str | None:
    return next((step for step in reversed(steps) if isinstance(step, str)), None)


def _program(path: str, written: str) -> JsonPathProgram:
    try:
        return JsonPathProgram("".join(_standard(piece) for piece in _pieces(path)), ())
    except BadExpression as error:
        # The library's error is reported with the text as it was written.
        reason = error.message.partition("is not a JSONPath: ")[2] or error.message
        raise BadExpression(f"'{written}' is not a JSONPath: {reason}", 0) from None


def _last_key(path: str) -> str | None:
    names = [name for piece in _pieces(path) if not piece.startswith("[") for _, name in _DOTTED_NAME.findall(piece)]
    return names[-1] if names else None


def _pieces(path: str) -> list[str]:
    """Return the parts of *path* within and between brackets, in order."""
    pieces, depth, quote = [""], 0, ""
    for character in path:
        if quote:
            quote = "" if character == quote else quote
        elif depth and character in "'\"":
            quote = character
        elif character == "[":
            pieces += [""] if depth == 0 else []
            depth += 1
        pieces[-1] += character
        if character == "]" and not quote:
            depth -= 1
            pieces += [""] if depth == 0 else []
    return [piece for piece in pieces if piece]


def _standard(piece: str) -> str:
    if piece.startswith("["):
        return _LONE_PATH.sub(r"[?\1 && \1 != false]", piece)
    if piece.endswith(".") and not piece.endswith(".."):
        piece = piece[:-1]
    return _DOTTED_NAME.sub(_quoted, piece)


def _quoted(match: re.Match[str]) -> str:
    dots, name = match[1], match[2]
    if "-" not in name and not name[0].isdigit():
        return match[0]
    return f"..['{name}']" if dots == ".." else f"['{name}']"


def place_of(path: EarlyPath) -> Target:
    """Return *path* as the place that it names. Raises BadExpression if it may name several, or none."""
    steps = path.steps
    if steps is None:
        raise BadExpression(f"'{path.text}' does not name a single place in the data, as '$.result' would", 0)
    reason = refused(steps)
    if reason is not None:
        raise BadExpression(reason, 0)
    return lambda _data, _variables: list(steps)


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
