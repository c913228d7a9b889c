"""The digests of all that was recorded. `python -m tests.replay.manifest`, a part of `make record`, adds new ones."""

import sys
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILE = Path(__file__).with_name("manifest.txt")
FOLDERS = (ROOT / "replay" / "histories", ROOT / "upgrades" / "records")


def digests() -> dict[str, str]:
    """Return the SHA-256 of each file that is there, by its path below `tests`."""
    files = [file for folder in FOLDERS for file in sorted(folder.iterdir()) if file.is_file()]
    return {str(file.relative_to(ROOT)): sha256(file.read_bytes()).hexdigest() for file in files}


def read() -> dict[str, str]:
    """Return what is listed."""
    lines = FILE.read_text(encoding="utf-8").splitlines() if FILE.exists() else []
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}


def main() -> None:
    """List what is new. Ends with 1, and changes nothing, if something listed is missing or was changed."""
    there, listed = digests(), read()
    lost = sorted(name for name, digest in listed.items() if there.get(name) != digest)
    if lost:
        sys.exit(f"missing, or not as recorded: {', '.join(lost)}; `git checkout` brings back what was recorded")
    FILE.write_text("".join(f"{digest}  {name}\n" for name, digest in sorted(there.items())), encoding="utf-8")
    sys.stdout.write(f"{len(there)} recorded, {len(there) - len(listed)} of them new\n")


if __name__ == "__main__":
    main()
