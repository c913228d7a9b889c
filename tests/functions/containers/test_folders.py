"""The directory of a function in a container: what cannot be a file, and what does not become a variable."""

import os
import tarfile
from pathlib import Path

import pytest

from swf_temporal.base.errors import CallFailed, PayloadTooLarge
from swf_temporal.functions.containers import folders
from swf_temporal.functions.containers.folders import read_files, write_files
from swf_temporal.runtime.host import CallFile, CallFolder
from swf_temporal.runtime.variables import Variable, VariableRef
from tests.failing import failing

K = VariableRef("workflow", "w", "k")


def given(*files: CallFile) -> CallFolder:
    """Return a directory with *files*, whose function leaves variables of the workflow."""
    return CallFolder(files, {"workflow": "w"})


@pytest.mark.parametrize("name", ["../up", "/etc/up", "a/../../up", "", "."])
def test_no_file_leads_out(tmp_path: Path, name: str) -> None:
    with failing("direktiv.internal.error", "leads out of its directory", retryable=False):
        write_files(tmp_path, given(CallFile(K, name)), {K: Variable(b"x")})
    assert list(tmp_path.iterdir()) == []


def test_other_users_may_write(tmp_path: Path) -> None:
    """A container may run as another user than the worker, whatever the worker's umask is."""
    former = os.umask(0o077)
    try:
        write_files(tmp_path, given(CallFile(K, "deep/k")), {K: Variable(b"x")})
    finally:
        os.umask(former)
    found = {path.relative_to(tmp_path).as_posix(): path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    assert found == {"deep": 0o777, "deep/k": 0o644, "out": 0o777, "out/workflow": 0o777}


@pytest.mark.parametrize("replaced", ["out", "out/workflow", "out/workflow/k"])
def test_no_link_is_followed(tmp_path: Path, replaced: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "workflow").mkdir(parents=True)
    (elsewhere / "workflow" / "k").write_text("secret")
    (elsewhere / "k").write_text("secret")
    folder = tmp_path / "folder"
    (folder / replaced).parent.mkdir(parents=True)
    target = {"out": elsewhere, "out/workflow": elsewhere / "workflow", "out/workflow/k": elsewhere / "k"}[replaced]
    (folder / replaced).symlink_to(target)
    assert (folder / "out" / "workflow" / "k").read_text() == "secret"
    assert read_files(folder, given()) == {}


def test_a_pipe_is_no_variable(tmp_path: Path) -> None:
    """Reading it would never end."""
    write_files(tmp_path, given(), {})
    os.mkfifo(tmp_path / "out" / "workflow" / "pipe")
    (tmp_path / "out" / "workflow" / "k").write_bytes(b"")
    assert read_files(tmp_path, given()) == {K: Variable(b"", "text/plain; charset=utf-8")}


@pytest.mark.parametrize("is_directory", [False, True])
def test_too_much_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_directory: bool
) -> None:
    monkeypatch.setattr(folders, "MAX_BYTES", 100)
    write_files(tmp_path, given(), {})
    out = tmp_path / "out" / "workflow"
    (out / "a").write_bytes(b"x" * 60)
    assert len(read_files(tmp_path, given())) == 1
    if is_directory:
        (out / "b").mkdir()
    (out / "b" / "c" if is_directory else out / "b").write_bytes(b"x" * 60)
    with pytest.raises(PayloadTooLarge):
        read_files(tmp_path, given())


def test_an_archive_stays_inside(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "evil.tar", "w") as archive:
        archive.add(__file__, arcname="../../evil")
    content = (tmp_path / "evil.tar").read_bytes()
    (tmp_path / "folder").mkdir()
    with pytest.raises(CallFailed, match="cannot be a file of the form 'tar'"):
        write_files(tmp_path / "folder", given(CallFile(K, "k", "tar")), {K: Variable(content)})
    assert not (tmp_path / "evil").exists()


def test_a_folder_that_is_gone_is_not_one_where_nothing_was_left(tmp_path: Path) -> None:
    """A function that leaves nothing is no fault; a shared folder that is away is one."""
    (tmp_path / "call").mkdir()
    write_files(tmp_path / "call", given(), {})
    assert read_files(tmp_path / "call", given()) == {}
    with pytest.raises(CallFailed, match=r"cannot be read: .*No such file"):
        read_files(tmp_path / "away", given())
