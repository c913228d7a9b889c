"""The port by which reading resolves other documents that a definition names.

Reading reaches nothing by itself: the reader hands it a `Fetch`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from swf_temporal.base.errors import SwfError


@dataclass(frozen=True, slots=True)
class Resource:
    """A document that a definition names by its URI."""

    location: str
    """The path or URL that it was read from, as people are shown it."""
    content: bytes = field(repr=False)


Fetch: TypeAlias = Callable[[str], Resource]
"""Takes a URI as the definition writes it. Raises one of the errors below."""


class ResourceError(SwfError):
    """A document cannot be read. `reason` continues after its URI: `…, which …`."""

    def __init__(self, reason: str, hint: str | None = None) -> None:
        self.reason = reason
        self.hint = hint
        super().__init__(reason)


class MissingResourceError(ResourceError):
    def __init__(self) -> None:
        super().__init__("which is not there")


class ForbiddenResourceError(ResourceError):
    """The operator does not let definitions read from there."""


class UnreadableResourceError(ResourceError):
    """A resource that exists, or should, and cannot be read. Takes the cause."""

    def __init__(self, cause: str) -> None:
        super().__init__(f"which cannot be read: {cause}")


UNREADABLE: Final = "external-unreadable"
"""The code of the problem of a definition that includes such a document."""


def nothing(uri: str) -> Resource:
    """Reach nowhere: for texts that came without a place. What would be fetched from elsewhere is forbidden."""
    if uri.lower().startswith(("http:", "https:")):
        raise ForbiddenResourceError("and this definition may fetch nothing", FROM_HOSTS)
    raise MissingResourceError


FROM_HOSTS = "the setting SWF_RESOURCE_HOSTS names the hosts that may be asked"
FROM_FOLDERS = "the setting SWF_RESOURCE_FOLDERS names other folders that may be read, and so does --resources"
