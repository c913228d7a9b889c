"""Hooks of MkDocs: the site has the paths of the checkout, with whatever the pages lead to, and an llms.txt.

The pages are written for a checkout, and lead out of `docs/`: to the README, to examples, to tests. All of these are on
the site under their own paths, so every link that holds in the checkout holds there, and MkDocs checks each.
"""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
HOME = "README.md"
INDEX = "docs/index.md"

_FENCED = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
"""The path that a link leads to."""
_GROUP = re.compile(r"^\*\*(.+)\*\*$", re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Take the navigation from the page that lists all pages."""
    config.nav = [HOME, {"All pages": INDEX}, *({group: pages} for group, pages in listed()), "CHANGELOG.md"]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Replace the files of `docs/` by those of the checkout that the pages lead to, beside those of the theme."""
    of_theme = [file for file in files if file.src_dir != config.docs_dir]
    pages = [File(path, str(ROOT), config.site_dir, config.use_directory_urls) for path in sorted(reached())]
    return Files([*of_theme, *pages])


def on_post_build(config: MkDocsConfig) -> None:
    """Write llms.txt, and the pages as they are written beside those that it lists."""
    site = Path(config.site_dir)
    lines = [f"# {config.site_name}", "", f"> {config.site_description}", ""]
    for group, pages in [("Overview", [HOME]), *listed()]:
        lines += [f"## {group}", ""]
        for path in pages:
            text = (ROOT / path).read_text(encoding="utf-8")
            (site / path).write_text(text, encoding="utf-8")
            lines.append(f"- [{text.partition(chr(10))[0].removeprefix('# ')}]({config.site_url or ''}{path})")
        lines.append("")
    (site / "llms.txt").write_text("\n".join(lines), encoding="utf-8")


def listed() -> Iterator[tuple[str, list[str]]]:
    """Yield each group of pages that the documentation's first page lists, and their paths."""
    _, *parts = _GROUP.split((ROOT / INDEX).read_text(encoding="utf-8"))
    seen: set[str] = set()
    for group, text in zip(parts[::2], parts[1::2], strict=True):
        pages = [path for path in dict.fromkeys(targets(INDEX, text)) if path.endswith(".md") and path not in seen]
        seen.update(pages)
        yield group, pages


def targets(page: str, text: str) -> Iterator[str]:
    """Yield the path of each file that *text*, which is of *page*, leads to: from the root of the checkout."""
    for target in _LINK.findall(_FENCED.sub("", text)):
        if "://" not in target and not target.startswith("mailto:"):
            yield posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(target)))


def reached() -> set[str]:
    """Return the paths of the pages, of all that they lead to, and of the schemas, which editors read."""
    found: set[str] = set()
    ahead = [HOME, INDEX, *(f"schemas/{schema.name}" for schema in (ROOT / "schemas").iterdir())]
    while ahead:
        path = ahead.pop()
        if path in found or not (ROOT / path).is_file():
            continue
        found.add(path)
        if path.endswith(".md"):
            ahead += targets(path, (ROOT / path).read_text(encoding="utf-8"))
    return found
