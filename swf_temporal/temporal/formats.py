"""Format numbers of stored records: what a release does not know it leaves to one that does.

A reader passes over the fields of a record that it does not know, as long as the record's number is one that it knows.
The number is that of the oldest release that can go on from the record; one of the first format has none.
docs/compatibility.md has the rules for changing a record.
"""

from collections.abc import Mapping
from typing import Any, Final

from swf_temporal.errors import NewerRecord

FIRST_FORMAT: Final = 1
"""The format of a record that has no number."""


def check_format(record: Mapping[str, Any], what: str) -> int:
    """Return the format of *record*, which is *what*.

    Raises NewerRecord for one that is higher than is known, and ValueError for one that is no integer.
    """
    number = record.get("format", FIRST_FORMAT)
    if type(number) is not int:
        raise ValueError(f"the format of {what} is not an integer")
    check_number(f"the format of {what}", number, FIRST_FORMAT)
    return number


def check_number(what: str, number: int, known: int) -> None:
    """Raise NewerRecord if *number*, which is *what*, is higher than is *known*."""
    if number > known:
        raise NewerRecord(what, number, known)
