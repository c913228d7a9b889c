"""Every sentence of the specification that we list is shown, with how it is here, and the page about it says so."""

import re
from collections import Counter

import pytest

from tests.conformance.generate import (
    DRAFTS,
    DSL,
    ROOT,
    Kind,
    all_sentences,
    anchors,
    page,
    path_of,
    semantics_of,
    sentences,
    showings,
)

PAGES = (None, *DRAFTS)


def test_ids_are_unique() -> None:
    """No two sentences have the same id."""
    counted = Counter(one.id for one in all_sentences())
    assert [id_ for id_, times in counted.items() if times > 1] == []


def test_every_sentence_is_shown() -> None:
    """A scenario that runs on every host shows every sentence that is not marked as missing, or a test of DSL 1.0."""
    shown = {id_ for id_, found in showings().items() if any(one.everywhere for one in found)}
    shown |= {one.id for one in sentences(DSL) if one.shown_by}
    assert [one.id for one in all_sentences() if not one.missing and one.id not in shown] == []


def test_what_is_missing_is_not_shown() -> None:
    """No sentence is marked as missing and shown all the same."""
    missing = [one for one in all_sentences() if one.missing]
    print(f"{len(missing)} sentences are not shown yet")  # noqa: T201 - a number for whoever reads the report
    assert [one.id for one in missing if one.shown_by or one.id in showings()] == []


def test_what_is_decided_otherwise_is_explained() -> None:
    """What is decided otherwise names a part of the page about semantics that is there."""
    decided = [one for one in all_sentences() if one.kind is Kind.OTHERWISE]
    assert decided
    assert [one.id for one in decided if one.semantics not in anchors(semantics_of(one))] == []


@pytest.mark.parametrize("draft", PAGES)
def test_headline_counts_every_sentence(draft: str | None) -> None:
    """The three numbers at the head of a page are all sentences that are shown."""
    head = r"Of (\d+) sentences (\d+) hold, (\d+) hold and more is accepted, and (\d+) are decided"
    match = re.search(head, page(draft))
    assert match is not None
    every, *kinds = map(int, match.groups())
    assert every == sum(kinds) == len([one for one in sentences(draft) if not one.missing])


def test_named_tests_exist() -> None:
    """Every test that is named is there, with the case that is named."""
    named = [test for one in all_sentences() for test in one.shown_by]
    assert [test for test in named if not _exists(test)] == []


def test_tags_are_known() -> None:
    """Every sentence that a scenario names is listed."""
    assert showings().keys() - {one.id for one in all_sentences()} == set()


@pytest.mark.parametrize("draft", PAGES)
def test_page_is_up_to_date(draft: str | None) -> None:
    """The page about conformance is what the sentences and scenarios come to."""
    assert path_of(draft).read_text(encoding="utf-8") == page(draft), "run: python -m tests.conformance.generate"


def _exists(test: str) -> bool:
    path, _, case = test.partition("::")
    file = ROOT / path
    return file.is_file() and case in file.read_text(encoding="utf-8")
