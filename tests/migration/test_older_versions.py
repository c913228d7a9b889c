"""Definitions of older versions in a project of SonataFlow: drafts are left as they are, others upgraded whole."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swf_temporal import load
from swf_temporal.migration.migrate import migrate, write
from swf_temporal.text.fetching.resources import in_mode
from swf_temporal.text.yaml_text import write_yaml
from tests.migration.__main__ import outcome
from tests.sampling import seeds
from tests.upgrading.may_2020 import may_2020
from tests.upgrading.november_2019 import november_2019
from tests.upgrading.older import older

VERSIONS: dict[str, Callable[[int], Any]] = {
    "November 2019": november_2019,
    "May 2020": lambda seed: may_2020(seed, with_states=False),
    "May 2020, with states": lambda seed: may_2020(seed, with_states=True),
    "0.5": lambda seed: older(seed, "0.5"),
    "0.6": lambda seed: older(seed, "0.6"),
    "0.7": lambda seed: older(seed, "0.7"),
}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("seed", seeds("older versions in projects", 2, 6))
def test_older_versions_come_to_the_same(version: str, seed: int, tmp_path: Path) -> None:
    """Written and in the mode, unless a finding says what differs; a second migration changes nothing."""
    original = tmp_path / "project" / "flow.sw.yaml"
    original.parent.mkdir()
    original.write_text(write_yaml(VERSIONS[version](seed)["workflow"]))
    migration = migrate(original.parent)
    write(migration, tmp_path / "written")
    again = migrate(tmp_path / "written")
    assert [one.message for one in again.of("rewritten")] == []
    if migration.tasks:  # what cannot be expressed in 0.8
        return
    as_it_is = outcome(load(original))
    if all("left as it is" in one.message for one in migration.of("differs")):
        assert outcome(load(tmp_path / "written" / "flow.sw.yaml")) == as_it_is
        assert outcome(load(original, resources=in_mode("sonataflow"))) == as_it_is


def test_a_draft_is_left_as_it_is(tmp_path: Path) -> None:
    """The default of its switch, which 0.8 has under another name, is not rewritten alone."""
    texts = (write_yaml(may_2020(seed, with_states=True)["workflow"]) for seed in range(100))
    text = next(one for one in texts if "  default:\n" in one)
    (tmp_path / "flow.sw.yaml").write_text(text)
    migration = migrate(tmp_path)
    assert [one.content.decode() for one in migration.files] == [text]
    assert [(one.kind, one.message) for one in migration.findings] == [
        ("differs", "this is the May 2020 draft of Serverless Workflow, and is left as it is")
    ]
