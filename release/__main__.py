"""Tell what a person still does to publish the version of this checkout, and what stands in the way: `make release`."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from release.building import DIST, ROOT, project, version
from release.images import without_digest

STEPS = """\
  1. make test-all                                     everything, once more, on the commit that is published
  2. git tag --sign v{version} && git push --tags
  3. python -m twine upload {package}
  4. docker build --file workers/Dockerfile --build-arg VERSION={version} --tag $REGISTRY/swf-temporal:{version} . && \\
     docker push $REGISTRY/swf-temporal:{version}
  5. helm package charts/swf-temporal --destination dist && helm push dist/swf-temporal-{version}.tgz oci://$REGISTRY/charts
  6. attach {sbom} to the release, whose text is the section of CHANGELOG.md
"""


def obstacles(number: str, checkout: Path = ROOT) -> Iterator[str]:
    """Yield what has to be put right before *number* is published."""
    if git(checkout, "status", "--porcelain"):
        yield "the checkout has changes: commit them, or put them away"
    if git(checkout, "tag", "--list", f"v{number}"):
        yield f"there is a tag v{number}: set a further version in pyproject.toml and swf_temporal/__init__.py"
    if not project(checkout).get("urls"):
        yield "pyproject.toml has no [project.urls]: name the repository, where the pages are that the README leads to"
    for image in without_digest(checkout):
        yield f"{image} has no digest: `make digests` writes it, with Docker"
    if f"\n## {number} " not in (checkout / "CHANGELOG.md").read_text(encoding="utf-8"):
        yield f"CHANGELOG.md has no section `## {number} - YYYY-MM-DD`: rename `## Unreleased`"


def git(checkout: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=checkout, check=True, capture_output=True, text=True).stdout.strip()


def main() -> None:
    number = version()
    package = f"{DIST.name}/swf_temporal-{number}*"
    print(f"\n{package} is what `make package` made and tried. To publish it:\n")
    print(STEPS.format(version=number, package=package, sbom=f"{DIST.name}/swf-temporal-{number}.cdx.json"))
    found = list(obstacles(number))
    for obstacle in found:
        print(f"first: {obstacle}", file=sys.stderr)
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
