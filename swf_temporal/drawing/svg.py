"""Pictures and timelines as SVG and PNG, and HTML pages with them.

Colours are literal values, because programs that convert SVG do not support CSS variables. Elements have no style
attributes, so that a page's content security policy may forbid them.
"""

from collections.abc import Callable, Iterable
from hashlib import sha256
from itertools import count
from string import Template
from typing import Final

from swf_temporal.base.errors import MissingExtra, UsageError
from swf_temporal.drawing.building import scope_svg
from swf_temporal.drawing.model import Addresses, Picture, Scope, width_of, xml_text
from swf_temporal.drawing.timeline import Bars, Timeline

_ZOOM: Final = 2
"""The resolution factor of PNG, for high-density screens and for print."""
_LIGHT: Final = {
    "paper": "#ffffff", "ink": "#1b2433", "muted": "#5b6677", "box": "#f8fafc", "edge": "#b9c3d0", "inner": "#ffffff",
    "way": "#64748b", "call": "#2563eb", "wait": "#b45309", "choice": "#7c3aed", "sides": "#0f766e", "data": "#64748b",
    "time": "#0369a1", "flow": "#4338ca", "undo": "#9333ea", "error": "#c81e1e", "done": "#15803d",
    "done_box": "#effaf2", "running": "#1d4ed8", "running_box": "#e6efff", "waiting": "#b45309",
    "waiting_box": "#fff6e0", "failed": "#c81e1e", "failed_box": "#fdecec", "undone": "#9333ea",
    "undone_box": "#f6edfe",
}  # fmt: skip
_DARK: Final = {
    "paper": "#10161f", "ink": "#e6ebf2", "muted": "#9aa7b8", "box": "#19222e", "edge": "#3d4a5b", "inner": "#131b25",
    "way": "#8a99ad", "call": "#7aa7ff", "wait": "#f2b04b", "choice": "#b79cff", "sides": "#4fd1c1", "data": "#94a3b8",
    "time": "#5cc1f5", "flow": "#a3a0ff", "undo": "#d1a1ff", "error": "#ff8080", "done": "#4ade80",
    "done_box": "#12291c", "running": "#7aa7ff", "running_box": "#152747", "waiting": "#f2b04b",
    "waiting_box": "#332710", "failed": "#ff8080", "failed_box": "#3a1b1e", "undone": "#d1a1ff",
    "undone_box": "#2b1d3d",
}  # fmt: skip

_SHAPES: Final = """
.swf text {
  font-family: system-ui, "Segoe UI", Helvetica, Arial, "Liberation Sans", "DejaVu Sans", "Noto Sans", sans-serif;
  font-size: 11.5px;
}
.swf .title { font-size: 18px; font-weight: 600; }
.swf .name { font-size: 13.5px; font-weight: 600; }
.swf .frame { stroke-width: 1.2; }
.swf .icon, .swf .way { fill: none; stroke-linecap: round; stroke-linejoin: round; }
.swf .icon { stroke-width: 1.5; }
.swf .way { stroke-width: 1.4; }
.swf .label { paint-order: stroke; stroke-width: 4px; stroke-linejoin: round; }
.swf .on-error .way { stroke-dasharray: 6 4; }
.swf .on-retry .way { stroke-dasharray: 2 4; }
.swf .on-compensation .way { stroke-dasharray: 8 3 2 3; }
.swf .undoing > .frame { stroke-dasharray: 8 3 2 3; }
.swf .running > .frame, .swf .waiting > .frame, .swf .failed > .frame { stroke-width: 2.4; }
.swf .taken > .way { stroke-width: 2.6; }
.swf .untaken > :not(text) { opacity: 0.4; }
.swf .untaken > text { opacity: 0.8; }
.swf .unreached > :not(g, text) { opacity: 0.5; }
.swf .unreached > text { opacity: 0.8; }
.swf .stopped > .frame { stroke-dasharray: 3 3; }
.swf text.run { font-weight: 600; }
.swf .line { stroke-width: 1; }
.swf .attempt { stroke-width: 2; }
.swf .span.state > text:first-of-type { font-weight: 600; }
"""

_COLOURS: Final = Template("""
.swf .paper { fill: $paper; }
.swf text { fill: $ink; }
.swf .kind, .swf .subtitle, .swf .label { fill: $muted; }
.swf .label { stroke: $paper; }
.swf .frame { fill: $box; stroke: $edge; }
.swf .branch > .frame { fill: $inner; }
.swf .stripe, .swf .head, .swf .start { fill: $way; stroke: none; }
.swf .icon, .swf .way, .swf .ring { stroke: $way; }
.swf .ring { fill: $paper; stroke-width: 1.6; }
.swf .dot { fill: $way; }
.swf .line { stroke: $edge; opacity: 0.6; }
.swf .bar { fill: $data; } .swf .state > .bar { fill: $done; }
.swf .state.running > .bar { fill: $running; } .swf .call > .bar { fill: $call; }
.swf .flow > .bar { fill: $flow; } .swf .wait > .bar { fill: $wait; } .swf .span.failed > .bar { fill: $error; }
.swf .span.stopped > .bar { fill: $way; opacity: 0.6; } .swf .attempt { stroke: $error; } .swf .tried { fill: $error; }
.swf .open:hover > rect, .swf .open:focus > rect { stroke: $running; stroke-width: 2; }
.swf .open:focus { outline: none; }
$kinds
.swf .on-error .way { stroke: $error; } .swf .on-error .head, .swf .on-error .label { fill: $error; }
.swf .on-retry .way { stroke: $wait; } .swf .on-retry .head, .swf .on-retry .label { fill: $wait; }
.swf .on-compensation .way { stroke: $undo; }
.swf .on-compensation .head, .swf .on-compensation .label { fill: $undo; }
$states
""")
_KINDS: Final = {
    "call": "call", "flow": "flow", "send": "wait", "wait": "wait", "time": "time", "loop": "sides", "sides": "sides",
    "choice": "choice", "data": "data", "undo": "undo", "error": "error", "check": "choice", "note": "data",
}  # fmt: skip
"""The colours of icons."""
STATES: Final = ("done", "running", "waiting", "failed", "undone")
"""The states of a part in a run, except unreached."""


