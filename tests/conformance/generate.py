"""Which sentences of the specification are shown to hold, and by what? Run as a program, it writes the page about it.

Sentences stand in `sentences/`, a file for each part of the specification, in our own words. A scenario shows one by
naming its id under `spec`; `shown_by` names tests that show more of it. From the root of the project:
`python -m tests.conformance.generate`.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from swf_temporal.simulation.description import HOSTS
from swf_temporal.simulation.reading.scenarios import find_scenarios

ROOT: Final = Path(__file__).parents[2]
SENTENCES: Final = Path(__file__).parent / "sentences"
SCENARIOS: Final = ROOT / "tests" / "scenarios"
PAGE: Final = ROOT / "docs" / "conformance.md"

TEXTS: Final = ("0.8", "0.8-next")
"""The texts of the specification: the release, and what was written after it."""
MOST_LINKS = 3
"""How many of the scenarios that show a sentence the page names."""
_KEYS = {"id", "says", "in", "decided", "shown_by", "missing"}
_ID = re.compile(r"[a-z0-9-]+/[a-z0-9-]+")

_HEAD = """# Conformance

What the two texts of the specification demand, sentence by sentence in our own words, and what shows that it holds.
The texts are the release 0.8 and the draft that came after it, 0.8-next. Every sentence has a scenario, which runs in
simulation and on Temporal or claims that a definition is refused. Tests stand beside it where they show more, such as
with services and brokers that are not the scenario's own. This page is generated:
`python -m tests.conformance.generate`.
"""
_TABLE = "| what it says | texts | shown by | remark |\n|---|---|---|---|\n"
_MISSING = "| section | what it says | texts | why |\n|---|---|---|---|\n"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the specification that says what must be so."""

    section: str
    id: str
    says: str
    texts: tuple[str, ...]
    decided: str = ""
    """Where we differ from the text by decision, and why."""
    shown_by: tuple[str, ...] = ()
    """Tests, as `path` or `path::name`, that show more of it than its scenarios."""
    missing: str = ""
    """Why it does not hold yet."""


@dataclass(frozen=True, slots=True)
class Showing:
    """A scenario that shows a sentence."""

    claim: str
    file: Path
    everywhere: bool
    """Whether it runs on every host."""


@cache
def sentences() -> tuple[Sentence, ...]:
    """Return all sentences, part by part. Raises ValueError if one is not written as it should be."""
    return tuple(one for file in sorted(SENTENCES.glob("*.yaml")) for one in _read(file))


@cache
def showings() -> dict[str, list[Showing]]:
    """Return the scenarios that name a sentence, by its id. Names of sections have no slash, and are left out."""
    found: dict[str, list[Showing]] = {}
    for scenario in find_scenarios([SCENARIOS]):
        for tag in scenario.spec:
            if "/" in tag:
                found.setdefault(tag, []).append(Showing(scenario.claim, scenario.file, scenario.hosts == HOSTS))
    return found


def page() -> str:
    """Return the page about conformance."""
    shown = [one for one in sentences() if not one.missing]
    missing = [one for one in sentences() if one.missing]
    parts = [_HEAD, f"{len(shown)} sentences are shown to hold. Not shown yet: {len(missing)}.\n"]
    for section in dict.fromkeys(one.section for one in shown):
        rows = "".join(_row(one) for one in shown if one.section == section)
        parts.append(f"## {section}\n\n{_TABLE}{rows}")
    if missing:
        rows = "".join(_cells(one.section, one.says, ", ".join(one.texts), one.missing) for one in missing)
        parts.append(f"## Not shown yet\n\n{_MISSING}{rows}")
    return "\n".join(parts)


def _read(file: Path) -> Iterator[Sentence]:
    for section in yaml.safe_load(file.read_text(encoding="utf-8")) or []:
        for written in section["sentences"]:
            yield _sentence(section["section"], written, file)


def _sentence(section: str, written: dict[str, Any], file: Path) -> Sentence:
    where = f"{file.name}: {written.get('id')}"
    if unknown := set(written) - _KEYS:
        raise ValueError(f"{where}: nobody reads {sorted(unknown)}")
    if not _ID.fullmatch(str(written.get("id"))):
        raise ValueError(f"{where}: an id is a section and a name, as in event-state/exclusive-default")
    if not set(written.get("in", [])) & set(TEXTS) or set(written["in"]) - set(TEXTS):
        raise ValueError(f"{where}: `in` lists texts out of {', '.join(TEXTS)}")
    if not all(str(written.get(key, "-")).strip() for key in _KEYS) or "says" not in written:
        raise ValueError(f"{where}: what it says is missing, or something is empty")
    by = written.get("shown_by", [])
    return Sentence(
        section=section,
        id=written["id"],
        says=written["says"],
        texts=tuple(written["in"]),
        decided=written.get("decided", ""),
        shown_by=(by,) if isinstance(by, str) else tuple(by),
        missing=written.get("missing", ""),
    )


def _row(sentence: Sentence) -> str:
    found = showings().get(sentence.id, [])
    links = [_link(re.sub(r"([\[\]_*`<])", r"\\\1", one.claim), one.file) for one in found[:MOST_LINKS]]
    if len(found) > MOST_LINKS:
        links.append(f"{len(found) - MOST_LINKS} more")
    links += [_link(f"`{_name(test)}`", ROOT / test.partition("::")[0]) for test in sentence.shown_by]
    return _cells(sentence.says, ", ".join(sentence.texts), "; ".join(links), sentence.decided)


def _name(test: str) -> str:
    """Return the file's name and the case of *test*, without the folders."""
    path, _, case = test.partition("::")
    return f"{Path(path).name}: {case}" if case else Path(path).name


def _link(text: str, target: Path) -> str:
    return f"[{text}]({Path(os.path.relpath(target, PAGE.parent)).as_posix()})"


def _cells(*cells: str) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
