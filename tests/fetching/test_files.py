"""Do definitions read what lies in their folder and in those that the operator allows, and nothing else?"""

from pathlib import Path

import pytest

from swf_temporal.languages.loading import check_file
from swf_temporal.text.fetching.resources import Resources
from swf_temporal.text.origin import ForbiddenResourceError, MissingResourceError, UnreadableResourceError
from tests.fetching.conftest import workflow_with

HINT = "the setting SWF_RESOURCE_FOLDERS or --resources names other folders that may be read"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of definitions, beside one that is nobody's business."""
    (tmp_path / "own").mkdir()
    (tmp_path / "other").mkdir()
    for place in ("own", "other"):
        (tmp_path / place / "f.json").write_text('[{"name": "f", "operation": "a.json#f"}]')
    return tmp_path / "own"


@pytest.mark.parametrize("uri", ["f.json", "./f.json", "file:f.json", "file://f.json", "classpath:f.json", "f%2Ejson"])
def test_ways_to_name_a_file(folder: Path, uri: str) -> None:
    assert Resources().fetch(uri, folder).content.startswith(b'[{"name"')


def test_absolute_uris(folder: Path) -> None:
    for uri in (f"file://{folder}/f.json", f"file://localhost{folder}/f.json", str(folder / "f.json")):
        assert Resources().fetch(uri, folder).location == str(folder / "f.json")


@pytest.mark.parametrize("uri", [
    "../other/f.json", "../other/none.json", "x/../../other/f.json", "%2E%2E/other/f.json", "../own-secrets/f.json",
])  # fmt: skip
def test_ways_out_of_the_folder(folder: Path, uri: str) -> None:
    (folder.parent / "own-secrets").mkdir()
    (folder.parent / "own-secrets" / "f.json").write_text("[]")
    with pytest.raises(ForbiddenResourceError) as refused:
        Resources().fetch(uri, folder)
    assert (refused.value.reason, refused.value.hint) == ("which is outside of the definition's folder", HINT)
    allowed = Resources(folders=(folder.parent / "other", folder.parent / "own-secrets"))
    if "none" in uri:
        with pytest.raises(MissingResourceError):
            allowed.fetch(uri, folder)
    else:
        assert allowed.fetch(uri, folder).content


def test_links_count_as_where_they_lead(folder: Path) -> None:
    """A link out of the folder is forbidden; one within it, and one into the folder from outside, are not."""
    (folder / "out.json").symlink_to(folder.parent / "other" / "f.json")
    (folder / "folder").symlink_to(folder.parent / "other")
    (folder / "within.json").symlink_to("f.json")
    (folder.parent / "other" / "back.json").symlink_to(folder / "f.json")
    for uri in ("out.json", "folder/f.json"):
        with pytest.raises(ForbiddenResourceError):
            Resources().fetch(uri, folder)
    for uri in ("within.json", "../other/back.json"):
        assert Resources().fetch(uri, folder).content
    linked = folder.parent / "linked"
    linked.symlink_to(folder)
    assert Resources().fetch("f.json", linked).content


def test_what_is_no_file(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "a.json").symlink_to("b.json")
    (folder / "b.json").symlink_to("a.json")
    for uri in ("sub", "none.json", "%00.json", "a.json"):
        with pytest.raises(MissingResourceError):
            Resources().fetch(uri, folder)
    with pytest.raises(UnreadableResourceError, match="which cannot be read: File name too long"):
        Resources().fetch("x" * 300, folder)
    away = folder.parent / "away"
    with pytest.raises(UnreadableResourceError, match=r"the folder .*away does not exist"):
        Resources(folders=(away,)).fetch(str(away / "f.json"), folder)


def test_files_of_any_size(folder: Path) -> None:
    (folder / "f.json").write_bytes(b"[" + b" " * (2 * 1024 * 1024 - 2) + b"]")
    assert len(Resources().fetch("f.json", folder).content) == 2 * 1024 * 1024
    (folder / "f.json").write_bytes(b"[" + b" " * (2 * 1024 * 1024 - 1) + b"]")
    with pytest.raises(UnreadableResourceError, match="which cannot be read: it is larger than 2 MiB"):
        Resources().fetch("f.json", folder)


@pytest.mark.parametrize(("uri", "code", "message"), [
    ("../other/f.json", "external-forbidden", "which is outside of the definition's folder"),
    ("ftp://example.com/f.json", "external-forbidden", "and 'ftp:' is not a way to get documents"),
    ("http://[", "external-unreadable", "which cannot be read: it is not a URI (Invalid IPv6 URL)"),
])  # fmt: skip
def test_what_authors_are_told(folder: Path, uri: str, code: str, message: str) -> None:
    (folder / "a.yaml").write_text(workflow_with(f'"{uri}"'))
    checked = check_file(folder / "a.yaml", resources=Resources())
    (problem,) = checked.errors
    assert (problem.code, problem.message) == (code, f"functions are in {uri!r}, {message}")
    assert (problem.file, problem.position.line, problem.position.column) == (str(folder / "a.yaml"), 3, 12)
    assert checked.definition is None


def test_the_environment_allows_folders(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "a.yaml").write_text(workflow_with("../other/f.json"))
    assert [problem.code for problem in check_file(folder / "a.yaml").errors] == ["external-forbidden"]
    monkeypatch.setenv("SWF_RESOURCE_FOLDERS", f"/nowhere:{folder.parent / 'other'}:")
    assert check_file(folder / "a.yaml").problems == ()
