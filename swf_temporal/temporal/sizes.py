"""Size limits of payloads in workflow code: those of the server, or larger ones where large payloads are stored.

The sizes are those of plain JSON. Compression makes less of it, and encryption adds a few hundred bytes, for which the
limit leaves room. Whatever depends on the worker's configuration is recorded in the history.
"""

from collections.abc import Sequence
from typing import Final

from swf_temporal.base.errors import PayloadTooLarge
from swf_temporal.runtime.limits import MAX_PAYLOAD_BYTES
from swf_temporal.runtime.performing import check_size
from swf_temporal.temporal.constants import MAX_INPUT_BYTES
from swf_temporal.temporal.markers import is_marked
from swf_temporal.temporal.sending import advice_for

_STORED: Final = "stored-payloads"
"""The marker in the history of a run that had more in one payload than a server takes.

A run that met the server's limit, on a worker without storage, keeps to the course that it took then.
"""
_TOGETHER: Final = "input-and-definition"
"""The marker of a run in which a sub-workflow was not started, since its input and its definition are too much."""


def fits(size: int, limit: int) -> bool:
    """Tell whether a payload of *size* can be sent, and record that if it takes storage."""
    return size <= MAX_PAYLOAD_BYTES or (size <= limit and is_marked(_STORED))


def check_fits(size: int, what: str, limit: int) -> None:
    """Raise PayloadTooLarge where *size* is more than *what*, such as one step, can carry."""
    if not fits(size, limit):
        check_size(size, what, limit if size > limit else MAX_PAYLOAD_BYTES, advice_for(limit))


def check_together(sizes: Sequence[int], limit: int) -> None:
    """Raise PayloadTooLarge where the server would not take what a sub-workflow is started with."""
    if limit == MAX_PAYLOAD_BYTES and sum(sizes) > MAX_INPUT_BYTES and is_marked(_TOGETHER):
        text = f"{sum(sizes):,} bytes of input and definitions are more than the {MAX_INPUT_BYTES:,}"
        raise PayloadTooLarge(f"{text} that a sub-workflow can be started with: {advice_for(limit)}")
