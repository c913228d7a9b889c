"""The package is complete, what installs it is told the truth, and its licences are looked at."""

import re
import subprocess
import tarfile
import zipfile
from collections.abc import Iterable
from email import message_from_bytes
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from release.__main__ import obstacles
from release.building import ROOT, build, project, version
from release.extras import FOR_DEVELOPERS, SHOWN
from release.images import write_digests
from release.licences import refused
from release.locking import LOCKED, required

PROJECT = project()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return build(tmp_path_factory.mktemp("dist"), isolated=False)


def test_the_wheel_has_the_package_and_nothing_else(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[0]) as wheel:
        names = set(wheel.namelist())
    files = {path for path in (ROOT / "swf_temporal").rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    info = f"swf_temporal-{version()}.dist-info"
    assert names >= {str(path.relative_to(ROOT)) for path in files}
    assert names >= {"swf_temporal/py.typed", f"{info}/licenses/LICENSE", f"{info}/entry_points.txt"}
    assert {name.split("/")[0] for name in names} == {"swf_temporal", info}


def test_the_sdist_has_what_its_pages_lead_to(built: tuple[Path, Path]) -> None:
    """What a person who unpacks the sdist needs is in it: pages, examples, and what is deployed."""
    with tarfile.open(built[1]) as sdist:
        names = {name.split("/", 1)[1] for name in sdist.getnames() if "/" in name}
    assert names >= {"README.md", "docs/index.md", "examples/README.md", "workers/Dockerfile", "docker-compose.yml"}


def test_the_metadata_say_what_the_project_says(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[0]) as wheel:
        metadata = message_from_bytes(wheel.read(f"swf_temporal-{version()}.dist-info/METADATA"))
    assert metadata["License-Expression"] == PROJECT["license"]
    assert metadata["Requires-Python"] == PROJECT["requires-python"]
    assert set(metadata.get_all("Provides-Extra") or ()) == set(PROJECT["optional-dependencies"])


def test_every_extra_is_tried() -> None:
    assert set(SHOWN) == set(PROJECT["optional-dependencies"]) - FOR_DEVELOPERS


def test_what_is_locked_is_what_is_required() -> None:
    """The image and the action install a permitted version of each requirement, and nothing without hashes."""
    for name, requirements in required().items():
        text = (LOCKED / name).read_text(encoding="utf-8")
        entries = re.findall(r"^(\S+)==(\S+)[^\\\n]*((?: \\\n +--hash=sha256:[0-9a-f]{64})+)$", text, re.MULTILINE)
        assert len(entries) == sum(line[:1].isalnum() for line in text.splitlines()) > 0
        versions: dict[str, list[str]] = {}
        for package, locked, _ in entries:
            versions.setdefault(canonicalize_name(package), []).append(locked)
        for one in map(Requirement, requirements):
            found = versions.get(canonicalize_name(one.name), [])
            assert found, f"{name} has no {one.name}: make lock"
            assert all(one.specifier.contains(each) for each in found), f"{name} has {one.name} {found}: make lock"


def _bill(licences: Iterable[dict[str, Any]], name: str = "it") -> dict[str, Any]:
    return {"components": [{"name": name, "version": "1.0", "licenses": list(licences)}]}


@pytest.mark.parametrize(
    ("licences", "told"),
    [
        ([{"license": {"id": "MIT"}}], ""),
        ([{"license": {"name": "License :: OSI Approved :: BSD License"}}], ""),
        ([{"expression": "GPL-3.0-only OR MIT"}], ""),
        ([{"expression": "Apache-2.0 AND GPL-3.0-only"}], "the licence Apache-2.0 AND GPL-3.0-only"),
        ([{"license": {"id": "MIT"}}, {"license": {"id": "AGPL-3.0-only"}}], "the licence AGPL-3.0-only"),
        ([{"license": {"id": "LGPL-3.0-only"}}], "the licence LGPL-3.0-only"),
        ([], "names no licence"),
    ],
)
def test_licences_are_refused(licences: list[dict[str, Any]], told: str) -> None:
    lines = list(refused(_bill(licences)))
    assert told in "".join(lines)
    assert len(lines) == bool(told)


def test_a_licence_is_permitted_for_one_alone() -> None:
    licences = [{"license": {"id": "LGPL-3.0-only"}}]
    assert list(refused(_bill(licences, "psycopg"))) == []
    assert len(list(refused(_bill(licences)))) == 1


def test_what_stands_in_the_way_of_a_release_is_told(tmp_path: Path) -> None:
    """Changes in the checkout, a tag that is there, no address of the project, images without digests, no section."""
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n", encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    _write_images(tmp_path, "python:3.12-slim")
    _git(tmp_path, "init", "--quiet")
    assert _beginnings(tmp_path) == [
        "the checkout has changes", "pyproject.toml has no",
        *["workers/Dockerfile", "docker-compose.yml", "charts/swf-temporal/values.yaml"],
        "CHANGELOG.md has no section",
    ]  # fmt: skip

    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 9.9.9 - 2026-01-01\n", encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text('[project.urls]\nSource = "https://example.com"\n', encoding="utf-8")
    write_digests(lambda image: f"digest-of-{image}", tmp_path)
    write_digests(lambda image: f"sha256:{len(image)}", tmp_path)
    assert (tmp_path / "workers/Dockerfile").read_text(encoding="utf-8") == "FROM python:3.12-slim@sha256:16 AS build\n"
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "--quiet", "--message", "published")
    assert _beginnings(tmp_path) == []

    _git(tmp_path, "tag", "v9.9.9")
    assert _beginnings(tmp_path) == ["there is a tag v9.9.9"]


def _write_images(checkout: Path, image: str) -> None:
    for file, text in {
        "workers/Dockerfile": f"FROM {image} AS build\n",
        "docker-compose.yml": f"services:\n  a:\n    image: {image}\n",
        "charts/swf-temporal/values.yaml": f"image:\n  repository: own\ngit:\n    image: {image}\n",
    }.items():
        (checkout / file).parent.mkdir(parents=True, exist_ok=True)
        (checkout / file).write_text(text, encoding="utf-8")


def _beginnings(checkout: Path) -> list[str]:
    return [re.split(r":| \[| `", line)[0] for line in obstacles("9.9.9", checkout)]


def _git(checkout: Path, *arguments: str) -> None:
    somebody = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *somebody, *arguments], cwd=checkout, check=True)
