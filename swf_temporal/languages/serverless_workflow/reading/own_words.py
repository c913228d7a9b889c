"""Translation of problems from the words of the model, which rules use, to those of the author's version."""

import re
from dataclasses import replace

from swf_temporal.base.errors import Problem
from swf_temporal.languages.serverless_workflow.reading.versions.version import Version

_QUOTED = re.compile(r"('[^']*')")


def _is_key(word: str) -> bool:
    """Return True if *word* can only be a key, and not an English word as well."""
    return not word.isalpha() or not word.islower()


def _as_a_key(word: str) -> str:
    """Return the pattern of *word* as a key, or as the type of a state, in messages."""
    return f"(?:(?<=: )|(?<=in )|(?<=type )){word}(?= |$)"


class WordsOf:
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
