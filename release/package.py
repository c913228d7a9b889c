"""Build the package, and try it in environments that have nothing else: `make package`."""

import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from release.building import DIST, build, version
from release.environments import Environment, PackageError
from release.extras import SHOWN
from release.licences import refused
from release.sbom import write_sbom

_AT_ONCE: Final = 4
"""How many extras are tried at the same time: half of it is waiting for the index."""


def main() -> None:
    wheel, sdist = build()
    print(f"built {wheel.name} and {sdist.name}, whose metadata an index accepts", flush=True)
    with tempfile.TemporaryDirectory(prefix="swf-package-") as folder:
        bare = Environment(Path(folder) / "bare", wheel)
        if (told := bare.run("swf", "--version").strip()) != f"swf {version()}":
            raise PackageError(f"swf --version printed {told}")
        bare.greet("--simulate")
        print("it is installed in an empty environment, and runs a definition", flush=True)
        with ThreadPoolExecutor(_AT_ONCE) as trying:
            for extra, _ in zip(SHOWN, trying.map(bare.try_extra, SHOWN), strict=True):
                print(f"  with the extra {extra}, what needs it works", flush=True)
        whole = Environment(Path(folder) / "whole", wheel, ",".join(SHOWN))
        bill = write_sbom(whole, DIST / f"swf-temporal-{version()}.cdx.json", Path(folder) / "writer")
    if problems := list(refused(bill)):
        raise PackageError("\n".join(problems))
    print(f"the licences of its {len(bill['components'])} dependencies are permitted; {DIST.name}/ has the SBOM")


if __name__ == "__main__":
    try:
        main()
    except PackageError as error:
        sys.exit(str(error))
    except subprocess.CalledProcessError as error:
        sys.exit(f"{error}\n{error.stdout}{error.stderr}")
