"""Files of a namespace: those that are not there, and those that cannot be read."""

import os
from pathlib import Path

import pytest

from swf_temporal.base.errors import FatalFault, StoreUnavailable
from swf_temporal.runtime.namespace_files import folder_of, read_file


def test_a_folder_that_is_away_has_not_lost_its_files(tmp_path: Path) -> None:
    """It may be there again at the next attempt, while a file that is not in a folder is absent."""
    namespace = tmp_path / "namespace"
    (namespace / "inner").mkdir(parents=True)
    (namespace / "loop").symlink_to("loop")
    (namespace / "data").write_text("1")
    folder = folder_of("/inner/reading.yaml", str(namespace / "inner/reading.yaml"))
    assert folder == namespace
    found = read_file("/data", [folder])
    assert found is not None
    assert found.content == b"1"
    for absent in ("/none", "/data/none", "/loop", "/" + 300 * "x", "/\0", "/../data"):
        assert read_file(absent, [folder]) is None
    namespace.rename(tmp_path / "elsewhere")
    assert folder_of("/inner/reading.yaml", str(namespace / "inner/reading.yaml")) == namespace
    with pytest.raises(StoreUnavailable, match=r"the folder .*namespace of the namespace cannot be read"):
        read_file("/data", [folder])


@pytest.mark.parametrize("name", ["<definition>", "https://example.com/a/reading.yaml"])
def test_what_was_read_from_no_file_has_no_folder(name: str) -> None:
    assert folder_of("/reading.yaml", name) is None


def test_what_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("folder", "pipe"):
        with pytest.raises(FatalFault, match=r"is not a regular file|is a folder"):
            read_file(f"/{name}", [tmp_path])
