"""The versions of the language: each is a constant of a module here, and a line of `VERSIONS`."""

from typing import Final

from swf_temporal.languages.serverless_workflow.reading.versions import drafts, v0_5, v0_6, v0_8
from swf_temporal.languages.serverless_workflow.reading.versions.version import Version

VERSIONS: tuple[Version, ...] = (
    drafts.NOVEMBER_2019,
    drafts.MAY_2020,
    v0_5.VERSION,
    v0_6.VERSION,
    v0_8.VERSION_0_7,
    v0_8.VERSION,
    v0_8.NEXT,
    v0_8.SONATAFLOW,
)
"""All versions, the oldest first."""

PRESENT: Final = v0_8.VERSION
"""The version of a document that neither states its version nor has a version marker."""


def named(name: str) -> Version | None:
    """Return the version *name*, if there is one."""
    return next((one for one in VERSIONS if name in (one.name, *one.also_named)), None)


def numbered(said: str) -> Version | None:
    """Return the version with the number *said* in a document, if it is known."""
    plain = said.removeprefix("v")
    fitting = [one for one in VERSIONS if one.number is not None and _begins(plain, one.number)]
    return max(fitting, key=lambda one: len(one.number or ""), default=None)


def _begins(said: str, number: str) -> bool:
    """Return True if *said* is *number* or a patch of it: 0.8.1 belongs to 0.8, and 0.88 does not."""
    return said.startswith(number) and not said[len(number) :][:1].isdigit()
