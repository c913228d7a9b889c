"""The wheel and the sdist: built, and their metadata checked."""

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"


def project(checkout: Path = ROOT) -> dict[str, Any]:
    settings: dict[str, Any] = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return settings


def version() -> str:
    return str(project()["version"])


def build(into: Path = DIST, *, isolated: bool = True) -> tuple[Path, Path]:
    """Build the sdist, and of what that holds the wheel, into the folder *into*; return the wheel and the sdist.

    Not *isolated*, the build takes what it needs from the environment of this process instead of a package index.
    Raises CalledProcessError if something cannot be built, or an index would refuse the metadata.
    """
    more = [] if isolated else ["--no-isolation"]
    command = [sys.executable, "-m", "build", "--outdir", str(into), *more, str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    name = f"swf_temporal-{version()}"
    wheel, sdist = into / f"{name}-py3-none-any.whl", into / f"{name}.tar.gz"
    command = [sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return wheel, sdist
