"""Each concept has one word: that of the glossary, in pages and in messages."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

PACKAGE = ROOT / "swf_temporal"
GLOSSARY = ROOT / "docs" / "glossary.md"
_WRITTEN = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
PAGES = sorted(page for page in _WRITTEN if page.name != "conformance.md")  # that one quotes the claims of scenarios

BANNED = {
    r"whereabouts": "progress record", r"lanes?": "path of execution", r"happenings?": "trace entry",
    r"breathe[sd]?|took stock": "checkpoint", r"dealt": "jitter", r"(?:is |be )?detached": "fire-and-forget",
    r"at hand": "local documents", r"sp(?:ell|ells|elt|elled) out": "normalize", r"salvage[sd]?": "recover",
    r"lifetimes?": "execution timeout", r"the engine": "Temporal, or the server",
    r"nobody|somebody|anybody|everybody|whoever|whomever": "the author, the caller, the worker, the operator",
}  # fmt: skip
"""Words that were used for something, and the word for it; or, of those who do something, who it may be."""

_TERM = re.compile(r"^\*\*(.+?)\*\*: (.+?)(?=\n\n|\n*\Z)", re.MULTILINE | re.DOTALL)
_SENTENCE_ENDS = re.compile(r"[.!?](?=\s|$)")
_CODE = re.compile(r"^ *```.*?^ *```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def _terms(text: str) -> list[tuple[str, str]]:
    return [(term, " ".join(meaning.split())) for term, meaning in _TERM.findall(text)]


TERMS = _terms(GLOSSARY.read_text(encoding="utf-8"))


@cache
def _prose(page: Path) -> str:
    return " ".join(_CODE.sub(" ", page.read_text(encoding="utf-8")).split())


@cache
def _messages() -> tuple[tuple[str, str], ...]:
    """Return the sentences in the source, and where they stand: not names and keys, and not docstrings."""
    return tuple(found for source in sorted(PACKAGE.rglob("*.py")) for found in _messages_in(source))


def _messages_in(source: Path) -> Iterator[tuple[str, str]]:
    tree = ast.parse(source.read_text(encoding="utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        if " " in node.value.strip() and id(node) not in alone:
            yield f"{source.relative_to(ROOT)}:{node.lineno}", node.value


def test_glossary_is_in_order() -> None:
    assert len(TERMS) > 50
    names = [term for term, _ in TERMS]
    assert sorted({term for term in names if names.count(term) > 1}) == []
    for section in GLOSSARY.read_text(encoding="utf-8").split("\n## ")[1:]:
        terms = [term.lower() for term, _ in _terms(section)]
        assert terms == sorted(terms)
    assert [term for term, text in TERMS if len(_SENTENCE_ENDS.findall(re.sub(r"`[^`]*`|\d\.\d", "", text))) != 1] == []


@pytest.mark.parametrize("term", [term for term, _ in TERMS])
def test_each_term_is_used(term: str) -> None:
    word = re.compile(rf"\b{term.removesuffix('y')}(?:y|s|es|ies|ing)?\b", re.IGNORECASE)
    others = [page for page in PAGES if page.name not in {"glossary.md", "CHANGELOG.md"}]
    assert any(word.search(_prose(page)) for page in others)


@pytest.mark.parametrize("former", BANNED)
def test_no_page_uses_a_former_word(former: str) -> None:
    word = re.compile(rf"\b(?:{former})\b", re.IGNORECASE)
    found = [f"{page.relative_to(ROOT)}: {match[0]}" for page in PAGES for match in word.finditer(_prose(page))]
    assert found == [], f"say {BANNED[former]}"


@pytest.mark.parametrize("former", BANNED)
def test_no_message_uses_a_former_word(former: str) -> None:
    word = re.compile(rf"\b(?:{former})\b", re.IGNORECASE)
    found = [f"{place}: {text}" for place, text in _messages() if word.search(text)]
    assert found == [], f"say {BANNED[former]}"
