"""Conversion of pictures to PNG, in light colours."""

from typing import Final

from swf_temporal.base.errors import UsageError

_ZOOM: Final = 2
"""The resolution factor, for high-density screens and for print."""


def png_of(svg: str) -> bytes:
    """Return the PNG of a picture. Raises UsageError if the library for it is not installed."""
    try:
        from resvg_py import svg_to_bytes  # noqa: PLC0415 - an optional dependency
    except ImportError:
        raise UsageError(
            "PNG needs a library that is not installed", "install it with: pip install 'swf-temporal[drawing]'"
        ) from None
    return svg_to_bytes(svg_string=svg, zoom=_ZOOM)
