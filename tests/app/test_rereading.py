"""Definitions that are read again: what cannot be read is not gone."""

import shutil
from collections.abc import Callable, Container
from pathlib import Path

import pytest

from swf_temporal.languages.catalogue import Catalogue
from swf_temporal.sdk.definitions import catalogue_of
from swf_temporal.sdk.rereading import LiveCatalogue, RereadCatalogue
from tests.cli.conftest import HELLO

Follow = Callable[[Path], "Followed"]


class Followed:
    """A folder of definitions, followed as `swf gateway` does or as `swf dev` does."""

    def __init__(self, folder: Path, caplog: pytest.LogCaptureFixture, *, is_live: bool) -> None:
        self._caplog = caplog

        def read(known: Container[Path]) -> Catalogue:
            return catalogue_of([folder], known=known)

        self.catalogue = LiveCatalogue(folder) if is_live else RereadCatalogue([folder], read)
        if isinstance(self.catalogue, LiveCatalogue):
            self.catalogue.refresh()

    @property
    def ids(self) -> list[str]:
        return [one.id for one in self.catalogue]

    @property
    def unreadable(self) -> str | None:
        return self.catalogue.unreadable

    async def refresh(self) -> str:
        if isinstance(self.catalogue, LiveCatalogue):
            return "\n".join(self.catalogue.refresh())
        self._caplog.clear()
        await self.catalogue.refresh()
        return self._caplog.text


@pytest.fixture(params=[False, True], ids=["gateway", "dev"])
def follow(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Follow:
    caplog.set_level("INFO", "swf")
    return lambda folder: Followed(folder, caplog, is_live=request.param)


def moved(folder: Path) -> str:
    """Move the folder away, as what it is mounted from may vanish."""
    folder.rename(folder.with_name("elsewhere"))
    return f"{folder}"


def replaced(folder: Path) -> str:
    moved(folder)
    folder.write_text("")
    return f"{folder}"


def dangling(folder: Path) -> str:
    """Let the file be a link to one that is not there."""
    (folder / "hello.yaml").unlink()
    (folder / "hello.yaml").symlink_to("nowhere.yaml")
    return f"{folder / 'hello.yaml'} cannot be read: No such file"


def in_a_circle(folder: Path) -> str:
    """Let a file, which was not there before, be a link to itself."""
    (folder / "inner").mkdir()
    (folder / "inner/other.json").symlink_to("other.json")
    return f"{folder / 'inner/other.json'} cannot be read: Too many levels of symbolic links"


@pytest.mark.parametrize("break_it", [moved, replaced, dangling, in_a_circle])
async def test_what_cannot_be_read_is_served_as_before(
    tmp_path: Path, follow: Follow, break_it: Callable[[Path], str]
) -> None:
    folder = tmp_path / "defs"
    folder.mkdir()
    (folder / "hello.yaml").write_text(HELLO)
    followed = follow(folder)
    why = break_it(folder)
    told, again = await followed.refresh(), await followed.refresh()
    assert (why in told, again) == (True, "")
    assert why in str(followed.unreadable)
    assert followed.ids == ["hello"]
    if folder.is_dir():
        shutil.rmtree(folder)
    folder.unlink(missing_ok=True)
    folder.mkdir()
    (folder / "new.yaml").write_text(HELLO.replace("id: hello", "id: new"))
    await followed.refresh()
    assert (followed.ids, followed.unreadable) == (["new"], None)


async def test_a_folder_that_was_empty(tmp_path: Path, follow: Follow) -> None:
    folder = tmp_path / "defs"
    folder.mkdir()
    followed = follow(folder)
    folder.rmdir()
    assert "is not a folder" in await followed.refresh()
    assert followed.unreadable is not None


@pytest.mark.parametrize("text", ["", "id: hello\nstates: [{", "greeting: none"])
async def test_a_file_that_is_half_written(tmp_path: Path, follow: Follow, text: str) -> None:
    file = tmp_path / "hello.yaml"
    file.write_text(HELLO)
    followed = follow(tmp_path)
    file.write_text(text)
    told, again = await followed.refresh(), await followed.refresh()
    assert (f"{file}:" in told, again, followed.ids) == (True, "", ["hello"])
    file.unlink()
    await followed.refresh()
    assert (followed.ids, followed.unreadable) == ([], None)


async def test_a_folder_that_is_there_again_as_it_was(tmp_path: Path, follow: Follow) -> None:
    folder = tmp_path / "defs"
    folder.mkdir()
    (folder / "hello.yaml").write_text(HELLO)
    followed = follow(folder)
    moved(folder)
    await followed.refresh()
    (tmp_path / "elsewhere").rename(folder)
    await followed.refresh()
    assert (followed.ids, followed.unreadable) == (["hello"], None)
    moved(folder)
    assert await followed.refresh()


@pytest.mark.parametrize("copy", ["a.yaml", "z.yaml"])
def test_two_files_with_one_id(tmp_path: Path, copy: str) -> None:
    """The one that was served stays, however the other is named, which is served once it differs."""
    original, other = tmp_path / "hello.yaml", tmp_path / copy
    original.write_text(HELLO)
    live = LiveCatalogue(tmp_path)
    live.refresh()
    other.write_text(f"{HELLO}description: another\n")
    news = "\n".join(live.refresh())
    assert f"{other}:1:5" in news
    assert "there are several definitions with the id 'hello' and version '1.0'" in news
    assert f"the first is at {original}:" in news
    assert "serving" not in news
    assert [one.source.name for one in live] == [str(original)]
    other.write_text(HELLO.replace("id: hello", "id: other"))
    assert live.refresh() == [f"{other}: serving other 1.0"]
