"""The images that ours is built upon, and that are deployed beside it: named by their digests, `make digests`.

A tag can be moved to another image, a digest cannot. A registry is asked for them by Docker.
"""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from release.building import ROOT

_NAMED: Final = {
    "workers/Dockerfile": re.compile(r"^FROM ([^\s@]+)(@\S+)?", re.MULTILINE),
    "docker-compose.yml": re.compile(r"^ +image: ([^\s@]+)(@\S+)?", re.MULTILINE),
    "charts/swf-temporal/values.yaml": re.compile(r"^ +image: ([^\s@]+)(@\S+)?", re.MULTILINE),
}
"""The files that name images, and how each names one: with a tag, and perhaps a digest."""
_ASKED: Final = ("docker", "buildx", "imagetools", "inspect", "--format", "{{.Manifest.Digest}}")
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")


def without_digest(checkout: Path = ROOT) -> Iterator[str]:
    """Yield the place and name of each image that is named by its tag alone."""
    for file, form in _NAMED.items():
        for found in form.finditer((checkout / file).read_text(encoding="utf-8")):
            if found[2] is None:
                yield f"{file}: {found[1]}"


def write_digests(digest_of: Callable[[str], str], checkout: Path = ROOT) -> None:
    """Write the digest of each image behind its tag, as *digest_of* tells it, in place of the one that is there."""
    for file, form in _NAMED.items():
        path = checkout / file
        text = path.read_text(encoding="utf-8")

        def named(found: re.Match[str]) -> str:
            before = found[0].removesuffix(found[2] or "")
            return f"{before}@{digest_of(found[1])}"

        path.write_text(form.sub(named, text), encoding="utf-8")


def digest_in_registry(image: str) -> str:
    """Return the digest of *image*, of all its platforms. Raises CalledProcessError, and ValueError."""
    told = subprocess.run([*_ASKED, image], check=True, capture_output=True, text=True).stdout.strip()
    if not _DIGEST.fullmatch(told):
        raise ValueError(f"the registry tells no digest of {image}: {told}")
    return told


if __name__ == "__main__":
    try:
        write_digests(digest_in_registry)
    except subprocess.CalledProcessError as error:
        sys.exit(f"{error}\n{error.stderr}")
