"""JSONPath as it was written before it had a standard: what the drafts of 2019 and 2020 show in their examples.

Beside the standard's spelling (`expressions/jsonpath.py`) it has names with hyphens after a dot, as in `$.exit-code`, a
dot before a bracket, as in `$.[?(@.ok)]`, a dot at the end, as in `$.`, and no dot after the `$`, as in `$event.type`.
A filter that is a path alone selects what has a value there that is not false: by `[?(@.veggieLike)]` the drafts keep
what is liked, where the standard asks only whether there is such a key. A path that names its steps one by one is
followed here; the library is imported for all others.
"""

import re
from collections.abc import Mapping
from typing import Final

from swf_temporal.base.data import JSON
from swf_temporal.expressions.compiled import NOTHING, BadExpression, Compiled, Constant, EvaluationOutcome, Variables
from swf_temporal.expressions.jsonpath import JsonPathProgram
from swf_temporal.expressions.kinds import ANY
from swf_temporal.expressions.targets import Target, refused
from swf_temporal.expressions.template import Joined

_NAME = r"\w+(?:-+\w+)*"
_STEP: Final = re.compile(rf"""\.({_NAME})|\[\s*'([^'\\]*)'\s*\]|\[\s*"([^"\\]*)"\s*\]|\[\s*(-?\d+)\s*\]""")
_IN_A_TEXT: Final = re.compile(rf"\$(?:\.{_NAME}|{_NAME}\.{_NAME})(?:\.{_NAME}|\[\d+\]|\['[^']*'\])*")
"""A path amid a text. Without a dot after the `$` there has to be one further on, so that `$5` is none."""
_WITHOUT_DOT: Final = re.compile(rf"\$(?={_NAME}(?:\.|\[|$))(?!\d)")
_LONE_PATH: Final = re.compile(r"\[\s*\?\s*\(?\s*(@(?:\.\w+|\['[^']*'\])+)\s*\)?\s*\]")
_DOTTED_NAME: Final = re.compile(rf"(\.\.?)({_NAME})")


class EarlyPath:
    """A JSONPath, and the key that what it finds is known by."""

    __slots__ = ("_program", "_steps", "_synonyms", "last_key", "text")

    constant = False
    kinds = ANY
    mentions: frozenset[str] = frozenset()

    def __init__(self, text: str, synonyms: Mapping[str, str] | None = None) -> None:
        """Compile *text*. Raises BadExpression for what is not a path.

        *synonyms* are first names by which something else is found, too, where data has no such name.
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
        """Whether it leads to one place at most, whatever the data."""
        return self._program is None or self._program.is_singular

    @property
    def steps(self) -> list[str | int] | None:
        """The keys and indexes that it names, one by one; None if it does more than that."""
        return None if self._steps is None else list(self._steps)

    def found(self, data: JSON) -> list[JSON]:
        """Return all that the path leads to in *data*."""
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
        """Return the value that the path leads to, or all of them as an array if it may lead to several."""
        found = self.found(data)
        if not self.is_singular:
            return found
        return found[0] if found else NOTHING


def _inner(data: JSON, step: str | int) -> tuple[JSON] | None:
    """Return what stands in *data* under a key or an index, or None if nothing does."""
    if isinstance(step, str):
        return (data[step],) if isinstance(data, dict) and step in data else None
    return (data[step],) if isinstance(data, list) and -len(data) <= step < len(data) else None


def is_path(text: str) -> bool:
    """Tell whether *text* is written as a path, be it a right one or not."""
    stripped = text.strip()
    return stripped.startswith(("$.", "$[")) or stripped == "$" or _WITHOUT_DOT.match(stripped) is not None


class PathInText(str):
    __slots__ = ()


def pieces_of(text: str) -> list[str]:
    """Return *text* alone, as a PathInText if it is one path; or the pieces of one that has paths in it."""
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
    """Return what fills a text: a path with what it finds, or a text that has paths in it. Raises BadExpression."""
    pieces = [EarlyPath(piece, synonyms) if isinstance(piece, PathInText) else piece for piece in pieces_of(text)]
    if len(pieces) > 1:
        return Joined(pieces)
    return Constant(text) if isinstance(pieces[0], str) else pieces[0]


def _is_whole(text: str) -> bool:
    """Tell whether a text with blanks is one path: they stand in its brackets, and nowhere else."""
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
        # What the library complains of is told of the text as it was written.
        reason = error.message.partition("is not a JSONPath: ")[2] or error.message
        raise BadExpression(f"'{written}' is not a JSONPath: {reason}", 0) from None


def _last_key(path: str) -> str | None:
    names = [name for piece in _pieces(path) if not piece.startswith("[") for _, name in _DOTTED_NAME.findall(piece)]
    return names[-1] if names else None


def _pieces(path: str) -> list[str]:
    """Return what stands within brackets on *path*, and what stands between, in order."""
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
    """Return *path* as the place that it names. Raises BadExpression where it may name several, or none."""
    steps = path.steps
    if steps is None:
        raise BadExpression(f"'{path.text}' names no single place in the data, as '$.result' would", 0)
    reason = refused(steps)
    if reason is not None:
        raise BadExpression(reason, 0)
    return lambda _data, _variables: list(steps)
