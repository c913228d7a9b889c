"""A version of the language: its markers, its vocabulary and words, and the modules that rewrite its definitions."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.model.workflow import LanguageVersion
from swf_temporal.languages.serverless_workflow.reading.versions.marks import VersionEvidence, VersionMarker
from swf_temporal.languages.serverless_workflow.reading.vocabulary import Vocabulary
from swf_temporal.text.origin import Object

AS_IN_MODEL: Final = Vocabulary()
"""The vocabulary of a version in the form of the model."""
_QUOTED: Final = re.compile(r"('[^']*')")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Version(LanguageVersion):
    """One version, with everything that belongs to it. `VERSIONS` lists all."""

    title: str
    """Its name for people, such as "Serverless Workflow 0.6"."""
    also_named: tuple[str, ...] = ()
    """Versions that are identical to this one."""

    number: str | None
    """The version number in its definitions; None for a draft, which has none."""
    must_say_number: bool = True
    """Whether its definitions have to state their version."""
    tolerates_older_words: bool = False
    """Whether words of older versions are read in it as well: then they are not evidence for those versions."""
    last_keys: tuple[VersionMarker, ...] = ()
    """The keys that no later version has."""
    first_keys: tuple[VersionMarker, ...] = ()
    """The keys that no earlier version has."""
    shape: Callable[[Object], VersionEvidence | None] | None = None
    """The shape of documents of a draft, by more than single keys and regardless of the stated number."""

    vocabulary: Vocabulary = AS_IN_MODEL
    """The form of its definitions."""
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The present words in messages, and its own words for them."""
    reader: str | None = None
    """The module with the `READER` of a draft, whose documents do not fit the model with a vocabulary."""

    upgraders: tuple[str, ...] = ()
    """The modules whose `upgrade(root, report)` converts its definitions to 0.8; a draft is lowered before."""
    writers: tuple[str, ...] | None = None
    """The modules that convert definitions of 0.8 to this version; None if that is not supported."""


class WordsOf:
    """Translates problems from the words of the model, which rules use, to those of the author's version."""

    def __init__(self, version: Version | None) -> None:
        self._words = dict(version.words) if version is not None else {}
        keys = [re.escape(word) if _is_key(word) else _as_a_key(word) for word in self._words]
        if version is not None and version.reader is None and version.state_word != "state":
            self._words |= {"state": (version.state_word,), "states": (version.states_key,)}
            keys += ["states?"]
        self._any = re.compile(rf"(?<![\w.])(?:{'|'.join(keys)})(?!\w)")

    def problem_in_own_words(self, problem: Problem) -> Problem:
        """Return *problem* with the model's words replaced, except in quotations of the author's text."""
        if not self._words:
            return problem
        hint = None if problem.hint is None else self._translated(problem.hint, problem.line)
        return replace(problem, message=self._translated(problem.message, problem.line), hint=hint)

    def _translated(self, text: str, line: str) -> str:
        pieces = _QUOTED.split(text)
        for index, piece in enumerate(pieces):
            if index % 2 == 0:
                pieces[index] = self._any.sub(lambda match: self._own(match[0], line), piece)
            elif piece[1:-1] in self._words and piece[1:-1] not in line:
                pieces[index] = f"'{self._own(piece[1:-1], line)}'"
        return "".join(pieces)

    def _own(self, word: str, line: str) -> str:
        """Return *word* if it is a key in the line, else the version's word: one in the line if there are several."""
        if re.search(rf"""(?<!\w){word}["']?\s*:""", line):
            return word
        choices = self._words[word]
        return next((one for one in choices if one in line), choices[0])


def _is_key(word: str) -> bool:
    """Return True if *word* can only be a key, and not an English word as well."""
    return not word.isalpha() or not word.islower()


def _as_a_key(word: str) -> str:
    """Return the pattern of *word* as a key, or as the type of a state, in messages."""
    return f"(?:(?<=: )|(?<=in )|(?<=type )){word}(?= |$)"
