"""The pages are a site on which every link leads on, with search and a list for programs that read."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site, which is not built if a link or an anchor of a page leads nowhere."""
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder], cwd=ROOT,
        env={**os.environ, "SITE_URL": "https://example.com/swf/", "NO_MKDOCS_2_WARNING": "1"}, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    return folder


def test_every_page_is_found(site: Path) -> None:
    """The search finds every page under `docs/`, and what these lead to is there under the paths of the checkout."""
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    found = {entry["location"].split("#")[0] for entry in index["docs"]}
    pages = [path.relative_to(ROOT) for path in (ROOT / "docs").rglob("*.md") if path.name != "index.md"]
    assert found >= {f"{page.with_suffix('').as_posix()}/" for page in pages}
    assert found >= {"", "docs/", "examples/", "examples/orders/", "CHANGELOG/"}
    assert (site / "schemas" / "serverless-workflow-0.8.schema.json").is_file()
    assert (site / "monitoring" / "dashboard.json").is_file()


def test_llms_txt_lists_every_page(site: Path) -> None:
    lines = (site / "llms.txt").read_text(encoding="utf-8").splitlines()
    assert lines[:3] == ["# swf-temporal", "", "> Run Serverless Workflow definitions durably on Temporal"]
    for page in (ROOT / "docs").rglob("*.md"):
        path = page.relative_to(ROOT).as_posix()
        text = page.read_text(encoding="utf-8")
        if path != "docs/index.md":
            assert f"- [{text.splitlines()[0].removeprefix('# ')}](https://example.com/swf/{path})" in lines
            assert (site / path).read_text(encoding="utf-8") == text


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    page = (site / "docs" / "tutorial" / "index.html").read_text(encoding="utf-8")
    assert 'src="http' not in page
    assert 'rel="stylesheet" href="http' not in page
