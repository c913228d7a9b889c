"""The versions of the language: each is a module here with all that belongs to it, and stands in a line of VERSIONS."""

from typing import Final

from swf_temporal.languages.serverless_workflow.reading.versions import (
    may_2020,
    november_2019,
    v0_5,
    v0_6,
    v0_7,
    v0_8,
    v0_8_next,
    v0_8_sonataflow,
)
from swf_temporal.languages.serverless_workflow.reading.versions.version import Version

VERSIONS: tuple[Version, ...] = (
    november_2019.VERSION,
    may_2020.VERSION,
    v0_5.VERSION,
    v0_6.VERSION,
    v0_7.VERSION,
    v0_8.VERSION,
    v0_8_next.VERSION,
    v0_8_sonataflow.VERSION,
)
"""All versions, the oldest first."""

PRESENT: Final = v0_8.VERSION
"""The version of a document that neither says one nor has a mark."""


def named(name: str) -> Version | None:
    """Return the version that is called *name*, if there is one."""
    return next((one for one in VERSIONS if name in (one.name, *one.also_named)), None)


def numbered(said: str) -> Version | None:
    """Return the version of a document that says *said* as its version, if that is known."""
    plain = said.removeprefix("v")
    fitting = [one for one in VERSIONS if one.number is not None and _begins(plain, one.number)]
    return max(fitting, key=lambda one: len(one.number or ""), default=None)


def _begins(said: str, number: str) -> bool:
    """Tell whether *said* is *number*, or a part of it: 0.8.1 is one of 0.8, and 0.88 is not."""
    return said.startswith(number) and not said[len(number) :][:1].isdigit()
