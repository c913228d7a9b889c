"""Reading the features of the specification's conformance test kit: Gherkin, as far as the kit uses it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import Final

_KEYWORDS: Final = re.compile(r"(?:Given|When|Then|And|But)\s+(.*)")
_QUOTES: Final = '"""'


@dataclass(frozen=True, slots=True)
class Step:
    """A step, without its keyword, and the text in triple quotes below it."""

    text: str
    document: str | None = None


@dataclass(slots=True)
class KitScenario:
    """A scenario of a feature."""

    file: Path
    feature: str
    name: str
    steps: list[Step] = field(default_factory=list)

    @property
    def id(self) -> str:
        """Return what names it among all scenarios of a folder."""
        return f"{self.file.name}: {self.name}"


def scenarios_in(folder: Path) -> list[KitScenario]:
    """Return the scenarios of all features in *folder*."""
    return [one for file in sorted(folder.glob("*.feature")) for one in read(file)]


def read(file: Path) -> Iterator[KitScenario]:
    """Yield the scenarios of a feature. Raises ValueError for a line that is not understood."""
    feature, found = "", None
    lines = enumerate(file.read_text("utf-8").splitlines(), 1)
    for number, line in lines:
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if text.startswith("Feature:"):
            feature = text.removeprefix("Feature:").strip()
        elif text.startswith("Scenario:"):
            if found is not None:
                yield found
            found = KitScenario(file, feature, text.removeprefix("Scenario:").strip())
        elif found is None:
            continue  # the story of the feature
        elif step := _KEYWORDS.fullmatch(text):
            found.steps.append(Step(step[1]))
        elif text.startswith(_QUOTES):
            document = _until_quotes(line.index(_QUOTES), lines)
            found.steps[-1] = Step(found.steps[-1].text, document)
        else:
            raise ValueError(f"{file}:{number}: this is not a step: {text}")
    if found is not None:
        yield found


def _until_quotes(margin: int, lines: Iterator[tuple[int, str]]) -> str:
    """Return the text up to the closing quotes, without the *margin* of the opening ones."""
    found: list[str] = []
    for _, line in lines:
        if line.strip() == _QUOTES:
            return dedent("\n".join(found)) + "\n"
        found.append(line[margin:] if not line[:margin].strip() else line)
    raise ValueError("a text in triple quotes does not end")
