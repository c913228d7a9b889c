"""What do the texts of the specification say, sentence by sentence, and how strongly?

The texts are not part of the project. `places.yaml`, and those of the other languages beside it, have a few words of
each sentence that we list, by which it is found in a text that somebody has.
"""

import re
from functools import cache
from pathlib import Path
from typing import Final

import yaml

from tests.conformance.generate import DIREKTIV, TEXTS_OF_DSL, Sentence

PLACES: Final = Path(__file__).parent
TEXTS: Final = Path(__file__).parents[3] / "shared" / "spec" / "text"
FILES: Final = {"0.8": "serverless-workflow-0.8.md", "0.8-next": "serverless-workflow-0.8-next.txt"}
_FILES_OF_OTHERS: Final = {
    DIREKTIV: ("direktiv.md",),
    "1.0.3": ("../dsl-1.0/dsl.md", "../dsl-1.0/dsl-reference.md"),
    "1.0-next": ("../dsl-1.0-next/dsl.md", "../dsl-1.0-next/dsl-reference.md"),
}

_ENDS = re.compile(r"(?<=[.!?:;])\s+(?=[A-Z\"\[(])")
_DEMANDS = re.compile(
    r"\b(must|required?|mandates?|can ?not|not (be )?allowed|ha(s|ve) to|only)\b|\byes\b(?! if \w+ (is|&))",
    re.IGNORECASE,
)
_ASKS = re.compile(r"\bshould\b|\bexclusive\b|\bneeds? to\b", re.IGNORECASE)
_PERMITS = re.compile(
    r"\b(may|can|could|optional(ly)?|possible|allows?|allowed|either|users have the option)\b|\bno$", re.IGNORECASE
)
_DEMANDED = re.compile(r"\b(must|never|has to|have to)\b", re.IGNORECASE)
_PERMITTED = re.compile(r"\b(may|can|need not|needs no|left out)\b", re.IGNORECASE)


@cache
def places() -> dict[str, dict[str, str | None]]:
    """Return the words by which each sentence is found in each text, by its id. Alone they hold for every text.

    None stands for a sentence that is in no one place.
    """
    found: dict[str, dict[str, str | None]] = {}
    files = {"places": tuple(FILES), "places_direktiv": (DIREKTIV,), "places_dsl": TEXTS_OF_DSL}
    for name, texts in files.items():
        read = yaml.safe_load((PLACES / f"{name}.yaml").read_text(encoding="utf-8"))
        found |= {id_: words if isinstance(words, dict) else dict.fromkeys(texts, words) for id_, words in read.items()}
    return found


@cache
def sentences_of(text: str) -> tuple[tuple[str, str], ...]:
    """Return the sentences of a text and the rows of its tables, without marks of formatting, each with its section."""
    files = _FILES_OF_OTHERS[text] if text in _FILES_OF_OTHERS else (FILES[text],)
    return tuple(one for file in files for one in _sentences_in(file))


def _sentences_in(file: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    paragraph: list[str] = []
    code, section, plain = False, "", file.endswith(".txt")
    for line in [*(TEXTS / file).read_text(encoding="utf-8").split("\n"), ""]:
        stripped = line.strip()
        if stripped.startswith("```"):
            code = not code
            stripped = ""
        if code:
            continue
        heading = stripped if plain and stripped.lower() in _headings() else ""
        if stripped.startswith("#"):
            heading = stripped.lstrip("# ")
        if heading or plain or not stripped or stripped.startswith(("|", "* ", "- ", "+ ")):
            found += [(section, one) for one in _split(" ".join(paragraph))]
            paragraph = []
        section = heading.lower() or section
        if not heading:
            paragraph.append(stripped)
    return found


@cache
def _headings() -> frozenset[str]:
    """Return the headings of the release, by which those of the text after it are known: that has no marks."""
    lines = (TEXTS / FILES["0.8"]).read_text(encoding="utf-8").split("\n")
    return frozenset(line.lstrip("# ").strip().lower() for line in lines if line.startswith("#")) | {
        "authref definition"
    }


def _split(paragraph: str) -> list[str]:
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", paragraph.strip("|"))
    plain = re.sub(r"<[^>]+>", "", plain)
    plain = " ".join(re.sub(r"^([-*+]|\d+\.) ", "", plain.strip()).replace("|", " | ").replace("`", "").split())
    plain = plain.replace("**", "").replace("*", "")
    return [plain] if " | " in plain else _ENDS.split(plain) if plain else []


def found(sentence: Sentence, text: str) -> str | None:
    """Return what *text* says where *sentence* stands, in its section if it is there, or else None."""
    words = places()[sentence.id].get(text)
    hits = [(section != sentence.section.lower(), one) for section, one in sentences_of(text) if words and words in one]
    return min(hits, key=lambda hit: hit[0])[1] if hits else None


def departures(says: str, reads: str) -> list[str]:
    """Tell in which ways *says*, in our words, does not mean what the text *reads*, as far as words show it."""
    told = []
    if _PERMITTED.search(says) and _DEMANDS.search(reads) and not _PERMITS.search(reads):
        told.append("it permits what the text demands")
    if _DEMANDED.search(says) and not _DEMANDS.search(reads) and not _ASKS.search(reads):
        told.append("it demands what the text does not")
    told += [f"the text does not name {number}" for number in re.findall(r"\d+", says) if number not in reads]
    return told
