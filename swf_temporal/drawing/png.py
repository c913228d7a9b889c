"""A picture as PNG, in light colours."""

from typing import Final

from swf_temporal.base.errors import UsageError

_ZOOM: Final = 2
"""As screens and paper with small dots want it."""


def png_of(svg: str) -> bytes:
    """Return the PNG of a picture. Raises UsageError if what makes it is not installed."""
    try:
        from resvg_py import svg_to_bytes  # noqa: PLC0415 - only those who want PNG have it
    except ImportError:
        raise UsageError(
            "PNG needs a library that is not installed", "install it with: pip install 'swf-temporal[drawing]'"
        ) from None
    return svg_to_bytes(svg_string=svg, zoom=_ZOOM)
