"""The README is true when it is followed step by step."""

from pathlib import Path

import pytest
import yaml

from swf_temporal import simulate
from tests.docs.pages import ROOT, blocks_of
from tests.docs.reader import follow_page, reading


@pytest.mark.temporal
@pytest.mark.timeout(900)
def test_it_is_true(tmp_path: Path) -> None:
    assert follow_page("README.md", tmp_path, quick=False) > 0


@pytest.mark.parametrize("number", [0, 1])
def test_the_first_definitions_need_no_input(number: int) -> None:
    """Who runs one without `--input` is greeted, too."""
    blocks = [block for block in blocks_of("README.md") if (block.heading, block.language) == ("First run", "yaml")]
    assert simulate(yaml.safe_load(blocks[number].text), {}).output == {"greeting": "Hello world!"}


def test_commands_are_those_of_this_checkout(tmp_path: Path) -> None:
    """Whatever the environment of Python has installed, what is followed is what is here."""
    with reading(tmp_path) as reader:
        code, printed = reader.terminal.type("python3 -c 'import swf_temporal; print(swf_temporal.__file__)'")
    assert (code, Path(printed.strip()).parents[1]) == (0, ROOT)