def _coloured(colours: dict[str, str]) -> str:
    kinds = "\n".join(
        f".swf .{icon} > .stripe {{ fill: {colours[colour]}; }} .swf .icon.{icon} {{ stroke: {colours[colour]}; }}"
        for icon, colour in _KINDS.items()
    )
    states = "\n".join(
        f".swf .{state} > .frame {{ fill: {colours[f'{state}_box']}; stroke: {colours[state]}; }}"
        f" .swf text.run.{state} {{ fill: {colours[state]}; }} .swf .icon.run.{state} {{ stroke: {colours[state]}; }}"
        for state in STATES
    )
    taken = f".swf .taken > .way {{ stroke: {colours['done']}; }} .swf .taken > .head {{ fill: {colours['done']}; }}"
    return _COLOURS.substitute(colours, kinds=kinds, states=f"{states}\n{taken}")


STYLE: Final = f"""{_SHAPES}{_coloured(_LIGHT)}
@media screen and (prefers-color-scheme: dark) {{{_coloured(_DARK)}}}
"""
"""The style sheet. All of its rules apply within elements of the class `swf`."""

PAGE_STYLE: Final = f"""
body {{
  margin: 0; padding: 16px; background: {_LIGHT["paper"]}; color: {_LIGHT["ink"]};
  font: 14px system-ui, "Segoe UI", Helvetica, Arial, "Liberation Sans", "DejaVu Sans", "Noto Sans", sans-serif;
}}
summary {{ cursor: pointer; padding: 4px 0; }}
pre {{ white-space: pre-wrap; }}
figure {{ margin: 0 0 32px; overflow-x: auto; }}
svg {{ display: block; margin: 0 auto; }}
@media screen and (prefers-color-scheme: dark) {{
  body {{ background: {_DARK["paper"]}; color: {_DARK["ink"]}; }}
}}
@media print {{ svg {{ max-width: 100%; height: auto; }} figure {{ break-after: page; }} }}
"""
"""The additional style of a page that only has pictures."""


_MARGIN: Final = 24.0
_TITLE: Final = 26.0
"""The height of the title."""
_SUBTITLE: Final = 16.0
"""The height of a line below the title."""


def svg_of(
    drawn: Picture | Timeline, *, is_styled: bool = True, ids: str = "", addresses: Addresses | None = None
) -> str:
    """Return a picture or a timeline as an `svg` element.

    It contains its style if *is_styled*; without, the page must have it. *ids* is the prefix of its ids, so that a page
    can have several pictures. Parts and spans link to *addresses*.
    """
    top = _MARGIN + _TITLE + _SUBTITLE * len(drawn.subtitles) + 10
    body = drawn.scope if isinstance(drawn, Picture) else Bars(drawn, addresses)
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
        *(scope_svg(body, at, ids, addresses) if isinstance(body, Scope) else body.svg(at)),
        "</svg>",
    ]
    return "\n".join(lines)


def notebook_html(draw: Callable[[], Iterable[Picture | Timeline]]) -> str | None:
    """Return the HTML of *draw*'s pictures for a notebook; None if drawing is not available, so that it shows text."""
    try:
        drawn = list(draw())
    except UsageError:
        return None
    return "\n".join(svg_of(one, ids=f"{sha256(svg_of(one).encode()).hexdigest()[:12]}-") for one in drawn)


def page_of(drawn: Iterable[Picture | Timeline]) -> str:
    """Return a self-contained HTML page with pictures and timelines."""
    figures = list(drawn)
    title = ", ".join(dict.fromkeys(one.title for one in figures))
    return page_with(title, (figure_of(one, f"g{number}-") for number, one in enumerate(figures, start=1)))


def figure_of(drawn: Picture | Timeline, ids: str) -> str:
    """Return a picture or a timeline as a `figure` element; *ids* is the prefix of its ids."""
    return f"<figure>{svg_of(drawn, is_styled=False, ids=ids)}</figure>"


def page_with(title: str, body: Iterable[str]) -> str:
    """Return an HTML page with the elements of *body* and the style of pictures."""
    return "\n".join([
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{xml_text(title)}</title><style>{STYLE}{PAGE_STYLE}</style></head><body>",
        *body,
        "</body></html>",
    ])  # fmt: skip


def png_of(svg: str) -> bytes:
    """Return a picture as PNG, in light colours. Raises UsageError if the library for it, or any font, is missing."""
    try:
        from resvg_py import svg_to_bytes  # noqa: PLC0415 - an optional dependency
    except ImportError:
        raise MissingExtra("drawing", "drawing as PNG", "resvg_py") from None
    if svg_to_bytes(svg_string=_letter("x")) == svg_to_bytes(svg_string=_letter("")):
        raise UsageError(
            "PNG needs a font, and none is installed",
            "install one, such as Debian's fonts-dejavu-core, or draw an SVG, which uses the fonts of its reader",
        )
    return svg_to_bytes(svg_string=svg, zoom=_ZOOM)


def _letter(letter: str) -> str:
    style, text = f"<style>{STYLE}</style>", f'<text class="name" x="1" y="15">{letter}</text>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" class="swf" width="20" height="20">{style}{text}</svg>'
