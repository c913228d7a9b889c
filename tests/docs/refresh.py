"""Put into pages what their commands print now: `python -m tests.docs.refresh docs/tutorial.md`."""

import sys
import tempfile
from pathlib import Path

from tests.docs.pages import APART, ROOT, blocks_of, of_the_checkout
from tests.docs.reader import FUNCTION, Comparison, reading


def refresh(page: str) -> None:
    """Follow the page and, if it says something else anywhere, write what is printed everywhere, as of one time."""
    blocks = [block for block in blocks_of(page) if not of_the_checkout(block)]
    parts = [[block for block in blocks if (block.heading == APART.get(page)) is apart] for apart in (False, True)]
    compared: list[tuple[Comparison, dict[str, int]]] = []
    for part in parts:
        with tempfile.TemporaryDirectory() as folder, reading(Path(folder)) as reader:
            for block in part:
                reader.follow(block)
            compared += [(one, reader.ports) for one in reader.compared]
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    if all(one.holds for one, _ in compared):
        return
    for one, ports in sorted(compared, key=lambda each: int(each[0].where.rpartition(":")[2]), reverse=True):
        _put(lines, one, ports)
        if not one.holds:
            sys.stdout.write(f"{one.where}: {one.typed}\n")
    (ROOT / page).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _put(lines: list[str], compared: Comparison, ports: dict[str, int]) -> None:
    printed = compared.printed.replace(str(ports["port"]), "7233").replace(str(ports["ui_port"]), "8233")
    printed = printed.replace(str(ports["gateway_port"]), "8080").replace(str(ports["function_port"]), FUNCTION)
    printed = printed.replace(" --address 127.0.0.1:7233", "")
    first = int(compared.where.rpartition(":")[2])
    indent = " " * (len(lines[first - 1]) - len(lines[first - 1].lstrip()))
    at = first + compared.typed.count("\n")
    end = next(i for i in range(at, len(lines)) if lines[i].startswith((f"{indent}$ ", f"{indent}```")))
    lines[at:end] = [f"{indent}{line}".rstrip() for line in printed.splitlines()]


if __name__ == "__main__":
    for name in sys.argv[1:]:
        refresh(name)
