"""The tutorials are true when they are followed step by step."""

from pathlib import Path

import pytest

from tests.docs.reader import follow_page, follow_section


@pytest.mark.temporal
@pytest.mark.timeout(900)
def test_it_is_true(tmp_path: Path) -> None:
    follow_page("docs/tutorial.md", tmp_path)


@pytest.mark.temporal
@pytest.mark.timeout(900)
def test_the_one_from_direktiv_is_true(tmp_path: Path) -> None:
    follow_page("docs/direktiv-tutorial.md", tmp_path)


@pytest.mark.temporal
@pytest.mark.timeout(900)
def test_the_page_on_events_is_true(tmp_path: Path) -> None:
    follow_page("docs/events.md", tmp_path)


@pytest.mark.temporal
@pytest.mark.timeout(900)
def test_its_part_about_http_is_true(tmp_path: Path) -> None:
    follow_section("docs/events.md", tmp_path)
