"""Pictures and timelines as SVG, and pages with them."""

from collections.abc import Callable, Iterable
from hashlib import sha256
from itertools import count
from typing import Final

from swf_temporal.base.errors import UsageError
from swf_temporal.drawing.bars import Bars
from swf_temporal.drawing.boxes import scope_svg
from swf_temporal.drawing.model import Picture, Scope
from swf_temporal.drawing.style import PAGE_STYLE, STYLE
from swf_temporal.drawing.texts import width_of, xml_text
from swf_temporal.drawing.timeline import Timeline

_MARGIN: Final = 24.0
_TITLE: Final = 26.0
"""The height of the title, and of a line under it."""
_SUBTITLE: Final = 16.0


def svg_of(drawn: Picture | Timeline, *, is_styled: bool = True, ids: str = "") -> str:
    """Return a picture or a timeline as an element `svg`.

    It has its style in it unless the page has it, and *ids* before all its ids, so that a page can have several.
    """
    top = _MARGIN + _TITLE + _SUBTITLE * len(drawn.subtitles) + 10
    body = drawn.scope if isinstance(drawn, Picture) else Bars(drawn)
    texts = [width_of(drawn.title, 18, bold=True), *(width_of(one, 11.5) for one in drawn.subtitles)]
    inside = max(body.width, *texts)
    width, height = inside + 2 * _MARGIN, top + body.height + _MARGIN
    at = (_MARGIN + (inside - body.width) / 2, top) if isinstance(body, Scope) else (_MARGIN, top)
    size = f'width="{width:.0f}" height="{height:.0f}"'
    seen = f'viewBox="0 0 {width:.0f} {height:.0f}" role="graphics-document" aria-labelledby="{ids}title"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="swf" {size} {seen}>',
        f'<title id="{ids}title">{xml_text(drawn.title)}</title>',
        *([f"<style>{STYLE}</style>"] if is_styled else []),
        f'<rect class="paper" {size}/>',
        f'<text class="title" x="{_MARGIN}" y="{_MARGIN + 12}">{xml_text(drawn.title)}</text>',
        *(
            f'<text class="subtitle" x="{_MARGIN}" y="{y:.0f}">{xml_text(one)}</text>'
            for y, one in zip(count(_MARGIN + _TITLE + 4, _SUBTITLE), drawn.subtitles, strict=False)
        ),
        *(scope_svg(body, at, ids) if isinstance(body, Scope) else body.svg(at)),
        "</svg>",
    ]
    return "\n".join(lines)


def notebook_html(draw: Callable[[], Iterable[Picture | Timeline]]) -> str | None:
    """Return what *draw* draws as a notebook shows it; None, by which it shows plain text, if nothing can draw here."""
    try:
        drawn = list(draw())
    except UsageError:
        return None
    return "\n".join(svg_of(one, ids=f"{sha256(svg_of(one).encode()).hexdigest()[:12]}-") for one in drawn)


def page_of(drawn: Iterable[Picture | Timeline]) -> str:
    """Return a page of HTML with pictures and timelines in it, which needs nothing else."""
    figures = list(drawn)
    title = ", ".join(dict.fromkeys(one.title for one in figures))
    return page_with(title, (figure_of(one, f"g{number}-") for number, one in enumerate(figures, start=1)))


def figure_of(drawn: Picture | Timeline, ids: str) -> str:
    """Return a picture or a timeline as a figure of a page; *ids* are before all its ids."""
    return f"<figure>{svg_of(drawn, is_styled=False, ids=ids)}</figure>"


def page_with(title: str, body: Iterable[str]) -> str:
    """Return a page with the elements of *body*, and with the style of pictures."""
    return "\n".join([
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{xml_text(title)}</title><style>{STYLE}{PAGE_STYLE}</style></head><body>",
        *body,
        "</body></html>",
    ])  # fmt: skip
