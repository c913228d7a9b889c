"""The sentences of the specification, and the scenarios that show them. Run as a program, it writes the pages.

Sentences stand in `sentences/`, a file for each part of the specification, in our own words. A scenario shows one by
naming its id under `spec`; `shown_by` names tests that show more of it. A sentence holds as it reads; or it holds, and
`accepts` says what is taken beyond it; or `otherwise` says what is done in its place, and why, and `semantics` where
the page about the semantics of its language has it. A `remark` only adds to what holds. A sentence of DSL 1.0 that a
scenario cannot show is shown by a test alone. From the root of the project:
`python -m tests.conformance.generate`.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from swf_temporal.simulation.model.scenario import HOSTS
from swf_temporal.simulation.reading import find_scenarios

ROOT: Final = Path(__file__).parents[2]
SENTENCES: Final = Path(__file__).parent / "sentences"
SCENARIOS: Final = ROOT / "tests" / "scenarios"
PAGE: Final = ROOT / "docs" / "conformance.md"

TEXTS: Final = ("0.8", "0.8-next")
"""The texts of the specification: the release, and what was written after it."""
OLDER: Final = "0.5 and 0.6"
DIREKTIV: Final = "Direktiv"
DSL: Final = "DSL 1.0"
TEXTS_OF_DSL: Final = ("1.0.3", "1.0-next")
"""The texts of DSL 1.0: the release, and what was written after it."""
DRAFTS: Final = {
    "November 2019": "november_2019",
    "May 2020": "may_2020",
    OLDER: "older",
    DIREKTIV: "direktiv",
    DSL: "dsl",
}
"""The drafts, the older versions, and the other languages, with a page of their own, and the folder of each."""
_TEXTS_OF: Final = {OLDER: OLDER.split(" and "), DSL: TEXTS_OF_DSL}
"""The texts of what has several."""
MAX_LINKS = 3
"""How many of the scenarios that show a sentence the page names."""
_KEYS = {"id", "says", "in", "remark", "accepts", "otherwise", "semantics", "shown_by", "missing"}
_ID = re.compile(r"[a-z0-9-]+/[a-z0-9-]+")

_HEAD = """# Conformance

The requirements of the two texts of the specification, sentence by sentence in our own words, and what swf-temporal
does about each. The texts are the release 0.8 and the draft that followed it, 0.8-next. A sentence

- **holds** as it reads; or
- **holds, and more is accepted**: definitions that follow the sentence run as it says, and swf-temporal also accepts
  something that the sentence forbids or does not mention; or
- is **decided otherwise**: swf-temporal does something else. The reason is given beside the sentence, and
  [Semantics](semantics.md) covers the whole topic.

Every sentence has a scenario, which runs in simulation and on Temporal, or shows that a definition is rejected. If a
sentence is decided otherwise, its scenario shows what happens instead. Tests are listed too if they show more, such as
with real services and brokers. This page is generated: `python -m tests.conformance.generate`.
"""
_HEAD_OF_DRAFT = """# Conformance: the draft of {draft}

The requirements of this draft, sentence by sentence in our own words, and what swf-temporal does about each, as on the
page about [later versions](conformance.md). This page is generated: `python -m tests.conformance.generate`.
"""
_HEAD_OF_OLDER = """# Conformance: 0.5 and 0.6

The requirements of these versions that differ from those of 0.8, sentence by sentence in our own words, and what
swf-temporal does about each, as on the page about [later versions](conformance.md), which has all others. Those of 0.7
are the same as those of 0.8. This page is generated: `python -m tests.conformance.generate`.
"""
_HEAD_OF_DIREKTIV = """# Conformance: Direktiv's language

