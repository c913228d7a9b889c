"""A definition that is open in an editor: its problems, its names, and what stands at a place in it."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from swf_temporal.base.errors import InvalidDefinition, Position, Problem, UsageError
from swf_temporal.languages.known import language_of, usual_language
from swf_temporal.languages.loading import check
from swf_temporal.languages.marks import Kind, Mark
from swf_temporal.languages.port import Definition, Language
from swf_temporal.text.located import LINE_END
from swf_temporal.text.origin import Source
from swf_temporal.text.parsing import read_source

_WORD: Final = re.compile(
    r"\"(?:[^\"\\]|\\.)*\"?|'(?:[^']|'')*'?|[^\s,\[\]{}:#]+(?:[ :](?=[^\s,\[\]{}:#])[^\s,\[\]{}:#]+)*"
)
"""What stands at a place: a text in quotes, or words."""
_VALUE: Final = re.compile(
    r"^(?:.*[{,\s-])?[\"']?([\w-]+)[\"']?\s*:\s*(?:\[\s*(?:[^\[\]]*,\s*)?)?([\"']?)([^\"'\[\]{},]*)$"
)
"""A line up to the cursor, where that is in the value of a key, or in a list that begins on the line."""
_ITEM: Final = re.compile(r"^(\s*)-\s+([\"']?)([^\"':{}\[\],]*)$")
_KEY_OF_LIST: Final = re.compile(r"^(\s*)(?:-\s+)?[\"']?([\w-]+)[\"']?\s*:\s*$")


class Span(NamedTuple):
    """A part of one line, from a column on and before another; lines and columns count from zero."""

    line: int
    start: int
    end: int

    def holds(self, line: int, column: int) -> bool:
        return line == self.line and self.start <= column <= self.end


class Completing(NamedTuple):
    """A name that is being written."""

    kind: Kind
    span: Span
    """What is written of it."""
    is_quoted: bool


@dataclass
class EditedDocument:
    """The text of one document as it is now, and what was last read in it."""

    name: str
    folder: Path | None = None
    lines: list[str] = field(default_factory=list)
    problems: tuple[Problem, ...] = ()
    definition: Definition | None = None
    """The last that could run. What is being written most often cannot."""
    language: Language = field(default_factory=usual_language)
    """That of the last text that could be read."""
    marks: list[Mark] = field(default_factory=list)
    """The names of the last text that could be read."""

    def change(self, text: str) -> None:
        """Take note of the text as it is now."""
        self.lines = LINE_END.split(text)
        try:
            root, _ = read_source(Source(text, self.name))
            self.language = language_of(root)
            self.marks = self.language.marks(root)
        except InvalidDefinition:
            pass  # in the middle of a word; its problem is among those below
        try:
            checked = check(text, name=self.name, folder=self.folder)
        except UsageError as error:
            self.problems = (Problem("unreadable", error.message, hint=error.hint, file=self.name),)
            return
        self.problems = tuple(checked.problems)
        self.definition = checked.definition or self.definition

    def span_of(self, position: Position) -> Span:
        """Return where the word is that begins at *position*; without its quotes, if it has any."""
        line, start = max(position.line - 1, 0), max(position.column - 1, 0)
        text = self.lines[line] if line < len(self.lines) else ""
        found = _WORD.match(text, start)
        if found is None:
            return Span(line, min(start, len(text)), min(start + 1, len(text)))
        word = found[0]
        if word[0] in "\"'":
            return Span(line, start + 1, found.end() - (len(word) > 1 and word[-1] == word[0]))
        return Span(line, start, found.end())

    def written(self, span: Span) -> str:
        return self.lines[span.line][span.start : span.end]

    def place_of(self, mark: Mark) -> Span | None:
        """Return where the name of *mark* is in the text as it is now; None if it is written in another way."""
        line, start = mark.position.line - 1, mark.position.column - 1
        text = self.lines[line] if line < len(self.lines) else ""
        start += text[start : start + 1] in ("'", '"')
        end = start + len(mark.name)
        return Span(line, start, end) if mark.name and text[start:end] == mark.name else None

    def mark_at(self, line: int, column: int) -> Mark | None:
        """Return the name at a place."""
        for mark in self.marks:
            place = self.place_of(mark)
            if place is not None and place.holds(line, column):
                return mark
        return None

    def marks_of(self, mark: Mark) -> list[Mark]:
        """Return all places of the name of *mark*: where it is defined first."""
        same = [one for one in self.marks if (one.kind, one.name) == (mark.kind, mark.name)]
        return sorted(same, key=lambda one: not one.defines)

    def names_of(self, kind: Kind) -> list[str]:
        """Return the names that are defined of that kind."""
        return list(dict.fromkeys(one.name for one in self.marks if one.defines and one.kind is kind))

    def completing(self, line: int, column: int) -> Completing | None:
        """Return which name is being written at a place, if one is."""
        text = self.lines[line][:column] if line < len(self.lines) else ""
        found = _VALUE.match(text)
        if found is not None:
            kind, quote, begun = self._kind(found[1]), found[2], found[3]
        elif (found := _ITEM.match(text)) is not None:
            kind, quote, begun = self._kind(self._key_of_item(line, len(found[1]))), found[2], found[3]
        else:
            return None
        return None if kind is None else Completing(kind, Span(line, column - len(begun), column), bool(quote))

    def _key_of_item(self, line: int, indent: int) -> str | None:
        """Return the key of the list in which a line is an item."""
        for text in reversed(self.lines[:line]):
            found = _KEY_OF_LIST.match(text)
            if found is not None and len(found[1]) <= indent:
                return found[2]
            if text.strip() and not (_ITEM.match(text) and len(text) - len(text.lstrip()) == indent):
                return None
        return None

    def _kind(self, key: str | None) -> Kind | None:
        return None if key is None else self.language.kind_of_names(key)
