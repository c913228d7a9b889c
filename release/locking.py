"""The versions and hashes of what the image and the action install: `make lock`.

They are of all platforms and versions of Python that the package is for. `release/locked` has a file for each purpose.
"""

import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from release.building import ROOT
from release.environments import Environment

LOCKED: Final = ROOT / "release" / "locked"
IMAGE_EXTRAS: Final = (
    "asyncapi",
    "codec-server",
    "containers",
    "drawing",
    "encryption",
    "gateway",
    "grpc",
    "js",
    "lsp",
    "otel",
    "sql",
    "storage",
    "upgrade",
)
"""The extras that the image has: what definitions call, what is served, and what its commands need."""
_LOCKER = "uv>=0.9"
_OLDEST: Final = "3.11"


def required() -> dict[str, list[str]]:
    """Return what each file in `release/locked` has to have, by its name."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    own = settings["project"]
    return {
        "action.txt": own["dependencies"],
        "build.txt": settings["build-system"]["requires"],
        "image.txt": [*own["dependencies"], *sorted(set(_of_extras(IMAGE_EXTRAS, own["optional-dependencies"])))],
    }


def _of_extras(extras: Iterable[str], all_extras: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the requirements of *extras*, with those of the further extras that some of these name."""
    for requirement in (one for extra in extras for one in all_extras[extra]):
        name, _, further = requirement.rstrip("]").partition("[")
        if name == "swf-temporal":
            yield from _of_extras(further.split(","), all_extras)
        else:
            yield requirement


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="swf-lock-") as folder:
        locker = Environment(Path(folder) / "locker", _LOCKER)
        for name, requirements in required().items():
            wanted = Path(folder) / name
            wanted.write_text("\n".join(requirements) + "\n", encoding="utf-8")
            command = ["uv", "pip", "compile", "--universal", "--python-version", _OLDEST, "--generate-hashes"]
            command += ["--only-binary", ":all:", "--no-annotate", "--no-header", "--quiet", "--upgrade", str(wanted)]
            text = locker.run(*command)
            (LOCKED / name).write_text(f"# Made by `make lock`.\n{text}", encoding="utf-8")
            print(f"{name}: {text.count('==')} packages")


if __name__ == "__main__":
    main()