The statements of the text of [Direktiv's workflow language](direktiv.md), sentence by sentence in our own words, and
what swf-temporal does about each, as on the page about [Serverless Workflow](conformance.md). Tables that are the same
for all types of states count once for each type. The text leaves some topics open, such as catches;
[Semantics](direktiv-semantics.md) has the decisions. This page is generated: `python -m tests.conformance.generate`.
"""
_HEAD_OF_DSL = """# Conformance: DSL 1.0

The statements of the two texts of [DSL 1.0](dsl-1.0.md), sentence by sentence in our own words, and what swf-temporal
does about each, as on the page about [0.8](conformance.md). The texts are the release 1.0.3 and the draft that followed
it, 1.0-next, which is called Open Workflow Specification. A sentence that a scenario cannot show, such as one about the
output of a process, is shown by a test. [Semantics](dsl-1.0-semantics.md) has the decisions where the texts are silent.
This page is generated: `python -m tests.conformance.generate`.
"""
_HEADS = {None: _HEAD, OLDER: _HEAD_OF_OLDER, DIREKTIV: _HEAD_OF_DIREKTIV, DSL: _HEAD_OF_DSL}
_TABLE = "| sentence | texts | result | shown by | remark |\n|---|---|---|---|---|\n"
_MISSING = "| section | sentence | texts | reason |\n|---|---|---|---|\n"


class Kind(StrEnum):
    """How it is here with what a sentence says."""

    HOLDS = "holds"
    ACCEPTS_MORE = "holds, and more is accepted"
    OTHERWISE = "decided otherwise"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the specification that says what must be so."""

    section: str
    id: str
    says: str
    texts: tuple[str, ...]
    remark: str = ""
    """What it does not say and a reader may ask."""
    accepts: str = ""
    """What is accepted beyond it."""
    otherwise: str = ""
    """What is done in its place, and why."""
    semantics: str = ""
    """The heading on the page about semantics under which that stands, as links name it."""
    shown_by: tuple[str, ...] = ()
    """Tests, as `path` or `path::name`, that show more of it than its scenarios."""
    missing: str = ""
    """Why it does not hold yet."""

    @property
    def kind(self) -> Kind:
        """Return how it is here with what it says."""
        if self.otherwise:
            return Kind.OTHERWISE
        return Kind.ACCEPTS_MORE if self.accepts else Kind.HOLDS


@dataclass(frozen=True, slots=True)
class Showing:
    """A scenario that shows a sentence."""

    claim: str
    file: Path
    everywhere: bool
    """Whether it runs on every host."""


@cache
def sentences(draft: str | None = None) -> tuple[Sentence, ...]:
    """Return all sentences of *draft*, or of the texts since 0.8. Raises ValueError if one is not well written."""
    folder = SENTENCES if draft is None else SENTENCES / DRAFTS[draft]
    return tuple(one for file in sorted(folder.glob("*.yaml")) for one in _read(file))


@cache
def all_sentences() -> tuple[Sentence, ...]:
    """Return the sentences of all texts."""
    return tuple(one for draft in (None, *DRAFTS) for one in sentences(draft))


def path_of(draft: str | None = None) -> Path:
    """Return the page about *draft*, or about the texts since 0.8."""
    return PAGE if draft is None else PAGE.with_name(f"conformance-{draft.lower().replace(' ', '-')}.md")


@cache
def showings() -> dict[str, list[Showing]]:
    """Return the scenarios that name a sentence, by its id. Names of sections have no slash, and are left out."""
    found: dict[str, list[Showing]] = {}
    for scenario in find_scenarios([SCENARIOS]):
        for tag in scenario.spec:
            if "/" in tag:
                found.setdefault(tag, []).append(Showing(scenario.claim, scenario.file, scenario.hosts == HOSTS))
    return found


def semantics_of(sentence: Sentence) -> Path:
    """Return the page about the semantics of the language that *sentence* is of."""
    if set(sentence.texts) & set(TEXTS_OF_DSL):
        return ROOT / "docs" / "dsl-1.0-semantics.md"
    return ROOT / "docs" / ("direktiv-semantics.md" if DIREKTIV in sentence.texts else "semantics.md")


def page(draft: str | None = None) -> str:
    """Return the page about conformance to *draft*, or to the texts since 0.8."""
    shown = [one for one in sentences(draft) if not one.missing]
    missing = [one for one in sentences(draft) if one.missing]
    parts = [_HEADS.get(draft) or _HEAD_OF_DRAFT.format(draft=draft), _headline(shown, missing)]
    for section in dict.fromkeys(one.section for one in shown):
        rows = "".join(_row(one) for one in shown if one.section == section)
        parts.append(f"## {section}\n\n{_TABLE}{rows}")
    if missing:
        rows = "".join(_cells(one.section, one.says, ", ".join(one.texts), one.missing) for one in missing)
        parts.append(f"## Not shown yet\n\n{_MISSING}{rows}")
    return "\n".join(parts)


def _headline(shown: list[Sentence], missing: list[Sentence]) -> str:
    kinds = Counter(one.kind for one in shown)
    return (
        f"**Of {len(shown)} sentences {kinds[Kind.HOLDS]} hold, {kinds[Kind.ACCEPTS_MORE]} hold and more is accepted, "
        f"and {kinds[Kind.OTHERWISE]} are decided otherwise.** Not shown yet: {len(missing)}.\n"
    )


@cache
def anchors(page: Path) -> set[str]:
    """Return the headings of a page about semantics as links name them."""
    headings = re.findall(r"^## (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {heading.lower().replace(" ", "-") for heading in headings}


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
    draft = next((draft for draft, folder in DRAFTS.items() if folder == file.parent.name), None)
    known = TEXTS if draft is None else _TEXTS_OF.get(draft, (draft,))
    if not set(written.get("in", [])) & set(known) or set(written["in"]) - set(known):
        raise ValueError(f"{where}: `in` lists texts out of {', '.join(known)}")
    if not all(str(written.get(key, "-")).strip() for key in _KEYS) or "says" not in written:
        raise ValueError(f"{where}: what it says is missing, or something is empty")
    if len({"accepts", "otherwise"} & set(written)) > 1 or {"accepts", "remark"} <= set(written):
        raise ValueError(f"{where}: it holds, or more is accepted, or it is decided otherwise, and one text says so")
    if ("otherwise" in written) != ("semantics" in written):
        raise ValueError(f"{where}: what is decided otherwise, and nothing else, says where that is explained")
    by = written.get("shown_by", [])
    return Sentence(
        section=section,
        id=written["id"],
        says=written["says"],
        texts=tuple(written["in"]),
        remark=written.get("remark", ""),
        accepts=written.get("accepts", ""),
        otherwise=written.get("otherwise", ""),
        semantics=written.get("semantics", ""),
        shown_by=(by,) if isinstance(by, str) else tuple(by),
        missing=written.get("missing", ""),
    )


def _row(sentence: Sentence) -> str:
    found = showings().get(sentence.id, [])
    links = [_link(re.sub(r"([\[\]_*`<])", r"\\\1", one.claim), one.file) for one in found[:MAX_LINKS]]
    if len(found) > MAX_LINKS:
        links.append(f"{len(found) - MAX_LINKS} more")
    links += [_link(f"`{_name(test)}`", ROOT / test.partition("::")[0]) for test in sentence.shown_by]
    remarks = " ".join(filter(None, [sentence.accepts, sentence.otherwise, sentence.remark]))
    if sentence.otherwise:
        remarks += f" [Semantics]({semantics_of(sentence).name}#{sentence.semantics})"
    return _cells(sentence.says, ", ".join(sentence.texts), f"{sentence.kind}", "; ".join(links), remarks)


def _name(test: str) -> str:
    """Return the file's name and the case of *test*, without the folders."""
    path, _, case = test.partition("::")
    return f"{Path(path).name}: {case}" if case else Path(path).name


def _link(text: str, target: Path) -> str:
    return f"[{text}]({Path(os.path.relpath(target, PAGE.parent)).as_posix()})"


def _cells(*cells: str) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |\n"


if __name__ == "__main__":
    for one in (None, *DRAFTS):
        path_of(one).write_text(page(one), encoding="utf-8")
