"""What does a page of the documentation have its reader do, and what does it say is printed then?"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]

PAGES = (
    "README.md", "docs/tutorial.md", "docs/common-mistakes.md", "docs/direktiv-tutorial.md",
    "docs/dsl-tutorial.md", "docs/events.md", "docs/human-tasks.md", "docs/troubleshooting.md", "docs/applications.md",
    "docs/ci.md",
)  # fmt: skip
"""Those that are followed step by step. Other pages show commands too: their options are looked up."""

INSTALLING = {"README.md": "Install"}
"""The section of a page that is followed in a checkout. Everything else is followed in a folder that begins empty."""

MADE = {"README.md": "Try it"}
"""The section of a page whose commands are targets of the Makefile, which nobody follows from within a test."""

APART = {"docs/events.md": "Start an instance with curl"}
"""The section of a page that is followed by itself, in a folder of its own."""

_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_FILE = re.compile(r"`([\w./-]+\.(?:ya?ml|json|py|toml))`")


@dataclass(frozen=True)
class Command:
    where: str
    typed: str
    printed: str


@dataclass(frozen=True)
class Block:
    """A fenced block, the heading that it stands under, and the paragraph before it."""

    page: str
    line: int
    heading: str
    before: str
    language: str
    text: str

    @property
    def where(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def file(self) -> str | None:
        """The file that the reader is to write: the last one that the paragraph before the block names."""
        names = _FILE.findall(self.before)
        return names[-1] if names and self.before.endswith(":") else None

    @property
    def commands(self) -> list[Command]:
        """The commands, if it is a `console`. One goes on in the next line if it ends with a backslash."""
        if self.language != "console":
            return []
        found: list[tuple[int, str, list[str]]] = []
        unfinished = False
        for line, text in enumerate(self.text.splitlines(), self.line + 1):
            if unfinished:
                found[-1] = (found[-1][0], f"{found[-1][1]}\n{text}", [])
            elif text.startswith("$ "):
                found.append((line, text[2:], []))
            else:
                assert found, f"{self.where}: the block begins with what is printed, not with a command"
                found[-1][2].append(text)
            unfinished = text.endswith("\\") and not found[-1][2]
        return [Command(f"{self.page}:{line}", typed, "\n".join(printed)) for line, typed, printed in found]


@cache
def blocks_of(page: str) -> tuple[Block, ...]:
    """Return the fenced blocks of a page, in order; those within a list stand as if they were not indented."""
    return tuple(_blocks(page, (ROOT / page).read_text(encoding="utf-8")))


def _blocks(page: str, text: str) -> Iterator[Block]:
    for match in _FENCE.finditer(text):
        above = text[: match.start()]
        headings = _HEADING.findall(re.sub(r"^```.*?^```$", "", above, flags=re.MULTILINE | re.DOTALL))
        yield Block(
            page=page,
            line=above.count("\n") + 1,
            heading=headings[-1] if headings else "",
            before=" ".join(above.rstrip().rpartition("\n\n")[2].split()),
            language=match["language"],
            text=re.sub(f"^{match['indent']}", "", match["text"], flags=re.MULTILINE),
        )


def of_the_checkout(block: Block) -> bool:
    return block.heading in (INSTALLING.get(block.page), MADE.get(block.page))
