"""The schemas that editors and code hosts refer to by their files are those that the command prints."""

import pytest

from tests.docs.schemas import FOLDER, schemas, text_of


@pytest.mark.parametrize("name", schemas())
def test_a_file_has_the_present_schema(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == text_of(schemas()[name]())


def test_no_other_files_are_there() -> None:
    assert {one.name for one in FOLDER.iterdir()} == set(schemas())
