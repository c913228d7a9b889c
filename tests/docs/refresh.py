"""Put into pages what their commands print now: `python -m tests.docs.refresh docs/tutorial.md`."""

import sys
import tempfile
from pathlib import Path

from tests.docs.pages import ROOT, blocks_of
from tests.docs.reader import Difference, reading
from tests.docs.test_commands import of_the_checkout


def refresh(page: str) -> None:
    """Follow the page, and write what is printed wherever it says something else."""
    with tempfile.TemporaryDirectory() as folder, reading(Path(folder)) as reader:
        for block in blocks_of(page):
            if not of_the_checkout(block):
                reader.follow(block)
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    for difference in reversed(reader.differences):
        _put(lines, difference, reader.ports)
        sys.stdout.write(f"{difference.where}: {difference.typed}\n")
    (ROOT / page).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _put(lines: list[str], difference: Difference, ports: dict[str, int]) -> None:
    printed = difference.printed.replace(str(ports["port"]), "7233").replace(str(ports["ui_port"]), "8233")
    printed = printed.replace(" --address 127.0.0.1:7233", "")
    first = int(difference.where.rpartition(":")[2])
    indent = " " * (len(lines[first - 1]) - len(lines[first - 1].lstrip()))
    at = first + difference.typed.count("\n")
    end = next(i for i in range(at, len(lines)) if lines[i].startswith((f"{indent}$ ", f"{indent}```")))
    lines[at:end] = [f"{indent}{line}".rstrip() for line in printed.splitlines()]


if __name__ == "__main__":
    for name in sys.argv[1:]:
        refresh(name)
